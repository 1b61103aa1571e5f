package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/cmd/internal/cli"
)

const electHelp = `Queue for leadership and run a command only while leading.

` + underGuard + `   75  leadership was lost (without --requeue)
  124  --try went by without leadership
  130, 143, …  a signal came while waiting: 128 and its number
   73  the file of --record cannot be written
   78  something in the line has to be corrected by hand: the message says what` + exitCodes

// elector is one run of elect, or of lock.
type elector struct {
	*app
	connection
	action
	path, id, record     string
	prefix               string // of a plain election
	try, grace           time.Duration
	requeue, useSelector bool
	noWait, setLimit     bool
	permits              int // of a semaphore
	command              []string

	client    *incumbent.Client
	candidate candidate
	signals   *signals
}

// action has the words and the recipe of elect or lock.
type action struct {
	usage, pathName string // the shortest call, and the name of the path's argument
	line            string // the recipe of the line
	doing, done     string
	does            string
	newCandidate    func(*elector) (candidate, error)
}

var leads = action{"incumbent elect --path /jobs/nightly -- ./nightly.sh", "--path", "latch", "leading", "led", "leads", newLatchCandidate}

func (a *app) elect() *cobra.Command {
	e := &elector{app: a, action: leads}
	c := &cobra.Command{
		Use:   "elect --path PATH [flags] -- COMMAND [ARGUMENT…]",
		Short: "run a command only while leading",
		Long:  electHelp,
		Example: `  incumbent elect --path /jobs/nightly -- ./nightly.sh
  incumbent elect --path /jobs/worker --requeue --record /tmp/worker.log -- ./worker
  incumbent elect --path /jobs/once --try 5s -- ./once || echo "somebody else does it"`,
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case c.ArgsLenAtDash() > 0:
				return cli.Usage("elect does not know what to do with %q: flags come before the --, the command after it", args[0])
			case e.path == "":
				return cli.Usage("elect needs --path, as in: %s", e.usage)
			}
			plain := c.Flags().Changed("prefix")
			switch {
			case plain && e.useSelector:
				return cli.Usage("--prefix and --selector are two kinds of line: choose one")
			case plain:
				e.line, e.newCandidate = "election", newElectionCandidate
			case e.useSelector:
				e.line, e.newCandidate = "lock", newSelectorCandidate
			}
			e.command = args
			return e.run(c)
		},
	}
	f := c.Flags()
	f.StringVar(&e.path, "path", "", "the line to queue in, such as /jobs/nightly (required)")
	f.BoolVar(&e.useSelector, "selector", false, "queue as Curator's LeaderSelector does, and not as its LeaderLatch")
	f.StringVar(&e.prefix, "prefix", "", "queue in the plain election with this prefix, such as n_, and in no line of Curator's")
	e.flagsOfBoth(f)
	return c
}

// flagsOfBoth adds the flags that elect and lock share.
func (e *elector) flagsOfBoth(f *pflag.FlagSet) {
	e.flags(f)
	host, _ := os.Hostname() // without a name, the id is the process's number
	f.StringVar(&e.id, "id", fmt.Sprintf("%s/%d", host, os.Getpid()), "what others see of this participant: host/pid by default")
	f.Lookup("id").DefValue = ""
	f.DurationVar(&e.try, "try", 0, "give up waiting after this long (default: never)")
	f.BoolVar(&e.requeue, "requeue", false, "queue again after a loss, instead of exiting")
	f.DurationVar(&e.grace, "grace", 0, "how much longer the command may take to end after another may lead")
	f.StringVar(&e.record, "record", "", "write the flight recorder's log to this new file, for incumbent replay")
}

func (e *elector) check(c *cobra.Command) error {
	switch {
	case len(e.command) == 0:
		return cli.Usage("%s needs a command after --, as in: %s", c.Name(), e.usage)
	case e.try < 0, e.grace < 0:
		return cli.Usage("--try and --grace take no negative time")
	}
	if err := incumbent.CheckPath(e.path); err != nil {
		return cli.Usage("%s: %w", e.pathName, trimLibrary(err))
	}
	if err := incumbent.CheckPath(e.path, e.prefixes()...); err != nil {
		return cli.Usage("--prefix: %w", trimLibrary(err))
	}
	return nil
}

func (e *elector) run(c *cobra.Command) error {
	if err := e.check(c); err != nil {
		return err
	}
	cfg, err := e.config(e.app)
	if err != nil {
		return err
	}
	if e.record != "" {
		f, err := incumbent.CreateLog(e.record)
		if err != nil {
			return cli.Exit(cli.ExitNoOutput, err)
		}
		defer f.Close()
		cfg.Record = io.Writer(f)
	}
	e.signals = catch(c.Context())
	defer e.signals.stop()
	e.client, err = e.open(e.signals.ctx, cfg)
	if err != nil {
		return interrupted(err)
	}
	defer e.closeClient(e.client)
	e.candidate, err = e.newCandidate(e)
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
		e.candidate.done(l)
		why := reason(l)
		free()
		switch {
		case err != nil:
			return e.leave(cli.Exit(code, err))
		case !lost || e.signals.came() != nil:
			return e.leave(&cli.ExitError{Code: code})
		case !e.requeue:
			return e.leave(cli.Exit(exitLost, fmt.Errorf("%w (--requeue queues again)", why)))
		}
		e.Note("queueing again in %s", e.path)
	}
}

// leave closes the candidate, and returns the reason unless it is exit code 0.
func (e *elector) leave(reason error) error {
	ctx, cancel := context.WithTimeout(context.Background(), e.closeTimeout())
	defer cancel()
	if err := e.candidate.close(ctx); err != nil {
		e.Note("the node could not be deleted: it goes with the session, %s from now at the latest: %v", e.client.SessionTimeout(), err)
	}
	if coded, ok := reason.(*cli.ExitError); ok && coded.Err == nil && coded.Code == 0 {
		return nil
	}
	return reason
}

// closeTimeout returns how long closing may take. It is short without a connection.
func (e *elector) closeTimeout() time.Duration {
	switch e.client.Connection() {
	case incumbent.Connected, incumbent.Reconnected:
		return 10 * time.Second
	}
	return 2 * time.Second
}

// wait queues until leadership is held, or there is a reason to stop. The caller has to
// call the function that it returns when the leadership is over.
func (e *elector) wait() (*incumbent.Leadership, func(), error) {
	// The leadership's context derives from this one, so it has to last as long.
	ctx, cancel := context.WithCancelCause(e.signals.ctx)
	free := func() { cancel(nil) }
	if e.try > 0 {
		timer := time.AfterFunc(e.try, func() {
			cancel(cli.Exit(exitTimeout, fmt.Errorf("not %s after %s (--try)", e.doing, e.try)))
		})
		defer timer.Stop()
	}
	looking, enough := context.WithCancel(ctx)
	printed := make(chan struct{})
	go func() {
		defer close(printed)
		e.printPosition(looking)
	}()
	l, err := e.candidate.await(ctx)
	enough()
	<-printed
	switch {
	case err == nil && ctx.Err() == nil:
		return l, free, nil
	case err == nil: // in the same moment
		e.candidate.done(l)
	}
	free()
	if cause := context.Cause(ctx); cause != context.Canceled {
		return nil, nil, interrupted(cause)
	}
	return nil, nil, failure(err)
}

// printPosition prints once who else is in the line.
func (e *elector) printPosition(ctx context.Context) {
	if p, ok := e.candidate.(*permits); ok {
		p.print(ctx)
		return
	}
	line, err := e.client.Line(ctx, e.path, e.prefixes()...)
	if err != nil {
		return
	}
	ahead, leader := 0, incumbent.Participant{}
	for _, p := range line.Participants {
		switch {
		case p.Recipe != e.line || e.line == "election" && p.Prefix != e.prefix || p.ID == e.id:
		case p.Leads:
			leader = p
			fallthrough
		default:
			ahead++
		}
	}
	if ahead > 0 && leader.Path != "" {
		e.Note("waiting in %s as %s: %s in line, %s %s with token %d", e.path, cli.Quote(e.id), cli.Plural(ahead, "other"), cli.Quote(leader.ID), e.does, leader.Token)
	}
}

// prefixes returns the prefix of the plain election, if it is one.
func (e *elector) prefixes() []string {
	if e.line == "election" {
		return []string{e.prefix}
	}
	return nil
}

// connectionChanged returns a listener that prints changes of the connection.
func (e *elector) connectionChanged() func(incumbent.ConnectionState) {
	return func(s incumbent.ConnectionState) {
		switch s {
		case incumbent.Suspended:
			e.Note("the connection is gone; the session ends %s after the last contact, unless a server answers before", e.client.SessionTimeout())
		case incumbent.Reconnected:
			e.Note("connected again")
		case incumbent.Lost:
			e.Note("the session is lost: a new one begins as soon as a server answers")
		}
	}
}
