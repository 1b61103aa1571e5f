package program

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/cmd/incumbent/group"
	"github.com/incumbent-go/incumbent/cmd/internal/cli"
)

const electHelp = `Queue for leadership and run a command only while leading.

` + underGuard + `   75  leadership was lost (without --requeue)
  124  --try went by without leadership
  130, 143, …  a signal came while waiting: 128 and its number
   73  the file of --record cannot be created` + guardExitCodes

// elector is one run of elect, or of lock.
type elector struct {
	*app
	connection
	action
	path, id, record     string
	advertise            string // where the command answers
	prefix               string // of a plain election
	plain                bool   // of a lock: its names are the prefix and a number
	recordLast           int
	commands             *commandLog // nil without --record
	http                 string      // where health and metrics are served
	try, grace           time.Duration
	stopTimeout          time.Duration
	tryOnce              bool // --try 0
	passAuth             bool
	secrets              []string // of this process's environment, which no longer has them
	requeue, useSelector bool
	notify               bool
	notifier             *notifier // nil without --notify
	noWait, setLimit     bool
	permits              int // of a semaphore
	acl                  []string
	httpHosts            hostNames
	command              []string

	client    *incumbent.Client
	connected atomic.Bool // once; then outages leave the program ready
	candidate candidate
	signals   *signals
}

// action has the words and the recipe of elect or lock.
type action struct {
	usage        string // the shortest call
	line         string // the recipe of the line
	doing, done  string
	newCandidate func(*elector) (candidate, error)
}

var leads = action{"incumbent elect /jobs/nightly -- ./nightly.sh", "latch", "leading", "led", newLatchCandidate}

// secretVariables are the variables of the environment that are for this program alone, as those of logins are: with
// them, a command, what it starts, and the guard could do all that this program may do.
var secretVariables = []string{"INCUMBENT_AUTH", saslPassword, controlToken}

func (a *app) elect() *cobra.Command {
	e := &elector{app: a, action: leads}
	c := &cobra.Command{
		Use:   "elect PATH [flags] -- COMMAND [ARGUMENT…]",
		Short: "run a command only while leading",
		Long:  electHelp,
		Example: `  incumbent elect /jobs/nightly -- ./nightly.sh
  incumbent elect /jobs/worker --requeue --record /tmp/worker.log -- ./worker
  incumbent elect /jobs/web --advertise 10.0.0.7:8080 -- ./server
  incumbent elect /jobs/once --try 5s -- ./once || echo "somebody else does it"`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := e.arguments(c, args); err != nil {
				return err
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
			return e.run(c)
		},
	}
	f := c.Flags()
	f.BoolVar(&e.useSelector, "selector", false, "queue as Curator's LeaderSelector does, and not as its LeaderLatch")
	f.StringVar(&e.advertise, "advertise", "", "where the command answers while it runs, as HOST:PORT or a URL: "+
		"incumbent watch --template and status show it")
	f.StringVar(&e.prefix, "prefix", "",
		"queue in the plain election with this prefix, such as n_, and in no line of Curator's")
	e.flagsOfBoth(f)
	return c
}

// flagsOfBoth adds the flags that elect and lock share.
func (e *elector) flagsOfBoth(f *pflag.FlagSet) {
	e.flags(e.app, f)
	host, _ := os.Hostname() // without a name, the id is the process's number
	f.StringVar(&e.id, "id", fmt.Sprintf("%s/%d", host, os.Getpid()),
		"what others see of this participant: host/pid by default")
	f.Lookup("id").DefValue = ""
	f.DurationVar(&e.try, "try", 0,
		"give up waiting after this long; 0s gives up if somebody is in line (default: never)")
	f.BoolVar(&e.requeue, "requeue", false, "queue again after a loss, instead of exiting")
	f.DurationVar(&e.grace, "grace", 0, "how much longer the command may take to end after another may lead")
	f.DurationVar(&e.stopTimeout, "stop-timeout", 20*time.Second,
		"how long the command may take to end after SIGTERM, before it is killed; 0s: as long as it leads")
	f.StringVar(&e.record, "record", os.Getenv("INCUMBENT_RECORD"),
		"write the flight log, for incumbent replay, into this directory (DIR, or DIR/ if it is missing), or to "+
			"this new file; if that exists, to FILE.1, FILE.2, …; INCUMBENT_RECORD sets the default")
	f.Lookup("record").DefValue = ""
	f.StringArrayVar(&e.acl, "acl", nil, aclUsage)
	f.IntVar(&e.recordLast, "record-last", 0, "keep only the last so many records, in memory, and write them to "+
		"--record DIR when leadership is lost, or at the signal USR1")
	f.StringVar(&e.http, "http", "",
		"serve /livez, /readyz, /leader and /metrics at this address, such as :4040; without a host, on "+
			"the loopback only")
	e.httpHosts.flags(f)
	f.BoolVar(&e.passAuth, "pass-auth", false, "leave "+variablesOf(e.app.logins)+
		"INCUMBENT_AUTH, INCUMBENT_SASL_PASSWORD and INCUMBENT_CONTROL_TOKEN in the command's environment")
	f.BoolVar(&e.notify, "notify", false,
		"tell systemd (Type=notify) when it is connected and leads, and feed its watchdog")
}

// arguments takes the path, and the command after the --.
func (e *elector) arguments(c *cobra.Command, args []string) error {
	switch before := c.ArgsLenAtDash(); {
	case len(args) == 0 || before == 0:
		return cli.Usage("%s needs a PATH, as in: %s", c.Name(), e.usage)
	case before < 0 && len(args) > 1, before > 1:
		return cli.Usage("%s does not know what to do with %q: the command comes after a --", c.Name(), args[1])
	}
	e.path, e.command = args[0], args[1:]
	e.tryOnce = e.try == 0 && c.Flags().Changed("try")
	return nil
}

func (e *elector) check(c *cobra.Command) error {
	switch {
	case len(e.command) == 0:
		return cli.Usage("%s needs a command after --, as in: %s", c.Name(), e.usage)
	case e.try < 0, e.grace < 0, e.stopTimeout < 0:
		return cli.Usage("--try, --grace and --stop-timeout take no negative time")
	case e.recordLast < 0:
		return cli.Usage("--record-last takes a number of records")
	case e.recordLast > 0 && e.record == "":
		return cli.Usage("--record-last needs --record DIR: the records are written there")
	}
	if _, err := incumbent.HostPort(e.advertise); e.advertise != "" && err != nil {
		return cli.Usage("--advertise: %w", trimLibrary(err))
	}
	if err := e.httpHosts.check(); err != nil {
		return err
	}
	if err := incumbent.CheckPath(e.path); err != nil {
		return cli.Usage("PATH: %w", trimLibrary(err))
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
	e.secrets = takeSecrets(slices.Concat(secretVariables, e.connection.logins.variables))
	if cfg.ACL, err = readACL(e.acl); err != nil {
		return err
	}
	e.LongRunning()
	defer group.ReapOrphans()()
	closeLog, err := e.recordTo(&cfg)
	if err != nil {
		return err
	}
	defer closeLog()
	e.signals = catch(c.Context())
	defer e.signals.stop()
	e.client, err = e.begin(e.signals.ctx, cfg)
	if err != nil {
		return err
	}
	defer func() {
		e.closeClient(e.client)
		e.tellRecording()
	}()
	if e.recordLast > 0 {
		defer e.saveAtSignal()()
	}
	stopHTTP, err := e.serveHTTP()
	if err != nil {
		return err
	}
	defer stopHTTP()
	stopNotify, err := e.notifySystemd()
	if err != nil {
		return err
	}
	defer stopNotify()
	if err = e.connect(); err != nil {
		return interrupted(err)
	}
	e.tellRecording()
	e.warnOpen(cfg)
	if err = e.noLine(e.signals.ctx, e.client, e.path, e.connectTimeout); err != nil {
		return err
	}
	e.candidate, err = e.newCandidate(e)
	if err != nil {
		return failure(err)
	}
	defer e.client.OnConnection(e.connectionChanged())()
	defer e.reportOutages()()
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
			guarded.killAll() // it has no command
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
		e.Note("the node could not be deleted: it goes with the session, %s from now at the latest: %v",
			e.client.SessionTimeout(), err)
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
