package machines

import (
	"fmt"
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// judge steps an engine and holds every step against what must always be true.
// Golden traces and the random walk both go through it.
type judge struct {
	engine  *engine.Engine
	session *session
	members map[events.ID]*contender
	places  map[events.ID]*place        // those of the members that stand in a line
	stands  map[events.ID]*jobElection  // those of the members that stand for a job
	nodes   map[events.ID]*nodeElection // those that stand for a node
	permits map[events.ID]*semaphore    // those that want permits
	known   map[events.ID]bool

	leads map[events.ID]bool
	// the label of holds that were granted: none is granted twice under one
	held  map[*contender]string
	open  map[events.ID]map[uint64]events.Kind    // commands that were not answered yet
	asked map[events.ID]map[uint64]events.Request // requests that may arm a watch
	armed map[events.ID]map[string]bool           // watches that stand
	due   map[events.ID]map[uint64]int64          // timers
	facts map[events.ID]*facts

	checkers map[events.ID]checker // of machines that are not in a line

	attachedAt  int64 // when the present connection began
	connections int   // how many there were

	log    []events.Record
	wrongs []string
}

// newJudge is a judge of all recipes, with a plant in some of them unless it is nil.
func newJudge(p *plant) *judge {
	j := &judge{members: map[events.ID]*contender{}, places: map[events.ID]*place{},
		stands: map[events.ID]*jobElection{},
		nodes:  map[events.ID]*nodeElection{}, permits: map[events.ID]*semaphore{}, known: map[events.ID]bool{},
		leads: map[events.ID]bool{}, held: map[*contender]string{},
		open: map[events.ID]map[uint64]events.Kind{}, asked: map[events.ID]map[uint64]events.Request{},
		armed: map[events.ID]map[string]bool{}, due: map[events.ID]map[uint64]int64{}, facts: map[events.ID]*facts{},
		checkers: map[events.ID]checker{}}
	note := func(p *place) { j.members[events.ID(p.id)], j.places[events.ID(p.id)] = &p.contender, p }
	recipes := Recipes()
	for i, r := range recipes {
		switch r.Name() {
		case "session":
			recipes[i] = SessionRecipe.With(func(open events.Event) (*session, error) {
				s, err := newSession(open)
				j.session = s
				return s, err
			})
		case "latch":
			recipes[i] = LatchRecipe.With(watched(newLatch, note))
		case "mutex":
			recipes[i] = MutexRecipe.With(watched(newMutex, note))
		case "readwrite":
			recipes[i] = ReadWriteRecipe.With(watched(newReadWrite, note))
		case "election":
			recipes[i] = ElectionRecipe.With(watched(newElection, note))
		case "selector":
			recipes[i] = SelectorRecipe.With(watched(newSelector, note))
		case "semaphore":
			recipes[i] = SemaphoreRecipe.With(func(open events.Event) (*semaphore, error) {
				s, err := newSemaphore(open)
				if err == nil {
					j.members[events.ID(s.id)], j.permits[events.ID(s.id)] = &s.contender, s
				}
				return s, err
			})
		case "nodeelection":
			recipes[i] = NodeElectionRecipe.With(func(open events.Event) (*nodeElection, error) {
				e, err := newNodeElection(open)
				if err == nil {
					j.members[events.ID(e.id)], j.nodes[events.ID(e.id)] = &e.contender, e
				}
				return e, err
			})
		case "jobelection":
			recipes[i] = JobElectionRecipe.With(func(open events.Event) (*jobElection, error) {
				c, err := newJobElection(open)
				if err == nil {
					j.members[events.ID(c.id)], j.stands[events.ID(c.id)] = &c.contender, c
				}
				return c, err
			})
		}
	}
	for i, r := range recipes {
		recipes[i] = p.apply(r)
	}
	j.engine = engine.New(true, recipes...)
	j.engine.CheckInvariants()
	return j
}

// watched makes a recipe's models, and has their places noted.
func watched[M interface{ inLine() *place }](make func(events.Event) (M, error),
	note func(*place)) func(events.Event) (M, error) {
	return func(open events.Event) (M, error) {
		m, err := make(open)
		if err == nil {
			note(m.inLine())
		}
		return m, err
	}
}

func (j *judge) wrong(format string, args ...any) {
	j.wrongs = append(j.wrongs, fmt.Sprintf(format, args...))
}

// step feeds one envelope and checks everything.
func (j *judge) step(to events.ID, ev events.Event) []engine.Addressed {
	j.before(to, ev)
	out := slices.Clone(j.engine.Step(events.Envelope{To: to, Event: ev}))
	j.log = append(j.log, j.engine.Records()...)
	for _, r := range j.engine.Records() {
		j.record(r)
	}
	for _, a := range out {
		j.effect(a, ev)
	}
	j.order(out)
	for id := range j.members {
		j.member(id)
	}
	for _, id := range j.engine.Machines() {
		j.wakes(id)
		if c := j.checkers[id]; c != nil {
			c.rest(j, id)
		}
	}
	j.heartbeat(ev.At)
	return out
}

// before notes commands, watches that arm, and watches that are spent.
func (j *judge) before(to events.ID, ev events.Event) {
	switch ev.Kind {
	case events.CommandStart, events.CommandAwait, events.CommandResign, events.CommandRequeue, events.CommandClose,
		events.CommandSet, events.CommandRemove, events.CommandPut, events.CommandEnter, events.CommandLeave,
		events.CommandTrigger:
		put(j.open, to, ev.Request, ev.Kind)
	case events.WorkReturned, events.CommandCancel:
		if ev.Request != 0 { // a writer that wants to read on; who asks what became of a put
			put(j.open, to, ev.Request, events.CommandAwait)
		}
	case events.ReplyStat:
		get, watched := j.asked[to][ev.Request].(events.Get)
		exists, onExists := j.asked[to][ev.Request].(events.Exists)
		if watched && get.Watch && ev.Code == events.OK {
			put(j.armed, to, get.Path, true)
		}
		if onExists && exists.Watch && (ev.Code == events.OK || ev.Code == events.NoNode) {
			put(j.armed, to, exists.Path, true)
		}
	case events.ReplyChildren:
		if list, listed := j.asked[to][ev.Request].(events.Children); listed && list.Watch && ev.Code == events.OK {
			put(j.armed, to, list.Path+"/", true)
		}
	case events.ReplyWatch:
		if ev.Code == events.OK {
			put(j.armed, to, recursiveWatch, true)
		}
	case events.WatchReplaced:
		delete(j.armed[to], recursiveWatch)
	case events.ConnectionSuspended: // zkio sets the others again
		for _, armed := range j.armed {
			delete(armed, recursiveWatch)
		}
	case events.WatchChildren:
		delete(j.armed[to], ev.Path+"/")
	case events.WatchDeleted, events.WatchChanged, events.WatchCreated:
		delete(j.armed[to], ev.Path)
		delete(j.armed[to], ev.Path+"/")
	case events.ConnectionLost:
		clear(j.armed)
	case events.TimerFired:
		delete(j.due[to], ev.Request)
	}
}

// recursiveWatch stands among the paths that a machine watches for its recursive watch.
const recursiveWatch = "recursive"

func put[K comparable, V any](m map[events.ID]map[K]V, id events.ID, k K, v V) {
	if m[id] == nil {
		m[id] = map[K]V{}
	}
	m[id][k] = v
}

// record checks the moment at which belief begins: Elected stands in no other
// record than one that was stamped with a confirmation that holds.
func (j *judge) record(r events.Record) {
	j.note(r)
	for _, e := range r.Effects.Strings() {
		if len(e) > 14 && e[:14] == "notify elected" && !(r.Event.Attached && r.Event.At < r.Event.ValidUntil) {
			j.wrong("%s: elected at %d without a confirmation (attached %t, valid until %d)", r.Machine, r.Event.At,
				r.Event.Attached, r.Event.ValidUntil)
		}
	}
}

// order checks that belief never comes back within a term: once it was told that
// nothing may be believed, every term is ended before the deadline moves on.
func (j *judge) order(out []engine.Addressed) {
	over, moved := false, false
	for _, a := range out {
		switch e := a.Effect.(type) {
		case events.Deadline:
			over, moved = over || e.Until == 0, over && e.Until != 0
		case events.Notify:
			if moved && e.What == events.Stopped {
				j.wrong("%s: the deadline moved on before the term was ended", a.From)
			}
		}
	}
}

// effect checks that started and stopped alternate, and that every command is
// answered once.
func (j *judge) effect(a engine.Addressed, cause events.Event) {
	switch e := a.Effect.(type) {
	case events.Answer:
		if e.Command == 0 && j.serves(a.From) {
			return // a command that its opener told has no number, and nobody waits
		}
		if _, open := j.open[a.From][e.Command]; !open {
			j.wrong("%s: answer to command %d, which is not open", a.From, e.Command)
		}
		delete(j.open[a.From], e.Command)
	case events.Notify:
		j.notify(a.From, e)
	case events.SetTimer:
		put(j.due, a.From, e.Request, cause.At+int64(e.After))
	case events.StopTimer:
		delete(j.due[a.From], e.Request)
	case events.Entered:
		if e.State == string(closed) && len(j.open[a.From]) > 0 {
			j.wrong("%s: over, and commands %v are not answered", a.From, j.open[a.From])
		}
		if e.State == string(closed) {
			j.leftovers(a.From)
			delete(j.members, a.From)
			delete(j.places, a.From)
			delete(j.stands, a.From)
			delete(j.permits, a.From)
		}
	case events.Deadline:
		j.confirmation(e, cause)
	case events.Request:
		j.watch(a.From, e)
		j.facts[a.From].noteRequest(e, j.connections)
		put(j.asked, a.From, e.Header().Request, e)
	}
}

func (j *judge) notify(id events.ID, n events.Notify) {
	switch n.What {
	case events.Elected, events.Stopped:
		if j.leads[id] == (n.What == events.Elected) {
			j.wrong("%s: %s told twice in a row", id, n.What)
		}
		j.leads[id] = n.What == events.Elected
		j.floor(id, n)
		if p := j.members[id]; p != nil && p.once() && n.What == events.Elected {
			label := "permit"
			if place := j.places[id]; place != nil {
				label = place.label
			}
			if j.held[p] == label {
				j.wrong("%s: held once, and elected again", id)
			}
			j.held[p] = label
		}
	case events.Granted:
		if j.open[id][n.Work] != events.CommandAwait {
			j.wrong("%s: granted %d, which nobody awaits", id, n.Work)
		}
		delete(j.open[id], n.Work)
		if !j.leads[id] {
			j.wrong("%s: granted while not leading", id)
		}
	}
}

// member checks that a participant can be woken in its state, and that what it
// believes of itself is so.
func (j *judge) member(id events.ID) {
	p, state := j.members[id], j.engine.State(id)
	owed := map[events.Kind]bool{}
	for _, a := range j.engine.Awaits(id) {
		owed[a.Kind] = true
	}
	attached := j.session != nil && j.session.attached
	own := p.read == notRead || j.armed[id][p.path()] || owed[events.ReplyStat]
	inquires := !p.naming.unique() && p.unknown && owed[events.ReplyStat]
	awake := true
	switch state {
	case enrolling:
		awake = owed[events.ReplyCreate]
	case probing:
		awake = owed[events.ReplyChildren]
	case listing:
		awake = owed[events.ReplyChildren] && (own || j.places[id].behindCreate != 0)
	case verifying:
		awake = inquires || owed[events.ReplyChildren] || owed[events.ReplyMulti] || owed[events.ReplyCreate] ||
			owed[events.TimerFired]
	case waiting, blocked:
		ahead := owed[events.ReplyStat] || j.armed[id][join(p.ownDir, j.places[id].predecessor)]
		awake = own && (ahead || owed[events.ReplyChildren] || j.armed[id][p.ownDir+"/"])
	case leading:
		awake = own || !attached || j.watchesSoon(id, p)
	case leaving:
		awake = !attached || inquires || owed[events.ReplyDelete] || owed[events.ReplyCreate] ||
			owed[events.ReplyChildren] || owed[events.TimerFired]
	case pausing:
		awake = owed[events.TimerFired] || p.unhealthy()
	case suspended:
		awake = !attached
	case draining:
		awake = p.works > 0
	case downgrading:
		awake = owed[events.ReplyMulti] || owed[events.ReplyStat]
	}
	if c := j.stands[id]; c != nil {
		awake = j.jobElection(c, state, owed, attached, awake)
	}
	if e := j.nodes[id]; e != nil {
		awake = j.fixedNode(&e.fixedNode, state, owed, attached, awake)
	}
	if s := j.permits[id]; s != nil {
		awake = j.semaphore(s, state, owed, attached, awake)
	}
	if !awake {
		j.wrong("%s: nothing can wake it in %s (awaits %v, watches %v)", id, state, j.engine.Awaits(id), j.armed[id])
	}
	if p.leads != (state == leading) || p.leads != j.leads[id] {
		j.wrong("%s: in %s, but leads is %t and told is %t", id, state, p.leads, j.leads[id])
	}
	if p.unhealthy() && slices.Contains(from{enrolling, listing, verifying, waiting, blocked, leading}, state) {
		j.wrong("%s: unhealthy, and %s", id, state)
	}
	believing := slices.Contains(from{listing, verifying, waiting, blocked, leading}, state)
	if believing && p.watched && !j.armed[id][p.path()] {
		j.wrong("%s: believes in a watch on %s that does not stand", id, p.path())
	}
	if p.works < 0 {
		j.wrong("%s: %d pieces of work", id, p.works)
	}
	if p.once() && p.leads && p.works != 1 {
		j.wrong("%s: held by %d pieces of work", id, p.works)
	}
	awaited := false
	for c := p.open; c != nil; c = c.next {
		awaited = awaited || c.wants == leadership
	}
	if p.once() && !awaited &&
		slices.Contains(from{enrolling, listing, waiting, verifying, suspended, probing}, state) {
		j.wrong("%s: in %s, and nobody wants it", id, state)
	}
	if p.leads && !p.heartbeating {
		j.wrong("%s: leads, and the session machine does not know", id)
	}
}
