package program

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/events"
)

const watchHelp = `Print who is first in line, and every change, until interrupted. An empty line
is printed, too. Only a participant itself knows whether it leads: the first in
line may be paused, or cut off, or not confirmed yet. Nobody behind a persistent
node leads before somebody deletes it: that is printed, too, and with --json has
the event "blocked". An order of numbers that contradicts the tokens, which
ZooKeeper cannot have made, is printed within 10 seconds, with --json as the
event "forged".

Every 5 seconds it is asked whether the first in line has a connection, as
status does: what changes is printed, with --json as the event "signs". While a
line is vacant, it is said after 10 seconds, and after each doubling, for how
long: with --json as the event "still-vacant".

The command creates no node, and goes on after reconnects. It prints reconnects:
on stderr, or with --json as objects with the event "connection". A participant
that comes and goes between two reads may be missed. How long one was first is
measured by this program. An error that comes again and again is printed once.
If PATH may not be listed, the command ends (77); if only the node of the first
in line may not be read, it goes on. It ends if the reader of stdout has gone. A
reader that does not read holds nothing up: what does not fit into a quarter of
a MiB is dropped, and a line, or with --json an object with the event "dropped",
says how many.

With --template and --out it writes where the leader answers
(LatchOptions.Advertise, elect --advertise) into a file, such as a proxy's
settings, and runs COMMAND when the file has changed. Without them COMMAND runs
at each change. It gets INCUMBENT_STATE (leader, vacant, unknown),
INCUMBENT_ADDRESS and INCUMBENT_TOKEN. The address is empty if nobody leads, if
the address is none, and in the state unknown: the line could not be read for a
session timeout, or has a namesake in PATH with a leader of its own, or this
command ends with an error.

What COMMAND prints goes to stderr. After --exec-timeout, COMMAND and what it
has started get SIGTERM, and SIGKILL 5 seconds later. If it fails, it is run
again after a second, then after twice that, up to a minute, with the newest
state. States that come while it runs are one state afterwards. At SIGINT or
SIGTERM a COMMAND that runs has 5 seconds, and 5 more after SIGTERM. The file of
--out stays as it is then, and a line on stderr says so.

With --metrics it also answers Prometheus at /metrics: whether anybody is in
line, how many are, and for how long nobody was. It exports that when no
participant runs.

Exit codes:
   0  interrupted, by SIGINT or SIGTERM`

func (a *app) watch() *cobra.Command {
	conn, plains, metricsAt, hosts, file := &connection{}, prefixes{}, "", hostNames{}, &leaderFile{}
	c := &cobra.Command{
		Use:   "watch PATH [-- COMMAND [ARG…]]",
		Short: "print every change of the first in line, until interrupted",
		Long: watchHelp + connectExitCodes + `, or the address of
      --metrics cannot be listened on` + rightsExitCodes,
		Example: "  incumbent watch /jobs/nightly\n  incumbent watch /jobs/nightly --json\n" +
			"  incumbent watch /election --prefix n_\n  incumbent watch /jobs/nightly --metrics :9141\n" +
			"  incumbent watch /jobs/nightly --template lb.tmpl --out lb.cfg -- ./reload",
		Args: func(c *cobra.Command, args []string) error {
			at := c.ArgsLenAtDash()
			if at < 0 {
				at = len(args)
			}
			file.command = args[at:]
			return exactly("a PATH")(c, args[:at])
		},
		RunE: func(c *cobra.Command, args []string) error {
			if err := cmp.Or(hosts.check(), file.prepare(a)); err != nil {
				return err
			}
			return a.follow(c.Context(), conn, &onlooker{dir: args[0], plains: plains, servers: conn.asker(),
				file: file}, metricsAt, hosts)
		},
	}
	conn.flags(a, c.Flags())
	plains.flags(c.Flags())
	c.Flags().StringVar(&metricsAt, "metrics", "", "serve /metrics for Prometheus at this address, such as "+
		":9141; without a host, on the loopback only")
	hosts.flags(c.Flags())
	file.flags(c.Flags())
	a.JSONFlag(c)
	return c
}

// follow prints the changes of a line, and exports it at metricsAt, if that is not "".
func (a *app) follow(ctx context.Context, conn *connection, looker *onlooker, metricsAt string, hosts hostNames) error {
	if err := incumbent.CheckPath(looker.dir, looker.plains...); err != nil {
		return cli.Usage("%w", trimLibrary(err))
	}
	ctx, stop := cli.Interruptible(ctx)
	defer stop()
	cfg, err := conn.config(a)
	if err != nil {
		return err
	}
	if len(looker.file.command) > 0 {
		takeSecrets(slices.Concat(secretVariables, conn.logins.variables))
	}
	a.LongRunning()
	var listener net.Listener
	if metricsAt != "" {
		if listener, err = listen("metrics", metricsAt); err != nil {
			return err
		}
		defer func() { _ = listener.Close() }()
	}
	client, err := conn.begin(ctx, cfg)
	if err != nil {
		return err
	}
	defer conn.closeClient(client)
	looker.client, looker.lines, looker.reads = client, map[lineKey]lineSeen{}, make(chan struct{}, 4)
	if listener != nil {
		a.Note("metrics at http://%s/metrics", listener.Addr())
		mux := http.NewServeMux()
		mux.Handle("GET /metrics", looker)
		defer serve(listener, hosts.only(metricsAt, mux), maxWait)()
	}
	run := looker.file.start()
	err = a.followClient(ctx, conn, looker, run)
	run.end(err)
	if err == nil && looker.file.out != "" { // interrupted
		a.Note("%s stays as it is, and nothing follows the leader any more", looker.file.out)
	}
	return err
}

// followClient waits for a connection, and prints changes.
func (a *app) followClient(ctx context.Context, conn *connection, looker *onlooker, run *leaderRunner) error {
	client := looker.client
	late := time.AfterFunc(conn.timeout, func() { run.put(leaderFacts{State: "unknown"}) })
	err := conn.await(ctx, client)
	late.Stop()
	switch {
	case err != nil && ctx.Err() != nil: // interrupted
		return nil
	case err != nil:
		return err
	}
	ctx, unread := context.WithCancel(ctx)
	defer unread()
	go func() { // ends with the context
		select {
		case <-a.Out.Broken():
			unread()
		case <-ctx.Done():
		}
	}()
	ctx, end := untilRefused(ctx, client)
	err = a.printChanges(ctx, looker, run)
	if refused := end(); err == nil {
		err = failure(refused)
	}
	return err
}

// printChanges prints changes until the context ends, or until the ensemble forbids it to look.
func (a *app) printChanges(ctx context.Context, looker *onlooker, run *leaderRunner) error {
	client, dir := looker.client, looker.dir
	defer client.OnConnection(a.printConnection)()
	printer := changePrinter{app: a, before: map[lineKey]lastChange{}, trouble: map[string]string{},
		said: map[lineKey]time.Time{}}
	go printer.look(ctx, looker) // ends with the context
	if looker.file.wanted() {
		follows, stop := context.WithCancel(ctx)
		followed := make(chan struct{})
		go func() {
			defer close(followed)
			looker.file.follow(follows, client, dir, looker.plains, run)
		}()
		defer func() {
			stop()
			<-followed
		}()
	}
	for change, err := range client.Watch(ctx, dir, looker.plains...) {
		switch {
		case errors.Is(err, incumbent.ErrNoAuth) && mayNotList(ctx, client, dir):
			return failure(err)
		case errors.Is(err, incumbent.ErrLoginRequired):
			return failure(err)
		case err != nil:
			printer.printError(time.Now(), err)
		default:
			if change.Vacant {
				if err := a.noLine(ctx, client, dir, time.Second); err != nil {
					return err
				}
			}
			now := time.Now()
			if printer.print(now, change, addressOf(ctx, client, change.First)) {
				looker.changed(now, change)
				printer.printLine(ctx, looker)
			}
		}
	}
	return nil
}

// addressOf returns where a participant answers, as it says; "" if that is not known within a second.
func addressOf(ctx context.Context, client *incumbent.Client, p incumbent.Participant) string {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	address, _ := client.Address(ctx, p) // with --template the reason is printed
	return address
}

// mayNotList reports whether the ensemble forbids to list a directory. If it does not, only the node
// of one participant is hidden, and the next one may be readable.
func mayNotList(ctx context.Context, client *incumbent.Client, dir string) bool {
	_, err := client.Children(dir).Do(ctx)
	return errors.Is(err, incumbent.ErrNoAuth)
}

// untilRefused returns a context that also ends when a client that was connected loses the
// connection, and the ensemble refuses its credentials then. The function that it returns ends
// the context, and returns the refusal, if there was one.
func untilRefused(ctx context.Context, client *incumbent.Client) (context.Context, func() error) {
	ctx, cancel := context.WithCancelCause(ctx)
	remove := client.OnConnection(func(s incumbent.ConnectionState) {
		if s != incumbent.Suspended && s != incumbent.Lost {
			return
		}
		if err := client.WaitConnected(ctx); errors.Is(err, incumbent.ErrAuthFailed) {
			cancel(err)
		}
	})
	return ctx, func() error {
		remove()
		cancel(nil)
		if err := context.Cause(ctx); errors.Is(err, incumbent.ErrAuthFailed) {
			return err
		}
		return nil
	}
}

// printConnection prints that the connection is lost, because the first in line that was
// printed last may no longer be first, and that there is one again.
func (a *app) printConnection(s incumbent.ConnectionState) {
	switch {
	case s == incumbent.Connected: // so it was from the beginning
	case a.JSON:
		a.Out.Object(map[string]any{"at": time.Now(), "event": "connection", "state": s})
	case s == incumbent.Suspended:
		a.Note("the connection is lost: who is first is not known until a server answers")
	case s == incumbent.Reconnected:
		a.Note("connected again: what has changed meanwhile follows")
	}
}

type changePrinter struct {
	*app
	before    map[lineKey]lastChange
	lastError string // the error that was printed after the last change

	mu      sync.Mutex            // of before and those that follow
	seen    int64                 // the transaction that changed the line last when it was read
	session int64                 // in which
	line    incumbent.Line        // as it was read then
	forged  string                // the order that was printed last; "": none is forged
	trouble map[string]string     // the code of the signs that were printed last, by node
	said    map[lineKey]time.Time // when it was said last that a line is still vacant
}

// changeObject is a change for --json.
type changeObject struct {
	At      time.Time    `json:"at"`
	Event   string       `json:"event"` // "first", "vacant" or "blocked"
	Recipe  string       `json:"recipe,omitempty"`
	Prefix  string       `json:"prefix,omitempty"` // of a plain election
	First   *participant `json:"first,omitempty"`
	Blocker *participant `json:"blocker,omitempty"` // the persistent node behind which nobody can lead
	// Of the change before: who was first, or the persistent node.
	Previous    *participant `json:"previous,omitempty"`
	PreviousFor *int64       `json:"previousMs,omitempty"`
}

// printError prints an error, unless it is the same again.
func (t *changePrinter) printError(now time.Time, err error) {
	text := events.Foreign(trimLibrary(err).Error(), 2*events.MaxText)
	switch {
	case text == t.lastError:
		return
	case t.JSON:
		t.Out.Object(map[string]any{"at": now, "event": "error", "error": text})
	default:
		t.Note("%s", text)
	}
	t.lastError = text
}

// print prints a change, and reports whether it is one.
func (t *changePrinter) print(now time.Time, c incumbent.Change, address string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lastError = ""
	key := keyOf(c.Recipe, c.Prefix)
	last, known := t.before[key]
	if nameless, was := t.before[lineKey{}]; was && c.Recipe != "" { // nobody had ever been in the directory
		delete(t.before, lineKey{})
		if !known {
			last, known = nameless, true
		}
	}
	next := lastChange{c, now, address}
	if known && last.change.Vacant == c.Vacant && sameNode(last.node(), next.node()) {
		return false // the same again, after an outage
	}
	t.before[key] = next
	if t.JSON {
		t.Out.Object(newChangeObject(last, known, next))
		return true
	}
	text := t.text(c)
	if address != "" {
		text += ", answers at " + events.Foreign(address, events.MaxText)
	}
	t.Out.Line("%s  %s%s", now.Format(cli.TimeLayout), text, lasted(last, known, now.Sub(last.at)))
	return true
}

func newChangeObject(last lastChange, known bool, next lastChange) changeObject {
	c := next.change
	o := changeObject{At: next.at, Event: "first", Recipe: c.Recipe}
	if c.Recipe == "election" {
		o.Prefix = c.Prefix
	}
	p := participantObject(1, next.node())
	switch {
	case c.Vacant:
		o.Event = "vacant"
	case c.Blocker.Path != "":
		o.Event, o.Blocker = "blocked", &p
	default:
		o.First = &p
		o.First.Address = next.address
	}
	if known {
		ms := next.at.Sub(last.at).Milliseconds()
		o.PreviousFor = &ms
		if !last.change.Vacant {
			p := participantObject(0, last.node())
			p.First = false
			o.Previous = &p
		}
	}
	return o
}

// text says what is now.
func (t *changePrinter) text(c incumbent.Change) string {
	text := "vacant: nobody is in line"
	switch {
	case c.Vacant:
	case c.Blocker.Path != "":
		text = blockedBy(c.Blocker)
	default:
		text = t.Out.Bold(name(c.First)) + " is first in line, token " + token(c.First) + ", session " +
			hex(c.First.Owner)
	}
	if c.Recipe == "election" {
		text += " (election " + events.Foreign(c.Prefix, events.MaxText) + ")"
	}
	return text
}

// lasted says what was before, and for how long.
func lasted(last lastChange, known bool, d time.Duration) string {
	switch {
	case !known:
		return ""
	case last.change.Vacant:
		return "; vacant for " + cli.Short(d) + " before"
	case last.change.Blocker.Path != "":
		return "; blocked for " + cli.Short(d) + " before"
	}
	return "; " + name(last.change.First) + " was first for " + cli.Short(d)
}
