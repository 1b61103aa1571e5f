package program

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

func (a *app) status() *cobra.Command {
	conn, plains := &connection{}, prefixes{}
	c := &cobra.Command{
		Use:   "status PATH",
		Short: "show who is in line, and who is first",
		Long: `Show who is in line, in queue order. Only a participant itself knows whether it
leads: the first in line may be paused, or cut off, or not confirmed yet. Nobody
behind a persistent node leads before somebody deletes it: see resign --node.

A semaphore (lock -n) has its permits in PATH/leases, and those that wait for one in
PATH/locks.

If PATH is an ephemeral node, as of Hadoop's failover controllers or a NodeElection, its
owner is shown, and how long it has had the node: no line says who waits for it.

If PATH is the node of an ElasticJob job, who leads it is shown, and each item with the
instance that has it: whether it runs, is disabled, has misfired, or is taken over. So are
disabled servers, and whether the items have to be dealt. Of a group of Shards:
see incumbent shards.

IN LINE says how long ago the node was created, by the clocks of the ensemble and of this
host. If the servers answer to "cons" (4lw.commands.whitelist), it is said
whether the first in line has a connection, and when its server heard from it last.
Since when the first is first, and a vacant line vacant, is not in ZooKeeper:
incumbent watch measures it. TOKEN is the node's czxid, which grows from leader to leader.
An order of numbers that contradicts the tokens is named: ZooKeeper cannot have made
it. SESSION is the id of the ZooKeeper session that owns the node, as in the ensemble's own
log. NODE leaves the GUID of a name out; --json has it. What is shown is what the
server that answered knows; it may lag a little.

Where the first in line answers is shown if it says so (LatchOptions.Advertise); --json has
that of each participant.

Ids and addresses are what participants say of themselves: ids are shown quoted, control
characters escaped, and shortened (not with --json).

Exit codes:
   0  the line was read, also when nobody is in it, or there is no such directory` + exitCodes,
		Example: "  incumbent status /jobs/nightly\n  incumbent status /jobs/nightly --json | jq " +
			"'.participants[0].id'\n  incumbent status /election --prefix n_",
		Args: exactly("a PATH"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.withLine(c.Context(), conn, args[0], plains,
				func(ctx context.Context, client *incumbent.Client, line incumbent.Line) error {
					return a.showStatus(ctx, client, args[0], line, conn.asker())
				})
		},
	}
	conn.flags(a, c.Flags())
	plains.flags(c.Flags())
	a.JSONFlag(c)
	return c
}

// showStatus prints what is at a path: a line, a semaphore or a job.
func (a *app) showStatus(ctx context.Context, client *incumbent.Client, dir string, line incumbent.Line,
	servers *asker) error {
	if len(line.Participants) == 0 && line.Foreign > 0 {
		job, err := a.job(ctx, client, dir)
		switch {
		case err != nil:
			return failure(err)
		case job != nil && a.JSON:
			a.Out.Object(job.object(dir))
			return nil
		case job != nil:
			job.show(a, dir)
			return nil
		case !a.JSON && (a.showSemaphore(ctx, client, dir) || a.hintShards(ctx, client, dir)):
			return nil
		}
	}
	if len(line.Participants) == 0 && line.Foreign == 0 && !line.Missing {
		if p, owned := owner(ctx, client, dir); owned {
			line.Participants = []incumbent.Participant{p}
		}
	}
	signs := signsOf(line, servers.ask(ctx))
	if a.JSON {
		object := lineObject(dir, line)
		for i, p := range line.Participants {
			object.Participants[i].Signs = signs[p.Path]
			address, err := client.Address(ctx, p)
			if object.Participants[i].Address = address; err != nil {
				object.Participants[i].Error = events.Foreign(trimLibrary(err).Error(), events.MaxText)
			}
		}
		a.Out.Object(object)
		return nil
	}
	a.showLine(dir, line, signs, func(p incumbent.Participant) {
		if address, err := client.Address(ctx, p); err != nil {
			a.Note("%s", events.Foreign(trimLibrary(err).Error(), 2*events.MaxText))
		} else if address != "" {
			a.Out.Line("  it answers at %s", events.Foreign(address, events.MaxText))
		}
	})
	return nil
}

// withLine connects, reads a line, and calls use with both.
func (a *app) withLine(ctx context.Context, conn *connection, dir string, plains prefixes,
	use func(context.Context, *incumbent.Client, incumbent.Line) error) error {
	ctx, stop := cli.Interruptible(ctx)
	defer stop()
	cfg, err := conn.config(a)
	if err != nil {
		return err
	}
	if err := incumbent.CheckPath(dir, plains...); err != nil {
		return cli.Usage("%w", trimLibrary(err))
	}
	client, err := conn.open(ctx, cfg)
	if err != nil {
		return err
	}
	defer conn.closeClient(client)
	limit, cancel := context.WithTimeoutCause(ctx, conn.connectTimeout,
		fmt.Errorf("no answer within %s", conn.connectTimeout))
	defer cancel()
	line, err := client.Line(limit, dir, plains...)
	if refused := (*incumbent.Error)(nil); errors.As(err, &refused) && refused.Code == events.TooLarge {
		err = fmt.Errorf("%w: give more with --max-answer", err)
	}
	if err != nil {
		return failure(err)
	}
	return use(limit, client, line)
}

// participant is a participant of a line, for --json.
type participant struct {
	Position   int    `json:"position"`
	Recipe     string `json:"recipe"`
	First      bool   `json:"first"`
	Node       string `json:"node"`
	ID         string `json:"id"`
	Address    string `json:"address,omitempty"` // where it answers, as it says
	Token      int64  `json:"token"`
	Session    string `json:"session,omitempty"`
	Persistent bool   `json:"persistent,omitempty"`
	Created    string `json:"created,omitempty"` // when the node was created, by the clock of the ensemble's leader
	Signs      *signs `json:"signs,omitempty"`   // of the first in line, if the servers say something of its connection
	Error      string `json:"error,omitempty"`
}

func participantObject(position int, p incumbent.Participant) participant {
	o := participant{Position: position, Recipe: p.Recipe, First: p.First, Node: cut(p.Path), ID: cut(p.ID),
		Token: p.Token, Persistent: p.Persistent()}
	if !p.Created.IsZero() {
		o.Created = p.Created.UTC().Format(time.RFC3339Nano)
	}
	if p.Owner != 0 && !o.Persistent {
		o.Session = hex(p.Owner)
	}
	if p.Err != nil {
		o.Error = events.Foreign(trimLibrary(p.Err).Error(), events.MaxText)
	}
	return o
}

// cut returns others' text for a JSON string, in which nothing has to be replaced: it is only cut.
func cut(text string) string {
	if len(text) <= events.MaxText {
		return text
	}
	return strings.ToValidUTF8(text[:events.MaxText], "") + "…"
}

// lineState is a line, for --json.
type lineState struct {
	Path         string        `json:"path"`
	Vacant       bool          `json:"vacant"`
	Missing      bool          `json:"missing"`
	Blocker      *participant  `json:"blocker,omitempty"` // the persistent node behind which nobody can lead
	Participants []participant `json:"participants"`
	Foreign      int           `json:"foreign"`
	Forged       *forgedOrder  `json:"forged,omitempty"` // an order that ZooKeeper cannot have made
	Job          *jobObject    `json:"job,omitempty"`    // of an ElasticJob job, whose leader is the one participant
}

func lineObject(dir string, line incumbent.Line) lineState {
	all := []participant{}
	at := positions{}
	for _, p := range line.Participants {
		all = append(all, participantObject(at.next(p), p))
	}
	var blocker *participant
	if p, blocked := line.Blocker(); blocked {
		o := participantObject(position(line, p), p)
		blocker = &o
	}
	return lineState{Path: dir, Vacant: len(all) == 0, Missing: line.Missing, Blocker: blocker, Participants: all,
		Foreign: line.Foreign, Forged: forgedObject(line)}
}

// positions counts the participants of each line: a directory may have several lines.
type positions map[string]int

func (c positions) next(p incumbent.Participant) int {
	c[lineName(p)]++
	return c[lineName(p)]
}

// lineName returns the name of the participant's line among those of its directory.
func lineName(p incumbent.Participant) string {
	if p.Recipe == machines.ElectionLine {
		return p.Recipe + " " + p.Prefix
	}
	return p.Recipe // readers and writers are in one line
}

// split returns the lines of a directory.
func split(line incumbent.Line) (lines []incumbent.Line) {
	at := map[string]int{}
	for _, p := range line.Participants {
		i, known := at[lineName(p)]
		if !known {
			i = len(lines)
			at[lineName(p)], lines = i, append(lines, incumbent.Line{})
		}
		lines[i].Participants = append(lines[i].Participants, p)
	}
	return lines
}

// head says who is first in a line, or that nobody can lead in it.
func head(line incumbent.Line, bold func(string) string) string {
	if p, blocked := line.Blocker(); blocked {
		return blockedBy(p)
	}
	p, there := line.First()
	switch {
	case line.Participants[0].Recipe == machines.LeaseLine:
		return cli.Plural(len(line.Participants), "permit") + " held"
	case !there:
		return "nobody is first"
	case p.Recipe == machines.NodeElectionRecipe.Name():
		return fmt.Sprintf("%s has the node with token %s", bold(name(p)), token(p))
	case p.Err != nil:
		return fmt.Sprintf("? is first: its node %s cannot be read", nodeName(p))
	}
	return fmt.Sprintf("%s is first in line with token %s", bold(name(p)), token(p))
}

// blockedBy says what a persistent node at the head of a line prevents.
func blockedBy(p incumbent.Participant) string {
	what := "nobody can lead"
	switch {
	case p.Recipe == machines.LeaseLine:
		what = "a permit is taken for good"
	case p.Prefix == machines.ReadLabel, p.Prefix == machines.KazooReadLabel:
		what = "no writer can hold the lock"
	}
	return fmt.Sprintf("%s: %s's node %s is persistent, no session owns it; delete it", what, name(p), nodeName(p))
}

// showSemaphore prints where the permits are if the directory is that of a semaphore, which
// has two lines below it and none of its own. It reports whether it is.
func (a *app) showSemaphore(ctx context.Context, client *incumbent.Client, dir string) bool {
	below := machines.SemaphorePool(strings.TrimSuffix(dir, "/"), false)
	permits, err := client.Line(ctx, below)
	if err != nil || permits.Missing {
		return false
	}
	held := cli.Plural(len(permits.Participants), "permit")
	a.Out.Line("%s: a semaphore, %s held: see incumbent status %s", events.Foreign(dir, events.MaxText), held,
		events.Foreign(below, events.MaxText))
	return true
}

// hintShards prints how to see a group of Shards. It reports whether the directory is one.
func (a *app) hintShards(ctx context.Context, client *incumbent.Client, dir string) bool {
	g, err := readShards(ctx, client, dir)
	if err != nil || len(g.members) == 0 && (!g.written || g.trouble != nil) {
		return false
	}
	a.Out.Line("%s: a group of Shards, %s: see incumbent shards %s", events.Foreign(dir, events.MaxText),
		cli.Plural(len(g.members), "member"), events.Foreign(dir, events.MaxText))
	return true
}

// showLine prints the lines of a directory, and for the first of each what its signs say, if they are known, and what
// more prints of it.
func (a *app) showLine(dir string, line incumbent.Line, signs map[string]*signs, more func(incumbent.Participant)) {
	lines := split(line)
	for _, one := range lines {
		what := ""
		if len(lines) > 1 {
			what = " (" + lineName(one.Participants[0]) + ")"
		}
		count := fmt.Sprintf("%d in line, ", len(one.Participants))
		switch one.Participants[0].Recipe {
		case machines.LeaseLine, machines.NodeElectionRecipe.Name():
			count = ""
		}
		a.Out.Line("%s%s: %s%s", events.Foreign(dir, events.MaxText), events.Foreign(what, events.MaxText), count,
			head(one, a.Out.Bold))
		if first, there := one.First(); there {
			if signs[first.Path] != nil {
				a.Out.Line("  %s", signs[first.Path].text(a.Out))
			}
			more(first)
		}
		a.showRows(one)
	}
	if len(lines) == 0 {
		since := missing(line)
		if since == "" {
			since = ": since when is not in ZooKeeper, incumbent watch measures it"
		}
		a.Out.Line("%s: vacant, nobody is in line%s", events.Foreign(dir, events.MaxText), since)
	}
	if text := forgedText(line); text != "" {
		a.Out.Line("  %s", a.Out.Red(text))
	}
	if line.Foreign > 0 {
		children := "children that belong"
		if line.Foreign == 1 {
			children = "child that belongs"
		}
		a.Out.Line("  and %d %s to no recipe of this library: ignored; --prefix shows a plain election or lock",
			line.Foreign, children)
	}
}

// missing returns why a directory may not exist, if it does not.
func missing(line incumbent.Line) string {
	if !line.Missing {
		return ""
	}
	return ": there is no such directory. Nobody has queued there, or it was deleted when the last one left, or the " +
		"path is mistyped"
}

// nodeName returns the name of a participant's node.
func nodeName(p incumbent.Participant) string {
	return events.Foreign(path.Base(p.Path), events.MaxText)
}

// name returns a participant's id, or a question mark.
func name(p incumbent.Participant) string {
	if p.Err != nil {
		return "?"
	}
	return events.Quote(p.ID, events.MaxName)
}

func token(p incumbent.Participant) string {
	if p.Err != nil {
		return "-"
	}
	return strconv.FormatInt(p.Token, 10)
}

// hex returns a session's id as ZooKeeper's own tools show it.
func hex(id int64) string { return fmt.Sprintf("0x%x", uint64(id)) }
