package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/cmd/incumbent/group"
	"github.com/incumbent-go/incumbent/cmd/internal/cli"
)

// underGuard is the part of the help that elect and lock share.
const underGuard = `The command runs in a process group of its own, with these in its environment:
  INCUMBENT_TOKEN  grows from each to the next: hand it to every store that the
                   command writes to, and let it refuse what is lower
  INCUMBENT_PATH   the line, as given
  INCUMBENT_NODE   the own node in it

When the command ends, the rest of its group is killed, the node is deleted, and
the program exits with the command's exit code.

On a loss the group gets SIGTERM immediately, and SIGKILL when another may be next:
with the defaults, that is 6 to 9 seconds after the connection broke, about a second
after the ensemble stopped confirming, and immediately if the node is already gone
(deleted by an operator, or with its session). --grace adds to that time, but then
two commands may run at a time. A guard, a second process, kills the group also if
this process is killed, or stopped for too long. A process that leaves the group
(setsid) is not killed. The group cannot read from a terminal, because it is in the
background.

Signals: while the command runs, the group gets SIGTERM, SIGINT, SIGHUP and SIGQUIT;
the program waits for the command's end, and nobody else is next before it. While
the program waits in line, such a signal has it leave.

Exit codes: the command's own, 128 and the signal's number if one killed it, 126 or
127 if it cannot be started, and
`

// guardedCommand runs the command of elect or lock for one term, with its guard.
type guardedCommand struct {
	*elector
	*group.Group
	warned     bool
	validUntil time.Time // the last ValidUntil that was read
}

func (e *elector) newGuarded() (*guardedCommand, error) {
	g, err := group.New(guardName)
	if err != nil {
		return nil, cli.Exit(exitSystem, fmt.Errorf("no command is run without its guard: %w", err))
	}
	return &guardedCommand{elector: e, Group: g}, nil
}

// lead runs the command in a term, until the command ends, or is ended because the term
// is over. When it returns, no process of the group is left, and no guard.
func (g *guardedCommand) lead(l *incumbent.Leadership) (code int, lost bool, err error) {
	led, lost, err := g.work(l)
	if killErr := g.Kill(); killErr != nil {
		return exitSystem, lost, killErr
	}
	switch {
	case err != nil:
		return group.Failure(err), lost, fmt.Errorf("%s cannot be started: %w", cli.Quote(g.command[0]), err)
	case led == 0:
		return 0, true, nil
	}
	g.Note("%s for %s; the command ended with %d", g.done, cli.Short(led), g.Code())
	return g.Code(), lost, nil
}

// work runs the command up to its own end. If leadership was lost before it began, led
// is 0.
func (g *guardedCommand) work(l *incumbent.Leadership) (led time.Duration, lost bool, err error) {
	g.updateGuard(l)
	if l.Check() != nil {
		return 0, true, nil
	}
	began := time.Now()
	none := g.signals.hold()
	defer g.signals.to(nil)
	if err := g.Run(g.prepare(l)); err != nil {
		return 0, false, err
	}
	g.signals.to(g.Signal)
	if !none {
		g.Stop() // one came before the command ran
	}
	g.Note("%s %s with token %d, session %s; running %s in process group %d", g.doing, g.path, l.Token(), hex(g.client.SessionID()), cli.Quote(g.command[0]), g.ID())
	g.notifier.send(fmt.Sprintf("STATUS=%s %s with token %d", g.doing, g.path, l.Token()))
	lost = g.until(l)
	g.notifier.send("STATUS=" + g.done + " " + g.path)
	over := time.Now()
	if lost && g.validUntil.Before(over) { // this process was stopped, and saw the loss late
		over = g.validUntil
	}
	if lost {
		g.end(l)
	}
	return max(over.Sub(began), 1), lost, nil
}

// prepare returns the command with its environment.
func (g *guardedCommand) prepare(l *incumbent.Leadership) *exec.Cmd {
	cmd := exec.Command(g.command[0], g.command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(),
		"INCUMBENT_TOKEN="+strconv.FormatInt(l.Token(), 10), "INCUMBENT_PATH="+g.path, "INCUMBENT_NODE="+l.Term().Path)
	return cmd
}

// until returns when the command has ended (false) or leadership has (true).
func (g *guardedCommand) until(l *incumbent.Leadership) bool {
	tick := time.NewTicker(g.guardInterval())
	defer tick.Stop()
	for {
		select {
		case <-g.Done():
			return l.Check() != nil // the guard may have killed it while this process was stopped
		case <-l.Context().Done():
			return true
		case <-tick.C:
			g.updateGuard(l)
		}
	}
}

// guardInterval returns the time between two updates of the guard's deadline.
func (g *guardedCommand) guardInterval() time.Duration {
	return max(5*time.Millisecond, min(250*time.Millisecond, g.client.SessionTimeout()/40))
}

// end ends the command: by SIGTERM first, by SIGKILL at the deadline.
func (g *guardedCommand) end(l *incumbent.Leadership) {
	_ = g.Until(g.deadline(l)) // if the guard is gone, it has already killed the group
	deadline := time.NewTimer(time.Until(g.deadline(l)))
	defer deadline.Stop()
	left := "gets SIGTERM and SIGKILL: another may lead already"
	if d := time.Until(g.deadline(l)); d > 0 {
		left = "gets SIGTERM, and SIGKILL after " + cli.Short(d)
	}
	g.Note("%v; the command %s", trimLibrary(reason(l)), left)
	g.Stop()
	select {
	case <-g.Done():
	case <-deadline.C:
		g.Note("killing process group %d: another may lead from now on", g.ID())
	}
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
	if err := g.Until(g.deadline(l)); err != nil && !g.warned {
		g.warned = true
		g.Note("the guard is gone (%v): the command goes on if this process is killed", err)
	}
}
