package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/cmd/internal/cli"
)

func (a *app) watch() *cobra.Command {
	conn, plains := &connection{}, prefixes{}
	c := &cobra.Command{
		Use:   "watch PATH",
		Short: "print every change of leadership, until interrupted",
		Long: `Print who leads, and every change, also to nobody, until interrupted. It creates
no node, and goes on after reconnects. It prints these as well: on stderr, or with
--json as objects with the event "connection". A leader that comes and goes between
two reads may be missed. How long one led is measured by this program.

Exit codes:
   0  interrupted, by SIGINT or SIGTERM` + exitCodes,
		Example: "  incumbent watch /jobs/nightly\n  incumbent watch /jobs/nightly --json\n  incumbent watch /election --prefix n_",
		Args:    exactly("a PATH"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.follow(c.Context(), conn, args[0], plains)
		},
	}
	conn.flags(c.Flags())
	plains.flags(c.Flags())
	a.JSONFlag(c)
	return c
}

func (a *app) follow(ctx context.Context, conn *connection, dir string, plains prefixes) error {
	if err := incumbent.CheckPath(dir, plains...); err != nil {
		return cli.Usage("%w", trimLibrary(err))
	}
	ctx, stop := cli.Interruptible(ctx)
	defer stop()
	cfg, err := conn.config(a)
	if err != nil {
		return err
	}
	client, err := conn.open(ctx, cfg)
	if err != nil {
		return err
	}
	defer conn.closeClient(client)
	defer client.OnConnection(a.printConnection)()
	printer := changePrinter{app: a, before: map[string]lastChange{}}
	for change, err := range client.Watch(ctx, dir, plains...) {
		switch {
		case err != nil && a.JSON:
			a.Out.Object(map[string]any{"at": time.Now(), "event": "error", "error": trimLibrary(err).Error()})
		case err != nil:
			a.Note("%v", trimLibrary(err))
		default:
			printer.print(time.Now(), change)
		}
		if a.Out.Failed() != nil { // nobody reads any more
			return nil
		}
	}
	return nil
}

// printConnection prints that the connection is lost, because the leader that was
// printed last may no longer lead, and that there is one again.
func (a *app) printConnection(s incumbent.ConnectionState) {
	now := time.Now()
	switch {
	case s == incumbent.Connected: // so it was from the beginning
	case a.JSON:
		a.Out.Object(map[string]any{"at": now, "event": "connection", "state": s})
	case s == incumbent.Suspended:
		a.Note("%s  the connection is gone: who leads is not known until a server answers", now.Format(clock))
	case s == incumbent.Reconnected:
		a.Note("%s  connected again: what has changed meanwhile follows", now.Format(clock))
	}
}

// clock is the format of times.
const clock = "15:04:05.000"

// lastChange is the last change of a line that was printed, and when.
type lastChange struct {
	change incumbent.Change
	at     time.Time
}

type changePrinter struct {
	*app
	before map[string]lastChange // by prefix
}

// changeObject is a change for --json.
type changeObject struct {
	At     time.Time    `json:"at"`
	Event  string       `json:"event"` // "leads" or "vacant"
	Recipe string       `json:"recipe,omitempty"`
	Prefix string       `json:"prefix,omitempty"` // of a plain election
	Leader *participant `json:"leader,omitempty"`
	// Of the change before.
	Previous    *participant `json:"previous,omitempty"`
	PreviousFor *int64       `json:"previousMs,omitempty"`
}

func (t *changePrinter) print(now time.Time, c incumbent.Change) {
	last, known := t.before[c.Prefix]
	if known && last.change.Vacant == c.Vacant && last.change.Leader.Token == c.Leader.Token {
		return // the same again, after an outage
	}
	t.before[c.Prefix] = lastChange{c, now}
	lasted := now.Sub(last.at)
	if t.JSON {
		o := changeObject{At: now, Event: "leads", Recipe: c.Recipe}
		if c.Recipe == "election" {
			o.Prefix = c.Prefix
		}
		if c.Vacant {
			o.Event = "vacant"
		} else {
			p := participantObject(1, c.Leader)
			o.Leader = &p
		}
		if known {
			ms := lasted.Milliseconds()
			o.PreviousFor = &ms
			if !last.change.Vacant {
				p := participantObject(1, last.change.Leader)
				p.Leads, p.Position = false, 0
				o.Previous = &p
			}
		}
		t.Out.Object(o)
		return
	}
	text := "vacant: nobody is in line"
	if !c.Vacant {
		text = t.Out.Bold(name(c.Leader)) + " leads, token " + token(c.Leader) + ", session " + hex(c.Leader.Owner)
		if c.Recipe == "selector" {
			text += " (selector)"
		}
	}
	if c.Recipe == "election" {
		text += " (election " + cli.Plain(c.Prefix) + ")"
	}
	switch {
	case known && last.change.Vacant:
		text += "; vacant for " + cli.Short(lasted) + " before"
	case known:
		text += "; " + name(last.change.Leader) + " led for " + cli.Short(lasted)
	}
	t.Out.Line("%s  %s", now.Format(clock), text)
}
