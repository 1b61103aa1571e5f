package main

import (
	"context"
	"fmt"
	"path"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/cmd/internal/cli"
)

func (a *app) status() *cobra.Command {
	conn, plains := &connection{}, prefixes{}
	c := &cobra.Command{
		Use:   "status PATH",
		Short: "show who is in line, and who leads",
		Long: `Show who is in line, in queue order, with the leader first.

TOKEN is the node's czxid, which grows from leader to leader. SESSION is the id
of the ZooKeeper session that owns the node, as in the ensemble's own log. What
is shown is what the server that answered knows; it may lag a little.

Ids are what participants call themselves: they are shown quoted, control
characters escaped, and shortened (not with --json).

Exit codes:
   0  the line was read, also when nobody is in it, or there is no such directory` + exitCodes,
		Example: "  incumbent status /jobs/nightly\n  incumbent status /jobs/nightly --json | jq '.participants[0].id'\n  incumbent status /election --prefix n_",
		Args:    exactly("a PATH"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.withLine(c.Context(), conn, args[0], plains, func(_ context.Context, _ *incumbent.Client, line incumbent.Line) error {
				if a.JSON {
					a.Out.Object(lineObject(args[0], line))
					return nil
				}
				a.showLine(args[0], line)
				return nil
			})
		},
	}
	conn.flags(c.Flags())
	plains.flags(c.Flags())
	a.JSONFlag(c)
	return c
}

// withLine connects, reads a line, and calls use with both.
func (a *app) withLine(ctx context.Context, conn *connection, dir string, plains prefixes, use func(context.Context, *incumbent.Client, incumbent.Line) error) error {
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
	limit, cancel := context.WithTimeoutCause(ctx, conn.connectTimeout, fmt.Errorf("no answer within %s", conn.connectTimeout))
	defer cancel()
	line, err := client.Line(limit, dir, plains...)
	if err != nil {
		return failure(err)
	}
	return use(limit, client, line)
}

// participant is a participant of a line, for --json.
type participant struct {
	Position   int    `json:"position"`
	Recipe     string `json:"recipe"`
	Leads      bool   `json:"leads"`
	Node       string `json:"node"`
	ID         string `json:"id"`
	Token      int64  `json:"token"`
	Session    string `json:"session,omitempty"`
	Persistent bool   `json:"persistent,omitempty"`
	Error      string `json:"error,omitempty"`
}

func participantObject(position int, p incumbent.Participant) participant {
	o := participant{Position: position, Recipe: p.Recipe, Leads: p.Leads, Node: p.Path, ID: p.ID, Token: p.Token, Persistent: persistent(p)}
	if p.Owner != 0 {
		o.Session = hex(p.Owner)
	}
	if p.Err != nil {
		o.Error = trimLibrary(p.Err).Error()
	}
	return o
}

func persistent(p incumbent.Participant) bool { return p.Err == nil && p.Owner == 0 }

func lineObject(dir string, line incumbent.Line) any {
	all := []participant{}
	at := positions{}
	for _, p := range line.Participants {
		all = append(all, participantObject(at.next(p), p))
	}
	return struct {
		Path         string        `json:"path"`
		Vacant       bool          `json:"vacant"`
		Missing      bool          `json:"missing"`
		Participants []participant `json:"participants"`
		Foreign      int           `json:"foreign"`
	}{dir, len(all) == 0, line.Missing, all, line.Foreign}
}

// positions counts the participants of each line: a directory may have several lines.
type positions map[string]int

func (c positions) next(p incumbent.Participant) int {
	line := p.Recipe // readers and writers are in one line
	if line == "election" {
		line += " " + p.Prefix
	}
	c[line]++
	return c[line]
}

func (a *app) showLine(dir string, line incumbent.Line) {
	if leader, ok := line.Leader(); ok && leader.Recipe == "lease" {
		a.Out.Line("%s: %s held", cli.Plain(dir), cli.Plural(len(line.Participants), "permit"))
		a.Out.Table(a.lineRows(line))
	} else if ok {
		a.Out.Line("%s: %d in line, %s leads with token %s", cli.Plain(dir), len(line.Participants), a.Out.Bold(name(leader)), token(leader))
		a.Out.Table(a.lineRows(line))
	} else {
		a.Out.Line("%s: vacant, nobody is in line%s", cli.Plain(dir), missing(line))
	}
	if line.Foreign > 0 {
		children := "children that belong"
		if line.Foreign == 1 {
			children = "child that belongs"
		}
		a.Out.Line("  and %d %s to no recipe of this library: ignored", line.Foreign, children)
	}
}

// missing returns why a directory may not exist, if it does not.
func missing(line incumbent.Line) string {
	if !line.Missing {
		return ""
	}
	return ": there is no such directory. Nobody has queued there, or it was deleted when the last one left, or the path is mistyped"
}

func (a *app) lineRows(line incumbent.Line) [][]string {
	rows := [][]string{{"#", "RECIPE", "NODE", "ID", "TOKEN", "SESSION", ""}}
	at := positions{}
	for _, p := range line.Participants {
		session, remark := hex(p.Owner), ""
		switch {
		case p.Err != nil:
			session, remark = "-", "unreadable: "+cli.Plain(trimLibrary(p.Err).Error())
		case persistent(p):
			session, remark = "-", "PERSISTENT: no session owns it, so it never goes: delete it by hand"
		case p.Leads:
			remark = "leads"
		}
		rows = append(rows, []string{strconv.Itoa(at.next(p)), p.Recipe, cli.Plain(path.Base(p.Path)), name(p), token(p), session, remark})
	}
	return rows
}

// name returns a participant's id, or a question mark.
func name(p incumbent.Participant) string {
	if p.Err != nil {
		return "?"
	}
	return cli.Quote(p.ID)
}

func token(p incumbent.Participant) string {
	if p.Err != nil {
		return "-"
	}
	return strconv.FormatInt(p.Token, 10)
}

// hex returns a session's id as ZooKeeper's own tools show it.
func hex(id int64) string { return fmt.Sprintf("0x%x", uint64(id)) }
