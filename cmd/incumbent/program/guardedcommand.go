package program

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/cmd/incumbent/group"
	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/events"
)

// underGuard is the part of the help that elect and lock share.
const underGuard = `The command runs in a process group of its own, with these in its environment:
  INCUMBENT_TOKEN  grows with each leader or holder: hand it to every store that
                   the command writes to, and let it refuse what is lower
  INCUMBENT_PATH   the line, as given
  INCUMBENT_NODE   the own node in it

When the command ends, the rest of its group is killed, the node is deleted, and
the program exits with the command's exit code.

On a loss the group gets SIGTERM immediately, and SIGKILL when another may be next:
with the defaults, that is 6 to 9 seconds after the connection broke, about a second
after the ensemble stopped confirming, and immediately if the node is already gone
(deleted by an operator, or with its session). --grace adds to that time, but then
two commands may run at a time. A guard, a second process, kills the group also if
this process is killed, or stopped for too long. If the guard is killed, another one
takes its place. A process that leaves the group (setsid) is not killed. The group
cannot read from a terminal, because it is in the background.

Signals: while the command runs, the group gets SIGTERM, SIGINT, SIGHUP and SIGQUIT;
the program waits for the command's end, and nobody else is next before it. After
SIGTERM the group has --stop-timeout to end, and is killed then. While the program
waits in line, such a signal has it leave. SIGHUP and SIGINT that are ignored at the
start (nohup, or & in a script) stay so, for the command, too.

No output holds these times up: lines that nobody reads are dropped and counted.

Exit codes: the command's own, 128 and the signal's number if one killed it, 126 or
127 if it cannot be started, and
`

// guardedCommand runs the command of elect or lock for one term, with its guard.
type guardedCommand struct {
	*elector
	*group.Group
	validUntil time.Time     // the last ValidUntil that was read
	stops      chan struct{} // has a value when the group was asked to end, by SIGTERM
}

// errNoGuard is the end of a command that cannot have a guard.
var errNoGuard = errors.New("no command is run without its guard")

func (e *elector) newGuarded() (*guardedCommand, error) {
	g, err := e.newGroup()
	if err != nil {
		return nil, cli.Exit(exitSystem, fmt.Errorf("%w: %w", errNoGuard, err))
	}
	return &guardedCommand{elector: e, Group: g, stops: make(chan struct{}, 1)}, nil
}

// newGroup starts a guard, which has the log of commands, if there is one.
func (e *elector) newGroup() (*group.Group, error) {
	args := []string{guardName}
	if e.commands != nil {
		args = append(args, "--"+noteFlag)
	}
	return group.New(e.commands.guards(), args...)
}

// lead runs the command in a term, until the command ends, or is ended because the term
// is over. When it returns, no process of the group is left, and no guard.
func (g *guardedCommand) lead(l *incumbent.Leadership) (code int, lost bool, err error) {
	led, lost, err := g.work(l)
	g.killAll()
	g.noteEnd(led, err)
	switch {
	case errors.Is(err, errNoGuard):
		return exitSystem, lost, err
	case err != nil:
		return group.Failure(err), lost, fmt.Errorf("%s cannot be started: %w%s", events.Quote(g.command[0],
			events.MaxText), err, g.shellHint())
	case led == 0:
		return 0, true, nil
	}
	g.Note("%s for %s; the command ended with %d", g.done, cli.Short(led), g.Code())
	return g.Code(), lost, nil
}

// noteEnd notes that no process of the group is left, if the command was begun.
func (g *guardedCommand) noteEnd(led time.Duration, err error) {
	switch {
	case led > 0:
		g.commands.add(events.CommandLine{What: events.CommandEnded, Group: g.ID(), Code: g.Code()})
	case err != nil && !errors.Is(err, errNoGuard):
		g.commands.add(events.CommandLine{What: events.CommandMissing, Group: g.ID(), Why: err.Error()})
	}
}

// killAll kills the group, and returns when no process of it is left. The node stays until then: what still runs may
// write.
func (g *guardedCommand) killAll() {
	for {
		err := g.Kill()
		if err == nil {
			return
		}
		g.Note("%v: another may be next only when it has", err)
	}
}

// shellHint says how a line of the shell is run, if the command looks like one.
func (g *guardedCommand) shellHint() string {
	if len(g.command) == 1 && strings.ContainsAny(g.command[0], " \t\n;|&<>$`") {
		return "; a line of the shell is run by: -- sh -c " + events.Quote(g.command[0], events.MaxText)
	}
	return ""
}

// work runs the command up to its own end. If leadership was lost before it began, led
// is 0.
func (g *guardedCommand) work(l *incumbent.Leadership) (led time.Duration, lost bool, err error) {
	if err := g.renewGuard(); err != nil {
		return 0, false, err
	}
	g.updateGuard(l)
	if l.Check() != nil {
		return 0, true, nil
	}
	began := time.Now()
	none := g.signals.hold()
	defer g.signals.to(nil)
	g.commands.begin(events.CommandLine{Group: g.ID(), Node: l.Term().Path, Token: l.Token()})
	if err := g.Run(g.prepare(l)); err != nil {
		return 0, false, err
	}
	g.signals.to(g.forward)
	if !none {
		g.forward(syscall.SIGTERM) // one came before the command ran
	}
	g.Note("%s %s with token %d, session %s; running %s in process group %d", g.doing, g.path, l.Token(),
		hex(g.client.SessionID()), events.Quote(g.command[0], events.MaxText), g.ID())
	g.notifier.send(fmt.Sprintf("STATUS=%s %s with token %d", g.doing, g.path, l.Token()))
	lost, err = g.until(l)
	g.notifier.send("STATUS=" + g.done + " " + g.path)
	over := time.Now()
	if lost && g.validUntil.Before(over) { // this process was stopped, and saw the loss late
		over = g.validUntil
	}
	if lost || err != nil {
		g.end(l, err)
		g.commands.add(events.CommandLine{What: events.CommandKilled, Group: g.ID(),
			Why: "it was not to run any longer"})
	}
	return max(over.Sub(began), 1), lost, err
}

// renewGuard starts another guard, and so another group, if the guard has ended while there was no command.
func (g *guardedCommand) renewGuard() error {
	select {
	case <-g.Gone():
	default:
		return nil
	}
	g.killAll()
	next, err := g.newGroup()
	if err != nil {
		return fmt.Errorf("%w: %w", errNoGuard, err)
	}
	g.Group = next
	return nil
}

// forward hands a signal to the group. SIGTERM asks it to end.
func (g *guardedCommand) forward(s os.Signal) {
	if s != syscall.SIGTERM {
		g.Signal(s)
		return
	}
	g.Stop()
	select {
	case g.stops <- struct{}{}:
	default: // it was asked before
	}
}

// prepare returns the command with its environment.
func (g *guardedCommand) prepare(l *incumbent.Leadership) *exec.Cmd {
	cmd := exec.Command(g.command[0], g.command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(),
		"INCUMBENT_TOKEN="+strconv.FormatInt(l.Token(), 10), "INCUMBENT_PATH="+g.path, "INCUMBENT_NODE="+l.Term().Path)
	if g.passAuth {
		cmd.Env = append(cmd.Env, g.secrets...)
	}
	return cmd
}

// until returns when the command has ended, or has not ended in time after SIGTERM (false), or when leadership is over
// (true). Its error is that the guard is gone and cannot be replaced.
func (g *guardedCommand) until(l *incumbent.Leadership) (lost bool, err error) {
	tick := time.NewTicker(g.guardInterval())
	defer tick.Stop()
	gone := g.Gone()
	var replaced <-chan error
	var stopped <-chan time.Time
	for {
		select {
		case <-g.Done():
			return l.Check() != nil, nil // the guard may have killed it while this process was stopped
		case <-l.Context().Done():
			return true, nil
		case <-tick.C:
			g.updateGuard(l)
		case <-gone:
			g.Note("the guard is gone: another one takes its place")
			gone, replaced = nil, g.Replace()
		case err := <-replaced:
			if err != nil {
				return false,
					fmt.Errorf("%w: the guard is gone, and another one cannot be started: %w", errNoGuard, err)
			}
			gone, replaced = g.Gone(), nil
			g.updateGuard(l)
		case <-g.stops:
			if stopped == nil && g.stopTimeout > 0 {
				stopped = time.After(g.stopTimeout)
			}
		case <-stopped:
			g.Note("killing process group %d: it has not ended %s after SIGTERM (--stop-timeout)",
				g.ID(), g.stopTimeout)
			return false, nil
		}
	}
}

// guardInterval returns the time between two updates of the guard's deadline.
func (g *guardedCommand) guardInterval() time.Duration {
	return max(5*time.Millisecond, min(250*time.Millisecond, g.client.SessionTimeout()/40))
}

// end ends the command: by SIGTERM first, by SIGKILL at the deadline, which comes earlier if the own node is found to
// be gone.
func (g *guardedCommand) end(l *incumbent.Leadership, why error) {
	if why == nil {
		why = reason(l)
	}
	until := g.endsBy(l)
	_ = g.Until(until) // if the guard is gone, it has already killed the group, or this process kills it
	deadline := time.NewTimer(time.Until(until))
	defer deadline.Stop()
	left := "gets SIGTERM and SIGKILL: another may lead already"
	if d := time.Until(until); d > 0 {
		left = "gets SIGTERM, and SIGKILL after " + cli.Short(d)
	}
	g.Note("%v; the command %s", trimLibrary(why), left)
	g.Stop()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	look := time.NewTicker(g.guardInterval())
	defer look.Stop()
	for gone := g.nodeGone(ctx, l); ; {
		select {
		case <-g.Done():
			return
		case <-deadline.C:
			g.Note("killing process group %d: its time to end is over", g.ID())
			return
		case <-gone:
			gone = nil
		case <-look.C:
			// else the session may have ended
			if g.client.Connection() != incumbent.Lost && l.AloneUntil().After(time.Now()) {
				continue
			}
		}
		if earlier := time.Now().Add(g.grace); earlier.Before(until) {
			until = earlier
			_ = g.Until(until) // as above
			deadline.Reset(g.grace)
		}
	}
}

// nodeGone returns a channel that is closed when the own node is found to be gone: an operator may delete it while
// this program is
// not connected.
func (g *guardedCommand) nodeGone(ctx context.Context, l *incumbent.Leadership) <-chan struct{} {
	gone := make(chan struct{})
	go func() {
		look := time.NewTicker(g.guardInterval())
		defer look.Stop()
		for ctx.Err() == nil {
			if stat, err := g.client.Exists(l.Term().Path).Do(ctx); err == nil && stat == nil {
				close(gone)
				return
			}
			select {
			case <-look.C:
			case <-ctx.Done():
			}
		}
	}()
	return gone
}

// endsBy returns when the command is killed that is being ended: --grace after another may lead, or after
// --stop-timeout if that is earlier.
func (g *guardedCommand) endsBy(l *incumbent.Leadership) time.Time {
	deadline := g.deadline(l)
	if bound := time.Now().Add(g.stopTimeout + g.grace); g.stopTimeout > 0 && bound.Before(deadline) {
		return bound
	}
	return deadline
}

// reason returns why a term is over.
func reason(l *incumbent.Leadership) error {
	if cause := context.Cause(l.Context()); cause != nil {
		return cause
	}
	return cmp.Or(l.Check(), incumbent.ErrLeadershipLost) // the deadline has passed, and the context has not ended yet
}

// deadline returns when every process of the group must have ended.
func (g *guardedCommand) deadline(l *incumbent.Leadership) time.Time {
	return l.AloneUntil().Add(g.grace)
}

// updateGuard sends the guard the group's deadline, and keeps the term's ValidUntil.
func (g *guardedCommand) updateGuard(l *incumbent.Leadership) {
	if l.Check() == nil {
		g.validUntil = l.ValidUntil()
	}
	_ = g.Until(g.deadline(l)) // an error means that it is gone, or is killed: until has it replaced
}
