package engine

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/incumbent-go/incumbent/events"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// link is the smallest session machine: it numbers sessions, and belief holds
// for a hundred nanoseconds after a confirmed write.
type link struct{ opened, number, until int64 }

func (l *link) Stamp(ev *events.Event) {
	ev.Attached, ev.ValidUntil = l.number != 0, l.until
	if ev.Session == 0 {
		ev.Session = l.number
	}
}
func (l *link) StampOpen(*events.Event) {}
func (l *link) Current() int64          { return l.number }
func (l *link) Confirms(ev events.Event) bool {
	return ev.Kind == events.ReplyCreate && ev.Code == events.OK
}

func (l *link) open(ev events.Event, out *Outbox) {
	l.opened++
	l.number = l.opened
	out.Effect(events.Connect{Session: l.number})
	out.Answer(ev.Request, events.OK, "")
}
func (l *link) prolong(ev events.Event, out *Outbox) {
	l.until = ev.SentAt + 100
	out.Deadline(l.number, l.until, l.until)
}
func (l *link) drop(ev events.Event, out *Outbox) {
	out.Tell(events.All, events.Event{Kind: events.ConnectionLost, Session: l.number})
}
func (l *link) forget(ev events.Event, out *Outbox) { l.number, l.until = 0, 0 }

const (
	down State = "down"
	up   State = "up"
	over State = "over"
)

var linkChart = MustCompile(Chart[link]{
	Name:   "link",
	States: []StateDoc{{Name: down, Doc: "No session."}, {Name: up, Doc: "A session."}, {Name: over, Doc: "Over."}},
	Final:  over,
	Kinds: []events.Kind{events.CommandStart, events.CommandClose, events.ConnectionConfirmed,
		events.ConnectionSuspended, events.ConnectionLost},
	Rows: []Row[link]{
		{From: []State{down}, On: On(events.CommandStart), To: up, Do: (*link).open},
		{From: []State{up}, On: On(events.CommandStart), To: Stay},
		{From: []State{up}, On: On(events.ConnectionConfirmed), To: up, Do: (*link).prolong},
		{From: []State{up}, On: On(events.ConnectionSuspended), To: up, Do: (*link).drop},
		{From: []State{up}, On: On(events.ConnectionLost), To: down, Do: (*link).forget},
		{From: []State{down, up}, On: On(events.CommandClose), To: over},
	},
	Ignores: []Ignore{
		{[]State{down}, []events.Kind{events.ConnectionConfirmed, events.ConnectionSuspended, events.ConnectionLost},
			"there is no session"}},
})

// worker asks for a node, and holds it.
type worker struct {
	name  string
	did   []string
	seen  []events.Event
	watch string
}

func (w *worker) Watches(path string) bool { return w.watch == "" || w.watch == path }

func (w *worker) made(ev events.Event) bool {
	w.did = append(w.did, "made?")
	return ev.Code == events.OK
}
func (w *worker) taken(ev events.Event) bool {
	w.did = append(w.did, "taken?")
	return ev.Code == events.NodeExists
}

func (w *worker) note(ev events.Event, out *Outbox) {
	w.did, w.seen = append(w.did, "note"), append(w.seen, ev)
}

// ask asks for everything: a create that is owed, a read and a timer.
func (w *worker) ask(ev events.Event, out *Outbox) {
	w.note(ev, out)
	out.Create(events.Op{Path: "/n", Mode: events.EphemeralSequential, Data: []byte(w.name)})
	out.With(Watch).Get("/n")
	out.Timer("patience", time.Second)
	if ev.Kind == events.CommandStart {
		out.Answer(ev.Request, events.OK, "")
	}
}

// dawdle leaves a timer to the next state.
func (w *worker) dawdle(ev events.Event, out *Outbox) {
	w.note(ev, out)
	out.Timer("pause", time.Minute)
}

// beg asks for a listing that no state has a row for.
func (w *worker) beg(ev events.Event, out *Outbox) { out.Children("/") }

// gossip tells itself and everybody.
func (w *worker) gossip(ev events.Event, out *Outbox) {
	if ev.Text == "endlessly" {
		out.Tell(events.ID(w.name), ev)
	}
	out.Tell(events.ID(w.name), events.Event{Kind: events.WorkReturned, Text: "to myself"})
	out.Tell(events.All, events.Event{Kind: events.WorkReturned, Text: "to all"})
	out.Answer(ev.Request, events.OK, "")
}

func (w *worker) bye(ev events.Event, out *Outbox) { out.Answer(ev.Request, events.OK, "") }

const (
	ready   State = "ready"
	asking  State = "asking"
	holding State = "holding"
	pausing State = "pausing"
)

func workerTable() Chart[worker] {
	all := []State{ready, asking, holding, pausing}
	return Chart[worker]{
		Name: "worker",
		Doc:  "A toy.",
		States: []StateDoc{
			{Name: ready, Doc: "Not asked."}, {Name: asking, Doc: "Asked."}, {Name: holding, Doc: "Held."},
			{Name: pausing, Doc: "Waiting."}, {Name: over, Doc: "Over."},
		},
		Final: over,
		Happy: []State{ready, asking, holding, over},
		Kinds: []events.Kind{events.CommandStart, events.CommandCancel, events.CommandClose, events.CommandResign,
			events.ReplyCreate, events.ReplyStat, events.TimerFired, events.ConnectionLost, events.WatchDeleted,
			events.WorkReturned},
		Rows: []Row[worker]{
			{From: []State{ready}, On: On(events.CommandStart), To: asking, Do: (*worker).ask},
			{From: []State{asking}, On: On(events.ReplyCreate), When: (*worker).made, To: holding, Do: (*worker).note},
			{From: []State{asking}, On: On(events.ReplyCreate), When: (*worker).taken, To: Stay, Do: (*worker).note},
			{From: []State{asking}, On: On(events.ReplyCreate), To: pausing, Do: (*worker).dawdle},
			{From: []State{asking, holding}, On: On(events.ReplyStat), To: Stay, Do: (*worker).note},
			{From: []State{asking}, On: On(events.TimerFired), To: pausing, Do: (*worker).dawdle},
			{From: []State{holding, pausing}, On: On(events.ReplyCreate), To: Stay, Do: (*worker).note},
			{From: []State{pausing}, On: On(events.TimerFired), To: asking, Do: (*worker).ask},
			{From: []State{asking, holding, pausing}, On: On(events.ConnectionLost), To: ready, Do: (*worker).note},
			{From: []State{holding}, On: On(events.WatchDeleted), To: holding, Do: (*worker).note},
			{From: []State{asking, holding, pausing}, On: On(events.CommandStart), To: Stay, Do: (*worker).gossip},
			{From: all, On: On(events.CommandResign), To: Stay, Do: (*worker).beg},
			{From: all, On: On(events.WorkReturned), To: Stay, Do: (*worker).note},
			{From: all, On: On(events.CommandClose), To: over, Do: (*worker).bye},
		},
		Ignores: []Ignore{
			{[]State{ready}, []events.Kind{events.ReplyCreate, events.ConnectionLost}, "nothing was asked"},
			{[]State{ready, asking, pausing}, []events.Kind{events.WatchDeleted}, "nothing is watched"},
			{all, []events.Kind{events.CommandCancel}, "a toy"},
		},
	}
}

var workerChart = MustCompile(workerTable())

var toys = []Recipe{
	NewRecipe(linkChart, func(events.Event) (*link, error) { return &link{}, nil }),
	NewRecipe(workerChart, func(open events.Event) (*worker, error) {
		if open.Seed == "bad" {
			return nil, errors.New("bad seed")
		}
		return &worker{name: open.Name, watch: open.Path}, nil
	}),
}

// scene is an engine and everything that came of the steps so far.
type scene struct {
	*Engine
	records []events.Record
	ends    []uint64 // the last seq of each record's step
	did     []string // every effect, with who wanted it
	now     int64
}

func newScene(machines ...events.ID) *scene {
	s := &scene{Engine: New(true, toys...)}
	s.feed(events.SessionMachine, events.Event{Kind: events.CommandOpen, Recipe: "link"})
	for _, id := range machines {
		s.feed(id, events.Event{Kind: events.CommandOpen, Recipe: "worker"})
	}
	s.feed(events.SessionMachine, events.Event{Kind: events.CommandStart, Request: 1})
	return s
}

// feed steps the engine, one nanosecond later, and returns the effects. An
// answer is one of the present session, unless it says otherwise.
func (s *scene) feed(to events.ID, ev events.Event) string {
	s.now++
	ev.At = s.now
	if ev.Session == 0 && strings.HasPrefix(string(ev.Kind), "reply.") {
		ev.Session = s.session.Current()
	}
	var did []string
	for _, a := range s.Step(events.Envelope{To: to, Event: ev}) {
		did = append(did, fmt.Sprintf("%s: %s", a.From, a.Effect))
	}
	s.did = append(s.did, did...)
	s.records = append(s.records, s.Records()...)
	for range s.Records() {
		s.ends = append(s.ends, uint64(len(s.records)))
	}
	return strings.Join(did, "\n")
}

// log is what a recorder would have written.
func (s *scene) log(t testing.TB) []byte { return logOf(t, s.records) }

func logOf(t testing.TB, records []events.Record) []byte {
	t.Helper()
	var b strings.Builder
	w, err := events.NewWriter(&b, events.Header{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return []byte(b.String())
}

func model(s *scene, id events.ID) *worker { return s.machines[id].Model.(*worker) }

func want(t *testing.T, what string, got, want any) {
	t.Helper()
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		t.Errorf("%s:\n got %s\nwant %s", what, g, w)
	}
}
