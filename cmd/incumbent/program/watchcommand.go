package program

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"

	"github.com/incumbent-go/incumbent/cmd/incumbent/group"
	"github.com/incumbent-go/incumbent/events"
)

const (
	// commandGrace is how long a command may take to end after SIGTERM, and how long one may go on when watch ends.
	commandGrace = 5 * time.Second
	// firstRetry and lastRetry are the pauses before a state is applied again: each is twice the one before.
	firstRetry = time.Second
	lastRetry  = time.Minute
)

// leaderRunner applies states of the leader, one at a time. While it is busy, only the newest waits.
type leaderRunner struct {
	note    func(format string, args ...any)
	write   func(leaderFacts) (changed bool, err error)
	execute func(context.Context, leaderFacts) error // nil: there is no command
	timeout time.Duration                            // of the command

	mu     sync.Mutex // held while a state takes the place of one that waits
	newest chan leaderFacts
	ending chan struct{} // closed when no more are applied
	ended  chan struct{}

	done bool   // the last state was applied without an error
	said string // the failure that was printed last
}

// start begins to apply states.
func (f *leaderFile) start() *leaderRunner {
	r := newLeaderRunner(f.timeout)
	r.note, r.write = f.app.Note, f.write
	if len(f.command) > 0 {
		r.execute = f.execute
	}
	go r.run()
	return r
}

func newLeaderRunner(timeout time.Duration) *leaderRunner {
	return &leaderRunner{timeout: timeout, newest: make(chan leaderFacts, 1), ending: make(chan struct{}),
		ended: make(chan struct{})}
}

// put gives the runner a state, in place of one that waits. It does not wait.
func (r *leaderRunner) put(facts leaderFacts) {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-r.newest:
	default:
	}
	r.newest <- facts
}

// end returns when the command that runs has ended: it may go on for commandGrace. What waits is not applied. If watch
// ends because of an error, nobody follows the leader any more, and the state unknown is applied last.
func (r *leaderRunner) end(because error) {
	close(r.ending)
	<-r.ended
	if because == nil {
		return
	}
	if err := r.apply(leaderFacts{State: "unknown"}); err != nil {
		r.say(err.Error())
	}
}

// run applies states until end is called. What failed is tried again after a pause, unless there is a newer state.
func (r *leaderRunner) run() {
	defer close(r.ended)
	var facts leaderFacts
	var again <-chan time.Time
	pause := firstRetry
	for {
		select {
		case <-r.ending:
			return
		case facts = <-r.newest:
			pause = firstRetry
		case <-again:
			pause = min(2*pause, lastRetry)
		}
		again = nil
		if r.isEnding() { // in the same moment
			return
		}
		switch err := r.apply(facts); {
		case err != nil && r.isEnding():
			r.say(err.Error())
		case err != nil:
			again = time.After(pause)
			r.say(fmt.Sprintf("%v; it is tried again until it succeeds, after %s at first", err, firstRetry))
		}
	}
}

func (r *leaderRunner) isEnding() bool {
	select {
	case <-r.ending:
		return true
	default:
		return false
	}
}

// say prints a failure, unless it is the same again.
func (r *leaderRunner) say(text string) {
	if text != r.said {
		r.note("%s", text)
	}
	r.said = text
}

// apply writes the file, and runs the command if that changed, or the state if there is no file, or if the command has
// not succeeded since.
func (r *leaderRunner) apply(facts leaderFacts) error {
	changed, err := r.write(facts)
	if err == nil && r.execute != nil && (changed || !r.done) {
		r.done = false
		ctx, cancel := r.limit()
		defer cancel()
		err = r.execute(ctx, facts)
	}
	r.done = err == nil
	if r.done {
		r.said = ""
	}
	return err
}

// limit returns a context that ends when a command has run too long. It has to be cancelled.
func (r *leaderRunner) limit() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	timer := time.AfterFunc(r.timeout, func() { cancel(fmt.Errorf("it was stopped after %s", r.timeout)) })
	go func() {
		select {
		case <-ctx.Done():
			return
		case <-r.ending:
		}
		select {
		case <-ctx.Done():
		case <-time.After(commandGrace):
			cancel(fmt.Errorf("it was stopped %s after the end of watch", commandGrace))
		}
	}()
	return ctx, func() {
		timer.Stop()
		cancel(nil)
	}
}

// write replaces the file, and reports whether that has changed it; without a file, whether the state is another one.
func (f *leaderFile) write(facts leaderFacts) (changed bool, err error) {
	if f.parsed == nil {
		changed = facts != f.last
		f.last = facts
		return changed, nil
	}
	text, err := f.text(facts)
	if err == nil {
		changed, err = replaceFile(f.out, text)
	}
	if err != nil {
		err = fmt.Errorf("--out: %w", err)
	}
	return changed, err
}

// execute runs the command. What it prints goes to stderr: stdout is for the changes.
func (f *leaderFile) execute(ctx context.Context, facts leaderFacts) error {
	cmd := exec.Command(f.command[0], f.command[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	cmd.Env = append(os.Environ(), "INCUMBENT_STATE="+facts.State, "INCUMBENT_ADDRESS="+facts.Address,
		"INCUMBENT_TOKEN="+strconv.FormatInt(facts.Token, 10))
	if err := group.RunWithin(ctx, cmd, commandGrace); err != nil {
		return fmt.Errorf("%s: %w", events.Foreign(f.command[0], events.MaxText), err)
	}
	return nil
}
