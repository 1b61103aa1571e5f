package why

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// A listing shows between which numbers of it there is no node; those that follow each other have none between them.
func TestWhatAListingHasNoNodeOf(t *testing.T) {
	l := &Log{}
	for _, c := range []struct {
		children []string
		want     [][2]int64
	}{
		{[]string{"n-0000000004", "n-0000000005"}, nil},
		{[]string{"n-0000000007", "n-0000000005", "config", "n-0000000004"}, [][2]int64{{5, 7}}},
		{[]string{"n-0000000007", "n-0000000005", "n-0000000004"}, [][2]int64{{5, 7}}},
		{[]string{"n-0000000007", "n-0000000009"}, [][2]int64{{5, 7}, {7, 9}}},
	} {
		if l.noteAbsent("/l", c.children); !slices.Equal(l.absent["/l"], c.want) {
			t.Errorf("%q: %v, want %v", c.children, l.absent["/l"], c.want)
		}
	}
}

// An answer is that of one transaction, and is not taken for that of another.
func TestATransactionIsAnsweredOnce(t *testing.T) {
	key := timerKey{"jobdealer-1", 7}
	l := &Log{itemsAsked: map[timerKey]*itemWrite{key: {asked: 1, kind: itemsDealt}}}
	for seq := range uint64(3) {
		l.answerItems(events.Record{Seq: seq + 2, Machine: key.machine,
			Event: events.Event{Request: 7, Code: events.NoNode, Path: "/a"}})
	}
	if len(l.items) != 1 || l.items[0].answered != 2 || l.items[0].refused != "/a" || len(l.itemsAsked) != 0 {
		t.Errorf("%d answers, the first %+v", len(l.items), l.items[0])
	}
}

// The end of a session is that of its own, after it was asked for.
func TestWhichSessionIsClosed(t *testing.T) {
	for _, c := range []struct {
		of    int64
		asked uint64
		want  uint64
	}{{3, 5, 9}, {2, 5, 0}, {4, 5, 0}, {0, 5, 0}, {3, 0, 0}} {
		s := &session{number: 3, closeAsked: c.asked}
		l := &Log{}
		l.session.current = s
		l.addSession(events.Record{Seq: 9, Machine: events.SessionMachine,
			Event: events.Event{Kind: events.ConnectionClosed, Session: c.of}})
		if s.closed != c.want {
			t.Errorf("closed %d, asked for in %d: session 3 is closed in %d, want %d", c.of, c.asked, s.closed, c.want)
		}
	}
}

// A span is in a window if any of it is, both ends included. One without an end reaches to the window's.
func TestWhichSpansAreInAWindow(t *testing.T) {
	w := &Window{from: 10 * micro, to: 20 * micro}
	for span, want := range map[[2]int64]bool{
		{1, 9}: false, {1, 10}: true, {1, 0}: true, {20, 0}: true, {21, 0}: false, {20, 30}: true, {21, 30}: false,
		{12, 13}: true, {5, 25}: true, {0, 1}: false,
	} {
		if got := w.hasSpan(span[0], span[1]); got != want {
			t.Errorf("%v: %t", span, got)
		}
	}
	if !(*Window)(nil).hasSpan(1, 2) {
		t.Error("all are in none")
	}
}

// Bars at one time are on lanes of their own, which are numbered, and taken again when they are free.
func TestBarsAtOneTimeHaveLanes(t *testing.T) {
	bars := []bar{
		{kind: laneConnection, from: 0, to: 9}, {from: 0, to: 10}, {from: 5, to: 20}, {from: 9, to: 12},
		{from: 10, to: 15},
		{from: 12, to: 14},
	}
	names := layOut(bars)
	var lanes []int
	for _, b := range bars {
		lanes = append(lanes, b.lane)
	}
	if want := []string{laneKinds[0], laneKinds[0] + " (2)", laneKinds[0] + " (3)",
		laneKinds[laneConnection]}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	if want := []int{1, 2, 3, 1, 3, 4}; !slices.Equal(lanes, want) {
		t.Errorf("%v, want %v", lanes, want)
	}
}

// Of two moves as far from the minute the earlier one is shown.
func TestTheNearestMove(t *testing.T) {
	at := func(seconds ...int64) (all []Move) {
		for _, s := range seconds {
			all = append(all, Move{when: s * int64(time.Second), began: s * int64(time.Second)})
		}
		return all
	}
	for _, c := range []struct {
		moves []int64
		want  []int64
	}{
		{[]int64{-120, 120}, []int64{-120}}, {[]int64{-121, 120}, []int64{120}}, {[]int64{-1, 60}, []int64{-1}},
		{[]int64{-1, 0, 59, 60}, []int64{0, 59}}, {nil, nil},
	} {
		r := &Report{h: newHistory(nil, nil, 0)}
		var got []int64
		for _, m := range r.around(at(c.moves...), 0) {
			got = append(got, m.when/int64(time.Second))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("of the moves %v around 0: %v, want %v", c.moves, got, c.want)
		}
	}
}

// Work of two is said to have run at once only if it did.
func TestWhatIsSaidOfAnOverlap(t *testing.T) {
	a, b := &Term{Log: &Log{Name: "a"}, Token: 1}, &Term{Log: &Log{Name: "b"}, Token: 2}
	for _, c := range []struct {
		o          Overlap
		last       bool
		has, hasNo string // "" has: nothing is said
	}{
		{Overlap{After: -time.Second, Known: true}, true, "did not work then", "both worked"},
		{Overlap{After: -time.Second, Known: true, Both: time.Second}, true, "both worked for 1.00 s", "did not work"},
		{Overlap{After: -time.Second}, true, "", ""},
		{Overlap{Open: "not known"}, true, "not known", "both worked"},
		{Overlap{Open: "not known", Both: time.Second}, false, "not known, and both worked for at least", ""},
		{Overlap{Open: "not known"}, false, "", ""},
		{Overlap{After: -50 * time.Millisecond, Known: true}, true, "", ""},
		{Overlap{After: -10 * time.Millisecond, Known: true, Both: 5 * time.Millisecond}, true, "both worked for", ""},
		{Overlap{After: -51 * time.Millisecond, Known: true}, true, "its work ran on for", "both worked"},
		{Overlap{After: time.Second, Known: true, command: events.CommandGuarded}, true, "the guard ended",
			"both worked"},
		{Overlap{After: time.Second, Known: true, command: events.CommandEnded}, true, "command ended", "both worked"},
		{Overlap{After: time.Second, Known: true}, true, "", ""},
	} {
		c.o.Earlier, c.o.Later = a, b
		said := ""
		(&Report{}).tellOverlap(c.o, c.last, func(text string, _ ...Ref) { said += text })
		if !strings.Contains(said, c.has) || c.hasNo != "" && strings.Contains(said, c.hasNo) || c.has == "" &&
			said != "" {
			t.Errorf("%+v: %q", c.o, said)
		}
	}
}

// Without a later term nothing shows that a guarded write was late.
func TestAWriteOfTheLastTermIsNotLate(t *testing.T) {
	h, term := newHistory(nil, nil, 0), &Term{Log: &Log{}, Node: "/l/a", Token: 3}
	for _, next := range []*Term{nil, {Log: &Log{}, Node: "/l/a", Token: 5}} {
		if late := h.lateWrite(term, next, events.Write{Token: 3, Zxid: 9}); late != "" {
			t.Error(late)
		}
	}
}

// A deletion was not answered if it is of the term's own node, after the term's end, and neither carried out nor
// refused.
func TestWhichDeletionWasNotAnswered(t *testing.T) {
	const said = ", so the deletion of its node was not answered"
	own := deletion{seq: 6, path: "/l/a"}
	for _, c := range []struct {
		end    NodeEnd
		change func(*deletion)
		want   string
	}{
		{"", func(*deletion) {}, said + ", and the node may have stayed until the session ended"},
		{NodeExpired, func(*deletion) {}, said + ", and the node stayed until the session expired"},
		{NodeDeletedByOwn, func(*deletion) {}, ""},
		{"", func(d *deletion) { d.seq = 5 }, said + ", and the node may have stayed until the session ended"},
		{"", func(d *deletion) { d.seq = 4 }, ""},
		{"", func(d *deletion) { d.path = "/l/b" }, ""},
		{"", func(d *deletion) { d.zxid = 9 }, ""},
		{"", func(d *deletion) { d.denied = true }, ""},
	} {
		d := own
		c.change(&d)
		m := &Move{From: &Term{Log: &Log{deletes: []deletion{d}}, Node: "/l/a", Stopped: 5}, NodeEnd: c.end}
		if got := m.unansweredDelete(); got != c.want {
			t.Errorf("%+v, %s: %q, want %q", d, c.end, got, c.want)
		}
	}
}

// Logs without a term say so, and that one may be missing if records are.
func TestLogsWithoutATerm(t *testing.T) {
	for _, c := range []struct {
		logs []*Log
		o    Options
		want string
	}{
		{nil, Options{}, "nobody led and nobody held a lock"}, {[]*Log{{}}, Options{},
			"nobody led and nobody held a lock"},
		{nil, Options{Path: "/a"}, "nobody led and nobody held a lock"},
		{[]*Log{{}, {gaps: []*hole{{}}}}, Options{}, "a term may be among those"},
	} {
		if got := (&Report{logs: c.logs}).noTerm(c.o); !strings.HasSuffix(got, c.want) {
			t.Errorf("%+v: %q", c.o, got)
		}
	}
}

// The facts have the verdict, and that of the work and of the writes if there is one.
func TestWhichVerdictsAreFacts(t *testing.T) {
	for want, r := range map[string]*Report{
		"verdict":              {Work: WorkNone, Writes: Writes{Verdict: WritesNone}},
		"verdict work-verdict": {Work: "at once", Writes: Writes{Verdict: WritesNone}},
		"verdict writes-verdict summary summary": {Work: WorkNone, Writes: Writes{Verdict: WritesLate},
			Summaries: make([]LineSummary, 2)},
	} {
		var got []string
		for _, f := range r.verdictFacts() {
			got = append(got, f.Type)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A node is in the way as long as its session may be there.
func TestWhatIsInTheWay(t *testing.T) {
	for _, c := range []struct {
		s    *session
		want string
	}{
		{nil, "it has not been deleted"}, {&session{number: 3}, "it has not been deleted"},
		{&session{number: 3, lost: &loss{}}, ""}, {&session{number: 3, closed: 9}, ""},
	} {
		l := &Log{Name: "a"}
		if c.s != nil {
			l.sessions = []*session{c.s}
		}
		r := &Report{h: newHistory([]*Log{l}, nil, 0)}
		b := r.inTheWay(Move{From: &Term{Log: l, Node: "/l/a", Token: 1, Session: 3, Recipe: "latch"}})
		if (b != nil) != (c.want != "") || b != nil && b.Why != c.want {
			t.Errorf("%+v: %+v, want %q", c.s, b, c.want)
		}
	}
}

// Another's deletion of a term's node is one of another client, after the term began, and not of a node that it
// led with.
func TestWhoDeletedTheNodeOfATerm(t *testing.T) {
	for what, c := range map[string]struct {
		own, other deletion
		led        int64 // token of the other's term on the same path; 0: none
		want       bool
	}{
		"nobody":         {},
		"its own client": {own: deletion{path: "/l/a", zxid: 9}},
		"another one":    {other: deletion{path: "/l/a", zxid: 9}, want: true},
		"both": {own: deletion{path: "/l/a", zxid: 8}, other: deletion{path: "/l/a",
			zxid: 9}, want: true},
		"another one, another node":     {other: deletion{path: "/l/b", zxid: 9}},
		"another one, before":           {other: deletion{path: "/l/a", zxid: 3}},
		"another one, its own node":     {other: deletion{path: "/l/a", zxid: 9}, led: 5},
		"another one, that led earlier": {other: deletion{path: "/l/a", zxid: 9}, led: 2, want: true},
	} {
		mine, others := &Log{deletes: []deletion{c.own}}, &Log{deletes: []deletion{c.other}}
		term := &Term{Log: mine, Node: "/l/a", Token: 3}
		if c.led != 0 {
			others.terms = []*Term{{Log: others, Node: "/l/a", Token: c.led}}
		}
		l, d := newHistory([]*Log{mine, others}, nil, 0).deletedBy(term)
		if (l == others) != c.want || (d != nil) != c.want || l == mine {
			t.Errorf("%s: %v, %+v", what, l, d)
		}
	}
}

// Work without an end ended with its process if that was killed, and goes on if it leads still.
func TestWhichWorkEndedWithItsProcess(t *testing.T) {
	for what, c := range map[string]struct {
		stop   events.Kind
		alone  bool
		s      stint
		killed bool
	}{
		"killed":               {killed: true},
		"killed, with command": {s: stint{command: events.CommandEnded}},
		"it leads still":       {alone: true},
		"its term ended":       {stop: events.CommandResign},
	} {
		first := newCrafted(1, 100).working(200)
		if c.stop != "" {
			first.stop(1, 1100, c.stop)
		}
		a, b := first.read(t, "alice"), newCrafted(2, 5000).read(t, "bob")
		a.Clock, b.Clock = "this", "this"
		next := b.terms[0]
		if c.alone {
			next = nil
		}
		h := newHistory([]*Log{a, b}, nil, 0)
		if got := h.diedWith(a.terms[0], next, c.s); got != c.killed {
			t.Errorf("%s: %t; the term %s", what, got, h.endingOf(a.terms[0], next).Text)
		}
	}
}

// A client that heard afterwards that its session was over got no confirmation because of that, and not because of
// another end.
func TestADeadlineBeforeTheSessionsEnd(t *testing.T) {
	for code, want := range map[events.Code]Cause{
		events.SessionExpired: CauseSessionExpired, events.ConnectionLoss: CauseUnconfirmed, "": CauseUnconfirmed,
	} {
		c := newCrafted(1, 100)
		c.stop(1, 1100, events.ConnectionUnconfirmed)
		if code != "" {
			c.add(events.SessionMachine, events.Event{Kind: events.ConnectionLost, At: 3000, Session: 1,
				Code: code}, "connected", "lost")
		}
		l, e := c.read(t, "alice"), Ending{}
		newHistory([]*Log{l}, nil, 0).byDeadline(l.terms[0], &e)
		if e.Cause != want {
			t.Errorf("%q: %s, %s; want %s", code, e.Cause, e.Text, want)
		}
	}
}
