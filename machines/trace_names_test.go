package machines

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/worlds/restored"
)

// inCommon is an effect as a latch's conversation has it, "" for none: the heartbeat
// of a candidate without a GUID is a read more, by which the numbers are higher.
func (c *conversation) inCommon(of events.ID, effect string) string {
	if c.mirrors != "election" || of != events.SessionMachine {
		return effect
	}
	var number int
	if n, _ := fmt.Sscanf(effect, "#%d exists", &number); n == 1 && strings.Contains(effect, " exists ") {
		c.reads = append(c.reads, number)
		return ""
	}
	return requestNumber.ReplaceAllStringFunc(effect, func(digits string) string {
		n, _ := strconv.Atoi(digits[1:])
		before := 0
		for _, read := range c.reads {
			if read < n {
				before++
			}
		}
		return fmt.Sprint("#", n-before)
	})
}

var requestNumber = regexp.MustCompile(`#\d+`)

// commit names the nodes that a transaction made; numbers go up from a first.
func (c *conversation) commit(to events.ID, ev *events.Event, multi events.Multi, first string) {
	n, _ := strconv.Atoi(first)
	for _, op := range multi.Ops {
		switch {
		case op.Verb != "create":
			continue
		case op.Mode == events.EphemeralSequential:
			op.Path += fmt.Sprintf("%010d", n)
			n++
		}
		ev.Children = append(ev.Children, op.Path)
	}
	if own := len(ev.Children) - 1; own >= 0 && c.permits[to] != nil {
		made := *ev
		made.Path = slices.Min(slices.DeleteFunc(slices.Clone(ev.Children), func(p string) bool {
			return p == c.permits[to].ownDir
		}))
		c.own[to] = made
	}
}

// complete fills in what an executor would: numbers, send times, paths.
func (c *conversation) complete(to events.ID, ev *events.Event) {
	switch {
	case strings.HasPrefix(string(ev.Kind), "reply."), ev.Kind == events.TimerFired:
		if ev.Kind != events.TimerFired {
			ev.Session = cmp.Or(ev.Session, c.number)
			ev.SentAt = cmp.Or(ev.SentAt, int64(c.now))
		}
		c.answer(to, ev)
	case strings.HasPrefix(string(ev.Kind), "command.") && ev.Request == 0 && ev.Kind != events.CommandCancel:
		c.command++
		ev.Request = c.command
	}
}

// awaits reports whether a machine still waits for the answer to a request.
func (c *conversation) awaits(id events.ID, number uint64) bool {
	return slices.ContainsFunc(c.engine.Awaits(id), func(a engine.Awaited) bool { return a.Request == number })
}

func (c *conversation) answer(to events.ID, ev *events.Event) {
	for i, o := range c.owed[to] {
		if ev.Request == 0 && !c.awaits(to, o.number) {
			continue
		}
		if ev.Request == o.number || ev.Request == 0 && o.kind == ev.Kind &&
			(ev.Path == "" || ev.Kind != events.ReplyStat || o.path == ev.Path) &&
			(ev.Text == "" || ev.Kind != events.TimerFired || ev.Text == o.name) {
			c.met, ev.Request = &o, o.number
			if ev.Path == "" && ev.Kind != events.ReplyMulti {
				ev.Path = o.path
			}
			if ev.Kind == events.TimerFired {
				ev.Path, ev.Text = "", ""
			}
			c.owed[to] = append(c.owed[to][:i:i], c.owed[to][i+1:]...)
			return
		}
	}
}

func (c *conversation) note(a engine.Addressed) {
	add := func(kind events.Kind, number uint64, name, path string) {
		what, _ := strings.CutPrefix(fmt.Sprint(a.Effect), fmt.Sprint("#", number))
		what = whatOf(c.readable(strings.TrimLeft(what, "!* ")))
		nth := 0
		for _, o := range c.fresh {
			if o.machine == a.From && o.what == what {
				nth++
			}
		}
		o := owed{askedFor{a.From, c.turn, what, nth}, number, kind, name, path}
		c.owed[a.From], c.fresh = append(c.owed[a.From], o), append(c.fresh, o)
	}
	switch e := a.Effect.(type) {
	case events.Connect:
		c.number = e.Session
	case events.SetTimer:
		add(events.TimerFired, e.Request, e.Name, "")
	case events.StopTimer:
		for i, o := range c.owed[a.From] {
			if o.number == e.Request {
				c.owed[a.From] = append(c.owed[a.From][:i:i], c.owed[a.From][i+1:]...)
				break
			}
		}
	case events.Create:
		add(events.ReplyCreate, e.Request, "", e.Path)
	case events.Delete:
		add(events.ReplyDelete, e.Request, "", e.Path)
	case events.Get:
		add(events.ReplyStat, e.Request, "", e.Path)
	case events.Exists:
		add(events.ReplyStat, e.Request, "", e.Path)
	case events.Children:
		add(events.ReplyChildren, e.Request, "", e.Path)
	case events.Multi:
		add(events.ReplyMulti, e.Request, "", e.Ops[0].Path)
	case events.AddWatch:
		add(events.ReplyWatch, e.Request, "", e.Path)
	case events.Sync:
		add(events.ReplySync, e.Request, "", e.Path)
	}
}

// real puts GUIDs in the place of their short names: G1 is the first enrolment
// of the machine "latch" or "selector", G1.latch-2 that of "latch-2".
func (c *conversation) real(s string) string { return c.swap(s, false) }

func (c *conversation) readable(s string) string { return c.swap(s, true) }

func (c *conversation) swap(s string, short bool) string {
	if !maps.Equal(c.swaps.of, c.next) {
		c.swaps = newSwaps(c.next)
	}
	if short {
		return c.swaps.readable.Replace(s)
	}
	return c.swaps.real.Replace(s)
}

// swaps puts GUIDs and their short names in each other's place. It is for these machines.
type swaps struct {
	of             map[events.ID]string
	real, readable *strings.Replacer
}

func newSwaps(seeds map[events.ID]string) swaps {
	var names, guids []string
	for id, seed := range seeds {
		for n := uint64(1); n < 13; n++ {
			name, real := fmt.Sprintf("<%s.%d>", id, n), guid(seed, n)
			// as kazoo writes it
			digits, plain := strings.ReplaceAll(real, "-", ""), strings.ReplaceAll(name, ">", "#>")
			guids = append(guids, real, name, digits, plain)
			names = append(names, name, real, plain, digits)
		}
	}
	return swaps{maps.Clone(seeds), strings.NewReplacer(names...), strings.NewReplacer(guids...)}
}

// replays feeds the conversation's own log to fresh machines.
func (c *conversation) replays(t *testing.T) {
	var b strings.Builder
	w, err := events.NewWriter(&b, events.Header{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range c.log {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	sum, err := engine.Replay(strings.NewReader(b.String()), 0, Recipes()...)
	if err != nil {
		t.Errorf("the conversation does not replay: %v", err)
	}
	if sum.Records != uint64(len(c.log)) {
		t.Errorf("replayed %d of %d records", sum.Records, len(c.log))
	}
	if taken, err := restored.Play(c.log, nil, Recipes()...); err != nil || taken == 0 {
		t.Errorf("after %d checkpoints: %v", taken, err)
	}
}

func (c *conversation) attach(t *testing.T, d *datadriven.TestData) string {
	timeout := 15 * time.Second
	for _, a := range d.CmdArgs {
		if a.Key == "timeout" {
			timeout, _ = time.ParseDuration(a.Vals[0])
		}
	}
	return c.feed(t, "session", events.Event{Kind: events.ConnectionAttached, SessionID: c.number,
		Timeout: int64(timeout), Server: "zk1:2181"})
}
