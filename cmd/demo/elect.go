package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/incumbent-go/incumbent"
)

const electHelp = `Queue for leadership and run a command only while leading.

The command runs in a process group of its own, with these in its environment:
  INCUMBENT_TOKEN  grows from leader to leader: hand it to every store that the
                   command writes to, and let it refuse what is lower
  INCUMBENT_PATH   the line, as given with --path
  INCUMBENT_NODE   the own node in it

When the command ends, what is left of its group is killed, the node is deleted,
and the command's exit code is passed on.

When leadership is lost, the group gets SIGTERM at once, and SIGKILL when another
may lead: that is, with the defaults, 6 to 9 seconds after the connection broke,
about a second after the ensemble stopped confirming anything, and at once when
the node is gone already (deleted by an operator, or with its session). --grace
adds to that, at the price of two that run at a time. A guard, a second process,
sees to it also when this one is killed, or stopped for too long. What leaves the
group by itself (setsid) is out of reach, and the group cannot read from a
terminal: it is in its background.

Signals: SIGTERM, SIGINT, SIGHUP and SIGQUIT are handed to the group while
leading; the command is awaited, and nobody else leads before it has ended. While
waiting they leave the queue.

Exit codes: the command's own, 128 and the signal's number where one killed it,
126 or 127 where it cannot be started, and
   75  leadership was lost (without --requeue)
  124  --try went by without leadership
  130, 143, …  a signal came while waiting: 128 and its number
   73  the file of --record cannot be written
   78  something in the line has to be mended by hand: the message says what` + exitCodes

// elector is one run of elect.
type elector struct {
	*app
	connection
	path, id, recipe, record string
	try, grace               time.Duration
	requeue, useSelector     bool
	command                  []string

	client  *incumbent.Client
	place   candidate
	signals *signals
}

func (a *app) elect() *cobra.Command {
	e := &elector{app: a}
	c := &cobra.Command{
		Use:   "elect --path PATH [flags] -- COMMAND [ARGUMENT…]",
		Short: "run a command only while leading",
		Long:  electHelp,
		Example: `  incumbent elect --path /jobs/nightly -- ./nightly.sh
  incumbent elect --path /jobs/worker --requeue --record /tmp/worker.log -- ./worker
  incumbent elect --path /jobs/once --try 5s -- ./once || echo "somebody else does it"`,
		RunE: func(c *cobra.Command, args []string) error {
			if c.ArgsLenAtDash() > 0 {
				return usage("elect does not know what to do with %q: flags come before the --, the command after it", args[0])
			}
			e.command = args
			return e.run(c.Context())
		},
	}
	f := c.Flags()
	e.flags(f)
	host, _ := os.Hostname() // without a name, the number has to do
	f.StringVar(&e.path, "path", "", "the line to queue in, such as /jobs/nightly (required)")
	f.StringVar(&e.id, "id", fmt.Sprintf("%s/%d", host, os.Getpid()), "what others see of this participant: host/pid by default")
	f.Lookup("id").DefValue = ""
	f.DurationVar(&e.try, "try", 0, "give up waiting after this long (default: never)")
	f.BoolVar(&e.requeue, "requeue", false, "queue again after leadership was lost, instead of exiting")
	f.DurationVar(&e.grace, "grace", 0, "how much longer the command may take to end after another may lead")
	f.StringVar(&e.record, "record", "", "write the flight recorder's log to this new file, for incumbent replay")
	f.BoolVar(&e.useSelector, "selector", false, "queue as Curator's LeaderSelector does, and not as its LeaderLatch")
	return c
}

func (e *elector) check() error {
	switch {
	case e.path == "":
		return usage("elect needs --path, as in: %s", "incumbent elect --path /jobs/nightly -- ./nightly.sh")
	case len(e.command) == 0:
		return usage("elect needs a command after --, as in: incumbent elect --path %s -- ./nightly.sh", e.path)
	case e.try < 0, e.grace < 0:
		return usage("--try and --grace take no negative time")
	}
	if err := incumbent.CheckPath(e.path); err != nil {
		return usage("--path: %w", bare(err))
	}
	if e.useSelector {
		e.recipe = "selector"
	}
	return nil
}

func (e *elector) run(ctx context.Context) error {
	if err := e.check(); err != nil {
		return err
	}
	cfg, err := e.config(e.app)
	if err != nil {
		return err
	}
	if e.record != "" {
		f, err := incumbent.CreateLog(e.record)
		if err != nil {
			return exit(exitNoOutput, err)
		}
		defer f.Close()
		cfg.Record = io.Writer(f)
	}
	e.signals = catch(ctx)
	defer e.signals.stop()
	e.client, err = e.open(e.signals.ctx, cfg)
	if err != nil {
		return interrupted(err)
	}
	defer e.hangUp(e.client)
	e.place, err = stand(e.client, e.recipe, e.path, e.id)
	if err != nil {
		return failure(err)
	}
	defer e.client.OnConnection(e.connectionChanged())()
	return e.queue()
}

// queue waits and leads until there is a reason to end.
func (e *elector) queue() error {
	for {
		guarded, err := e.newGuarded()
		if err != nil {
			return e.leave(err)
		}
		l, free, err := e.wait()
		if err != nil {
			_ = guarded.Kill() // it has no command
			return e.leave(err)
		}
		code, lost, err := guarded.lead(l)
		e.place.done(l)
		why := reason(l)
		free()
		switch {
		case err != nil:
			return e.leave(exit(code, err))
		case !lost || e.signals.came() != nil:
			return e.leave(&exitError{code: code})
		case !e.requeue:
			return e.leave(exit(exitLost, fmt.Errorf("%w (--requeue queues again)", why)))
		}
		e.note("queueing again in %s", e.path)
	}
}

// leave gives the place up and passes the reason on, if it is one.
func (e *elector) leave(reason error) error {
	ctx, cancel := context.WithTimeout(context.Background(), e.farewell())
	defer cancel()
	if err := e.place.close(ctx); err != nil {
		e.note("the node could not be deleted: it goes with the session, %s from now at the latest: %v", e.client.SessionTimeout(), err)
	}
	if coded, ok := reason.(*exitError); ok && coded.err == nil && coded.code == 0 {
		return nil
	}
	return reason
}

// farewell is how long leaving may take: without a connection there is little to
// wait for.
func (e *elector) farewell() time.Duration {
	switch e.client.Connection() {
	case incumbent.Connected, incumbent.Reconnected:
		return 10 * time.Second
	}
	return 2 * time.Second
}

// wait queues until leadership is held, or there is a reason not to. What it
// returns with the leadership is to be called when that is over.
func (e *elector) wait() (*incumbent.Leadership, func(), error) {
	// The leadership's context derives from this one, so it has to last as long.
	ctx, cancel := context.WithCancelCause(e.signals.ctx)
	free := func() { cancel(nil) }
	if e.try > 0 {
		timer := time.AfterFunc(e.try, func() {
			cancel(&exitError{exitTried, fmt.Errorf("not leading after %s (--try)", e.try)})
		})
		defer timer.Stop()
	}
	looking, enough := context.WithCancel(ctx)
	told := make(chan struct{})
	go func() {
		defer close(told)
		e.tellPlace(looking)
	}()
	l, err := e.place.await(ctx)
	enough()
	<-told
	switch {
	case err == nil && ctx.Err() == nil:
		return l, free, nil
	case err == nil: // in the same moment
		e.place.done(l)
	}
	free()
	if cause := context.Cause(ctx); cause != context.Canceled {
		return nil, nil, interrupted(cause)
	}
	return nil, nil, failure(err)
}

// tellPlace says who else is in the line, once.
func (e *elector) tellPlace(ctx context.Context) {
	line, err := e.client.Line(ctx, e.path)
	if err != nil {
		return
	}
	kind := "latch"
	if e.recipe != "" {
		kind = "lock"
	}
	ahead, leader := 0, incumbent.Participant{}
	for _, p := range line.Participants {
		switch {
		case p.Recipe != kind || p.ID == e.id:
		case p.Leads:
			leader = p
			fallthrough
		default:
			ahead++
		}
	}
	if ahead > 0 && leader.Path != "" {
		e.note("waiting in %s as %s: %s in line, %s leads with token %d", e.path, quote(e.id), plural(ahead, "other"), quote(leader.ID), leader.Token)
	}
}

// connectionChanged tells people when the connection goes and comes.
func (e *elector) connectionChanged() func(incumbent.ConnectionState) {
	return func(s incumbent.ConnectionState) {
		switch s {
		case incumbent.Suspended:
			e.note("the connection is gone; the session ends %s after the last contact, unless a server answers before", e.client.SessionTimeout())
		case incumbent.Reconnected:
			e.note("connected again")
		case incumbent.Lost:
			e.note("the session is lost: a new one begins as soon as a server answers")
		}
	}
}
