package machines

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/mutate"
)

// plant is a bug put into a chart on purpose.
type plant struct {
	name, recipe string
	mutation     mutate.Mutation
}

// chore is one machine of a user's, and what became of its write.
type chore struct {
	recipe  string
	op      events.Op
	guarded bool   // a protected create
	command uint64 // the start; 0 once it was answered
	sent    int    // how often a write was carried out
	outcome events.Answer
}

// chores walk at random as others do, over a server that does what it is told and
// connections that end in every moment, and hold each write against what was said
// of it: it is carried out once at most, and not at all after it was said not to be.
type chores struct {
	*world
	all    map[events.ID]*chore
	serial int
	faults []string
}

func newChores(seed int64, plants ...plant) *chores {
	w := &world{judge: newJudge(plants...), dice: rand.New(rand.NewSource(seed)), now: int64(time.Second), zxid: 100,
		nodes: map[string]*events.Stat{"/a": {}, "/a/l": {}}, count: map[string]int32{}, watchers: map[string][]events.ID{},
		works: map[events.ID]int{}, tokens: map[string]int64{}, timeout: 4 * time.Second}
	e := &chores{world: w, all: map[events.ID]*chore{}}
	w.applied, w.told = e.applied, e.told
	w.open("session", "session", "", nil)
	w.do("session", events.CommandStart, events.Event{})
	return e
}

func (e *chores) fault(format string, args ...any) {
	e.faults = append(e.faults, fmt.Sprintf(format, args...))
}

// begin opens a machine and starts it.
func (e *chores) begin() {
	e.serial++
	one := &chore{recipe: "request", op: events.Op{Path: fmt.Sprintf("/a/l/n%d", e.serial), Verb: "create", Mode: events.Persistent}}
	options := map[string]string{}
	switch e.dice.Intn(7) {
	case 0:
		one.op.Verb, one.op.Path, one.op.Version = "set", "/a", -1
	case 1, 2:
		one.guarded, one.op.Mode, options["protected"] = true, events.PersistentSequential, "true"
	case 3:
		one.guarded, one.op.Mode, options["protected"] = true, events.EphemeralSequential, "true"
	case 4:
		one.recipe, one.op = "deletion", events.Op{Path: "/a/d", Verb: "delete", Version: -1}
	case 5:
		one.recipe, one.op = "number", events.Op{Path: "/a/c", Verb: "set"}
		options["task"], options["tries"], options["operand"] = "add", "3", "1"
	}
	id := events.ID(fmt.Sprintf("%s-%d", one.recipe, e.serial))
	e.all[id] = one
	e.feed(events.Envelope{To: id, Event: events.Event{Kind: events.CommandOpen, Recipe: one.recipe, Path: one.op.Path, Seed: string(id), Options: options, Ops: []events.Op{one.op}}})
	e.do(id, events.CommandStart, events.Event{})
	one.command = e.command
}

// applied sees what the server did.
func (e *chores) applied(r asked, ev events.Event) {
	one := e.all[r.from]
	if one == nil || ev.Code != events.OK {
		return
	}
	switch r := r.r.(type) {
	case events.Create:
		if one.recipe == "number" { // that of its first value
			return
		}
	case events.Multi:
		if r.Ops[0].Verb == "check" {
			return
		}
	default:
		return
	}
	one.sent++
	if session := e.session(r.from); one.recipe == "request" && session != r.r.Header().Session {
		e.fault("%s: asked in session %d, carried out in session %d", r.from, session, r.r.Header().Session)
	}
	if one.sent > 1 {
		e.fault("%s: carried out %d times", r.from, one.sent)
	}
	if one.command == 0 && one.outcome.Code != events.OutcomeUnknown && !one.guarded {
		e.fault("%s: carried out after it was answered %q", r.from, one.outcome.Code)
	}
}

// session is the one in which a request was sent first.
func (e *chores) session(id events.ID) int64 {
	for _, r := range e.log {
		if r.Machine == id && r.To == string(asking) {
			return r.Event.Session
		}
	}
	return 0
}

// told holds an answer against what was done.
func (e *chores) told(id events.ID, a events.Answer) {
	one := e.all[id]
	if one == nil || a.Command != one.command {
		return
	}
	one.command, one.outcome = 0, a
	done := one.sent == 1
	switch {
	case one.recipe == "deletion" && a.Code == events.OK: // gone, whoever did it
	case a.Code == events.OK && !done:
		e.fault("%s: done, it says, and nothing was", id)
	case a.Code == events.OK || a.Code == events.OutcomeUnknown || one.guarded:
	case done:
		e.fault("%s: answered %q, and was carried out", id, a.Code)
	}
}

// use begins a chore, or gives one up; operate has somebody make, or write to,
// what is deleted and counted.
func (e *chores) use() {
	if e.dice.Intn(3) > 0 {
		e.begin()
		return
	}
	for id := range e.all {
		if e.engine.State(id) != "" && e.dice.Intn(2) == 0 && strings.HasSuffix(string(id), fmt.Sprint(e.serial)) {
			e.do(id, events.CommandClose, events.Event{})
		}
	}
}

func (e *chores) operate() {
	switch e.dice.Intn(3) {
	case 0:
		if e.nodes["/a/d"] == nil {
			e.zxid++
			e.put("/a/d", 0)
		}
	case 1:
		if e.nodes["/a/c"] != nil {
			e.set("/a/c")
		}
	}
}

// walk plays one world to its end and returns the first fault.
func (e *chores) walk(steps int) string {
	for range steps {
		e.move(e.use, e.operate)
		if e.wrong() != "" {
			return e.wrong()
		}
	}
	e.calm = true
	e.reap()
	for range 3000 {
		switch {
		case len(e.inbox) > 0:
			e.take()
		case len(e.pending) > 0:
			e.serve(false)
		case !e.attached:
			e.attach()
			e.ring(untilDue)
		default:
			e.ring(untilDue)
		}
	}
	return e.leftovers()
}

func (e *chores) wrong() string {
	return strings.Join(append(e.faults, e.wrongs...), "\n")
}

// leftovers are machines that do not end in a healed world, and protected nodes
// that nobody was told of.
func (e *chores) leftovers() string {
	for id, one := range e.all {
		if state := e.engine.State(id); state != "" && state != closed {
			e.fault("%s: still %s in a healthy world", id, state)
		}
		nodes := 0
		for path := range e.nodes {
			if strings.Contains(path, guid(string(id), 1)) {
				nodes++
			}
		}
		if given := one.outcome.Code == events.OK; one.guarded && one.outcome.Code != events.OutcomeUnknown &&
			(nodes > 1 || nodes == 1 && !given || nodes == 0 && given && one.op.Mode == events.PersistentSequential) {
			e.fault("%s: answered %q, and has %d nodes", id, one.outcome.Code, nodes)
		}
	}
	return e.wrong()
}

func TestChoresWalkAtRandom(t *testing.T) {
	for seed := range int64(*walks) {
		e := newChores(seed)
		if fault := e.walk(1500); fault != "" {
			t.Fatalf("seed %d: %s\n%s", seed, fault, e.story(40))
		}
		e.mustReplay(t)
	}
}

// never and always are guards that are wrong.
func never(any, events.Event, func(events.Event) bool) bool  { return false }
func always(any, events.Event, func(events.Event) bool) bool { return true }

var plantedChores = []plant{
	{"a write whose answer was lost is sent again", "request", mutate.Mutation{Guards: map[string]func(any, events.Event, func(events.Event) bool) bool{
		"unsent": func(_ any, ev events.Event, holds func(events.Event) bool) bool {
			return holds(ev) || ev.Code.Unknown()
		}}}},
	{"a protected node is not looked for", "request", mutate.Mutation{Guards: map[string]func(any, events.Event, func(events.Event) bool) bool{"lost": never}}},
	{"a protected node that nobody wants stays", "request", mutate.Mutation{Guards: map[string]func(any, events.Event, func(events.Event) bool) bool{
		"there": func(model any, ev events.Event, holds func(events.Event) bool) bool {
			return holds(ev) && !model.(*request).abandoned
		}}}},
	{"a protected create is made anew in the next session", "request", mutate.Mutation{Guards: map[string]func(any, events.Event, func(events.Event) bool) bool{"otherSession": never}}},
	{"a deletion takes any node at its path", "deletion", mutate.Mutation{Guards: map[string]func(any, events.Event, func(events.Event) bool) bool{
		"vanished": func(_ any, ev events.Event, _ func(events.Event) bool) bool { return ev.Code == events.NoNode }}}},
	{"a number is added to again when the answer was lost", "number", mutate.Mutation{Guards: map[string]func(any, events.Event, func(events.Event) bool) bool{"moved": never}}},
	{"a caller who leaves is told that nothing was written", "request", mutate.Mutation{Guards: map[string]func(any, events.Event, func(events.Event) bool) bool{"reads": always}}},
}

// The walk must be able to fail.
func TestChoresFindPlantedBugs(t *testing.T) {
	mustFind(t, plantedChores, func(seed int64, p plant) string { return newChores(seed, p).walk(1500) })
}

// mustFind wants every planted bug found in one of 200 walks.
func mustFind(t *testing.T, plants []plant, walk func(seed int64, p plant) string) {
	t.Helper()
	for i, p := range plants {
		if i%plantEvery != 0 {
			continue
		}
		found := false
		for seed := int64(0); seed < 200 && !found; seed++ {
			found = walk(seed, p) != ""
		}
		if !found {
			t.Errorf("not found in 200 walks: %s", p.name)
		}
	}
}
