package meters

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// The bounds of a histogram are inclusive, what is below zero counts as zero, and what is read does not change any
// longer.
func TestWhereAValueIsCounted(t *testing.T) {
	h := NewHistogram([]float64{1, 2})
	for _, c := range []struct {
		value  float64
		counts []uint64
		sum    float64
	}{
		{-3, []uint64{1, 0, 0}, 0}, {1, []uint64{2, 0, 0}, 1}, {1.5, []uint64{2, 1, 0}, 2.5},
		{2, []uint64{2, 2, 0}, 4.5}, {2.5, []uint64{2, 2, 1}, 7}, {100, []uint64{2, 2, 2}, 107},
	} {
		before := h.Read()
		was := slices.Clone(before.Counts)
		h.Note(c.value)
		if r := h.Read(); !slices.Equal(r.Counts, c.counts) || r.Sum != c.sum || !slices.Equal(r.Bounds, h.bounds) {
			t.Errorf("after %v: %+v, want %v and a sum of %v", c.value, r, c.counts, c.sum)
		}
		if !slices.Equal(before.Counts, was) {
			t.Errorf("after %v, what was read before is %v", c.value, before.Counts)
		}
	}
	if h.NoteTime(1500 * time.Millisecond); h.Read().Counts[1] != 3 || h.Read().Sum != 108.5 {
		t.Errorf("a second and a half: %+v", h.Read())
	}
	for _, bounds := range [][]float64{
		answerBounds, marginBounds, ledBounds, takeoverBounds, lagBounds, handlerBounds,
	} {
		if !slices.IsSorted(bounds) || len(bounds) >= len(h.counts) {
			t.Errorf("%v do not ascend, or are too many", bounds)
		}
	}
}

// tally is what meters have counted of steps, in words: only what is not zero.
func tally(m *Meters) (all []string) {
	add := func(n uint64, what string, args ...any) {
		if n != 0 {
			all = append(all, fmt.Sprintf("%d %s", n, fmt.Sprintf(what, args...)))
		}
	}
	total := func(h *Histogram) (n uint64) {
		for _, one := range h.Read().Counts {
			n += one
		}
		return n
	}
	for i := range m.Requests {
		o := &m.Requests[i]
		add(o.OK.Load(), "%s", Operations[i])
		add(o.Refused.Load(), "%s refused", Operations[i])
		add(o.Lost.Load(), "%s lost", Operations[i])
		add(total(o.Took), "%s in %.1fs", Operations[i], o.Took.Read().Sum)
	}
	for i, h := range m.Heartbeats {
		add(total(h), "beat by %s in %.1fs", Strengths[i], h.Read().Sum)
	}
	add(m.Unconfirmed.Load(), "unconfirmed")
	add(total(m.Margin), "margin of %.1f", m.Margin.Read().Sum)
	for i, what := range []string{"attached", "suspended", "lost", "refused"} {
		add(m.Connection[i].Load(), "connection %s", what)
	}
	return all
}

// Each step is counted where it belongs and nowhere else, twice if it comes twice.
func TestWhatAStepCounts(t *testing.T) {
	const s = 1e9
	answer := func(kind events.Kind, code events.Code) events.Event {
		return events.Event{Kind: kind, Code: code, SentAt: 4 * s, At: 5 * s, ValidUntil: 7 * s}
	}
	const session, latch = events.SessionMachine, events.ID("latch-1")
	for _, c := range []struct {
		machine    events.ID
		event      events.Event
		want       []string // after one
		margin     float64  // of belief, as the observer hears it, in seconds; below 0: it hears nothing
		of, listed string
	}{
		{latch, answer(events.ReplyCreate, events.OK), []string{"create", "create in"}, -1, "", ""},
		{latch, answer(events.ReplyDelete, events.NoNode), []string{"delete refused", "delete in"}, -1, "", ""},
		{latch, answer(events.ReplyStat, events.ConnectionLoss), []string{"read lost"}, -1, "", ""},
		{latch, answer(events.ReplyWatch, events.OK), []string{"read", "read in"}, -1, "", ""},
		{latch, answer(events.ReplyChildren, events.SessionExpired), []string{"list lost"}, -1, "", "listed"},
		{latch, answer(events.ReplyMulti, events.NotSent), []string{"multi lost"}, -1, "", ""},
		{latch, answer(events.ReplySync, events.Closed), []string{"sync lost"}, -1, "", ""},
		{latch, events.Event{Kind: events.ReplySync, At: 5 * s}, []string{"sync"}, -1, "", ""},
		{session, events.Event{Kind: events.ReplySync, At: 5 * s}, []string{"sync"}, -1, "", ""},
		{session, answer(events.ReplySync, events.OK), []string{"sync", "sync in", "beat by sync in", "margin"},
			2, "sync", ""},
		{session, answer(events.ReplyMulti, events.OK), []string{"multi", "multi in", "beat by check in",
			"margin"}, 2, "check", ""},
		{session, answer(events.ReplyMulti, events.NoNode), []string{"multi refused", "multi in", "unconfirmed",
			"margin"}, 2, "check", ""},
		{latch, answer(events.ConnectionConfirmed, events.OK), []string{"beat by write in", "margin"}, 2, "write", ""},
		{latch, events.Event{Kind: events.WatchDeleted}, nil, -1, "", "vacated"},
		{session, events.Event{Kind: events.ConnectionAttached}, []string{"connection attached"}, -1, "", ""},
		{session, events.Event{Kind: events.ConnectionSuspended}, []string{"connection suspended"}, -1, "", ""},
		{session, events.Event{Kind: events.ConnectionLost}, []string{"connection lost"}, -1, "", ""},
		{session, events.Event{Kind: events.ConnectionRefused}, []string{"connection refused"}, -1, "", ""},
		{latch, events.Event{Kind: events.ConnectionLost}, nil, -1, "", ""},
		{latch, events.Event{Kind: events.TimerFired}, nil, -1, "", ""},
	} {
		var by string
		var seen int
		margin, heard := -1.0, ""
		m := &Meters{}
		m.Init(Use{
			Believable: func() time.Duration { return 4 * time.Second },
			Listed:     func(engine.Observed) { heard += "listed" },
			Vacated:    func(engine.Observed) { heard += "vacated" },
			Stepped:    func(engine.Observed) { seen++ },
			Confirmed: func(_ engine.Observed, strength string, took, left, budget time.Duration) {
				if by, margin = strength, left.Seconds(); took != time.Second || budget != 4*time.Second {
					t.Errorf("%s of %s took %s of a budget of %s", c.event.Kind, c.machine, took, budget)
				}
			},
		})
		m.budget.Store(4 * s)
		for round := uint64(1); round <= 2; round++ {
			by, margin, heard = "", -1, ""
			m.Stepped(engine.Observed{Machine: c.machine, Event: &c.event})
			var want []string
			for _, one := range c.want {
				one = fmt.Sprintf("%d %s", round, one)
				switch {
				case one[len(one)-3:] == " in":
					one += fmt.Sprintf(" %d.0s", round)
				case one[2:] == "margin":
					one += fmt.Sprintf(" of %.1f", .5*float64(round))
				}
				want = append(want, one)
			}
			if got := tally(m); !slices.Equal(got, want) || seen != int(round) {
				t.Errorf("%s of %s, round %d: %q, want %q; %d steps seen", c.event.Kind, c.machine, round, got,
					want, seen)
			}
			if by != c.of || margin != c.margin || heard != c.listed {
				t.Errorf("%s of %s: the observer hears %q and %v, %q", c.event.Kind, c.machine, by, margin, heard)
			}
		}
	}
}

// The margin is what is left of the belief, from nothing to all of it. Without belief before there is none to count.
func TestTheMarginOfBelief(t *testing.T) {
	for _, c := range []struct {
		until, budget int64
		counted       bool
		share         float64
		left          time.Duration
	}{
		{30, 40, true, .25, 10}, {60, 40, true, 1, 40}, {100, 40, true, 1, 80}, {20, 40, true, 0, 0}, {15, 40,
			true, 0, 0},
		{11, 40, true, 0, 0}, {10, 40, false, 0, 0}, {0, 40, false, 0, 0}, {30, 0, false, 0, 10}, {20, 1, true, 0, 0},
	} {
		m, left := newMeters(), time.Duration(-1)
		m.use.Confirmed = func(_ engine.Observed, _ string, _, margin, _ time.Duration) { left = margin }
		m.budget.Store(c.budget)
		m.Stepped(engine.Observed{Machine: events.SessionMachine,
			Event: &events.Event{Kind: events.ReplySync, SentAt: 10, At: 20, ValidUntil: c.until}})
		r := m.Margin.Read()
		if counted := slices.Max(r.Counts) == 1; counted != c.counted || r.Sum != c.share || left != c.left {
			t.Errorf("until %d of %d: counted %t, %v, and %d is left", c.until, c.budget, counted, r.Sum, left)
		}
	}
}

// A new connection has a new budget.
func TestAConnectionHasItsOwnBudget(t *testing.T) {
	m, lasts := newMeters(), time.Duration(0)
	m.use.Believable = func() time.Duration { return lasts }
	for _, lasts = range []time.Duration{3, 5, 2} {
		m.Stepped(engine.Observed{Machine: events.SessionMachine,
			Event: &events.Event{Kind: events.ConnectionAttached}})
		m.Stepped(engine.Observed{Machine: events.SessionMachine,
			Event: &events.Event{Kind: events.ConnectionSuspended}})
		if got := m.budget.Load(); got != int64(lasts) {
			t.Errorf("the budget is %d, want %d", got, lasts)
		}
	}
}

// What is rare is counted for each path, recipe and reason, and read in their order.
func TestWhatIsRareIsCounted(t *testing.T) {
	m := newMeters()
	var paused []time.Duration
	m.use.Paused = func(d time.Duration) { paused = append(paused, d) }
	for _, one := range []Term{
		{"/b", "latch", "lapsed", 0}, {"/a", "mutex", "closed", 0}, {"/a", "latch", "lapsed", 0}, {"/a", "latch",
			"closed", 0},
		{"/a", "latch", "lapsed", 0}, {"", "latch", "closed", 0},
	} {
		m.TermEnded(one.Recipe, one.Path, one.Reason, 2*time.Second)
	}
	m.TookOver("latch", time.Second)
	m.TookOver("alone", 3*time.Second)
	m.PausedFor(time.Second)
	m.PausedFor(2 * time.Second)
	s := m.Rare(0)
	if want := []Term{
		{"", "latch", "closed", 1}, {"/a", "latch", "closed", 1}, {"/a", "latch", "lapsed", 2}, {"/a", "mutex",
			"closed", 1},
		{"/b", "latch", "lapsed", 1},
	}; !slices.Equal(s.Terms, want) {
		t.Errorf("%v, want %v", s.Terms, want)
	}
	var recipes []string
	for _, r := range s.Recipes {
		recipes = append(recipes, fmt.Sprint(r.Recipe, r.Led.Counts, r.Led.Sum, r.Takeover.Counts, r.Takeover.Sum))
	}
	if want := []string{
		"alone[0 0 0 0 0 0 0 0 0] 0 [0 0 0 0 0 0 0 1 0] 3", "latch[0 5 0 0 0 0 0 0 0] 10 [0 0 0 0 0 0 1 0 0] 1",
		"mutex[0 1 0 0 0 0 0 0 0] 2 [0 0 0 0 0 0 0 0 0] 0",
	}; !slices.Equal(recipes, want) {
		t.Errorf("%q, want %q", recipes, want)
	}
	if s.Pauses != 2 || s.Paused != 3*time.Second || !slices.Equal(paused, []time.Duration{time.Second,
		2 * time.Second}) {
		t.Errorf("%d pauses of %s, and %v", s.Pauses, s.Paused, paused)
	}
}

// A queue's oldest item is as old as it has been seen at the head; what is done is no longer there.
func TestWhatAQueueCounts(t *testing.T) {
	m := newMeters()
	q := m.Queue("/q")
	for i, c := range []struct {
		do   func()
		want Queue // without its path and its histogram, at 100
	}{
		{func() {}, Queue{}},
		{func() { q.Listed("a", 3, 10) }, Queue{Items: 3, Oldest: 90}},
		{func() { q.Listed("a", 2, 20) }, Queue{Items: 2, Oldest: 90}},
		{func() { q.Handled("b", ItemFailed, 0) }, Queue{Items: 2, Oldest: 90, Failed: 1}},
		{func() { q.Handled("b", ItemDone, 0) }, Queue{Items: 1, Oldest: 90, Failed: 1, Done: 1}},
		{func() { q.Handled("a", ItemWithdrawn, 0) }, Queue{Items: 1, Oldest: 90, Failed: 1, Done: 1, Withdrawn: 1}},
		{func() { q.Handled("a", ItemDone, 0) }, Queue{Failed: 1, Done: 2, Withdrawn: 1}},
		{func() { q.Handled("c", ItemDone, 0) }, Queue{Failed: 1, Done: 3, Withdrawn: 1}},
		{func() { q.Listed("d", 1, 60) }, Queue{Items: 1, Oldest: 40, Failed: 1, Done: 3, Withdrawn: 1}},
		{func() { q.Listed("", 0, 70) }, Queue{Failed: 1, Done: 3, Withdrawn: 1}},
	} {
		c.do()
		got := m.Rare(100).Queues[0]
		if got.Path != "/q" || len(got.Took.Counts) != len(handlerBounds)+1 {
			t.Errorf("%d: %+v", i, got)
		}
		if got.Took, got.Path = (Distribution{}), ""; fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%d: %+v, want %+v", i, got, c.want)
		}
	}
	if q.Handled("x", ItemDone, 2*time.Second); m.Rare(0).Queues[0].Took.Sum != 2 {
		t.Errorf("the time that it took is %v", m.Rare(0).Queues[0].Took)
	}
}

// After MaxPaths, queues are counted under one path. Those that are known stay.
func TestQueuesAreBounded(t *testing.T) {
	m := newMeters()
	path := func(i int) string { return fmt.Sprintf("/q%05d", i) }
	for i := range MaxPaths {
		m.Queue(path(i))
	}
	if len(m.Rare(0).Queues) != MaxPaths || m.Queue(path(0)) != m.queues[path(0)] ||
		m.Queue(path(MaxPaths)) != m.queues["other"] ||
		m.Queue(path(MaxPaths+1)) != m.queues["other"] || len(m.Rare(0).Queues) != MaxPaths+1 {
		t.Errorf("%d queues", len(m.Rare(0).Queues))
	}
}
