package machines

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/incumbent-go/incumbent/events"
)

// jobs is a world with one instance of a job election. The other instances are Elastic-Job's: they
// write and delete markers, and queue at the latch.
type jobs struct {
	*world
	broken map[string]bool // seals that an operator deleted
}

const (
	theCandidate = events.ID("jobelection")
	theElection  = "/job/leader/election"
	theMarker    = theElection + "/instance"
	theLatch     = theElection + "/latch"
)

func newJobs(seed int64, p *plant) *jobs {
	w := &jobs{broken: map[string]bool{}, world: emptyWorld(seed, p)}
	w.writes, w.wrote = w.mustDeleteItsOwn, w.mustSealOnce
	ride := fmt.Sprint(w.dice.Intn(2) == 0)
	options := map[string]string{"rideOut": ride}
	if seed%4 == 1 {
		options["retry"] = "times/3/1s/0s"
	}
	w.open("session", "session", "", map[string]string{"rideOut": ride})
	w.open("jobelection", theCandidate, "/job", options)
	w.do("session", events.CommandStart, events.Event{})
	w.do(theCandidate, events.CommandStart, events.Event{})
	return w
}

// TestRandomJobs walks at random as TestRandomWalk does.
func TestRandomJobs(t *testing.T) {
	for _, seed := range someSeeds(t) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := newJobs(seed, nil)
			for range 1500 {
				w.step()
				w.report(t)
			}
			w.heal()
			w.run(800)
			w.report(t)
			if state := w.engine.State(theCandidate); state != leading && state != "" {
				t.Errorf("still %s in a healthy world (awaits %v)\n%s", state, w.engine.Awaits(theCandidate),
					w.story(40))
			}
			w.do(theCandidate, events.CommandClose, events.Event{})
			w.run(300)
			w.mustBeGone(t)
			w.do("session", events.CommandClose, events.Event{})
			w.run(1)
			w.mustReplay(t)
		})
	}
}

// step is one thing that happens, and what has to be true then.
func (w *jobs) step() {
	if w.stat(theMarker) != nil && slices.ContainsFunc(w.pending, func(a asked) bool { return deletesMarker(a.r) }) &&
		w.dice.Intn(6) == 0 {
		w.usurp(theMarker)
	}
	w.move(w.use, w.operate)
	w.mustWriteUnderTheLatch()
	w.mustHoldWhatItBelieves()
}

// mustDeleteItsOwn checks that a marker is deleted by the instance only that wrote it.
func (w *jobs) mustDeleteItsOwn(r events.Request) {
	marker := w.stat(theMarker)
	if !deletesMarker(r) || marker == nil || marker.EphemeralOwner == w.number {
		return
	}
	fork := w.server
	if ev, _ := fork.Do(w.number, r); ev.Code == events.OK {
		w.wrong("deletes the marker of session %d by %v", marker.EphemeralOwner, r)
	}
}

// deletesMarker reports whether a request deletes the marker.
func deletesMarker(r events.Request) bool {
	multi, _ := r.(events.Multi)
	return slices.ContainsFunc(multi.Ops,
		func(op events.Op) bool { return op.Verb == "delete" && op.Path == theMarker })
}

// mustSealOnce checks, when the marker was written, that the seal of this term is the only one.
func (w *jobs) mustSealOnce(r events.Request) {
	marker := w.stat(theMarker)
	if marker == nil || marker.Czxid != w.server.Zxid() || marker.EphemeralOwner != w.number {
		return
	}
	if left := seals(w.server.Children(theElection)); len(left) != 1 {
		w.wrong("the marker was written, and the seals are %v", left)
	}
}

// use does something that the instance's user may do.
func (w *jobs) use() {
	switch n := w.dice.Intn(12); {
	case n < 3:
		w.do(theCandidate, events.CommandAwait, events.Event{})
	case n < 5:
		w.do(theCandidate, events.CommandResign, events.Event{})
	case n < 6:
		w.post(theCandidate, events.Event{Kind: events.CommandCancel, Work: w.awaits(theCandidate)})
	case n < 10:
		if w.works[theCandidate] > 0 {
			w.workReturns(theCandidate)
		}
	case n == 10:
		w.do(theCandidate, events.CommandStart, events.Event{})
	case w.dice.Intn(100) == 0:
		w.do(theCandidate, events.CommandClose, events.Event{})
	}
}

// operate does something that other clients may do to the job.
func (w *jobs) operate() {
	marker := w.stat(theMarker)
	switch n := w.dice.Intn(14); {
	case n < 3 && marker != nil:
		w.remove(theMarker)
	case n < 5 && marker == nil && w.stat(theElection) != nil:
		w.put(theMarker, []int64{others, others, 0}[w.dice.Intn(3)])
	case n < 6 && marker != nil && marker.EphemeralOwner == w.number: // nobody sets another's: docs/elastic-job.md
		w.set(theMarker)
	case n < 7:
		for _, name := range seals(w.server.Children(theElection)) {
			w.remove(theElection + "/" + name)
			w.broken[theElection+"/"+name] = true
		}
	case n < 9 && w.stat(theLatch) != nil:
		w.place(theLatch+"/"+LatchLabel, others)
	case n < 12:
		if names := w.server.Children(theLatch); len(names) > 0 {
			w.remove(theLatch + "/" + names[w.dice.Intn(len(names))])
		}
	case n < 13:
		w.reap()
	case w.dice.Intn(5) == 0:
		w.removeAll()
	}
}

// mustWriteUnderTheLatch checks that our marker is written only in a transaction during which our
// latch's node was first in its line.
func (w *jobs) mustWriteUnderTheLatch() {
	marker := w.stat(theMarker)
	if marker == nil || marker.Czxid != w.server.Zxid() || marker.EphemeralOwner != w.number {
		return
	}
	line, _ := Line(w.server.Children(theLatch), LatchLabel)
	if len(line) == 0 || w.stat(theLatch+"/"+line[0].Name).EphemeralOwner != w.number {
		w.wrong("the marker was written at %d without the latch: %v", w.server.Zxid(), line)
	}
}

// mustHoldWhatItBelieves checks that, once all events have arrived, an instance that leads owns the
// marker, and the guards of its writes would succeed.
func (w *jobs) mustHoldWhatItBelieves() {
	c := w.stands[theCandidate]
	if c == nil || !c.leads || !w.attached || len(w.inbox)+len(w.pending) > 0 {
		return
	}
	marker, seal := w.stat(theMarker), c.sealPath()
	if marker == nil || marker.EphemeralOwner != w.number || marker.Czxid != c.token ||
		marker.Version != c.guards()[0].Version {
		w.wrong("leads with token %d, and the marker is %v (guards %v)", c.token, marker, c.guards())
	}
	if w.stat(seal) == nil && !w.broken[seal] || seal != c.guards()[1].Path {
		w.wrong("leads with the guards %v, and the seal is %s: %v", c.guards(), seal, w.stat(seal))
	}
}

// heal ends all faults, and removes what other clients left.
func (w *jobs) heal() {
	w.calm = true
	w.reap()
	for _, path := range w.server.Paths() {
		owner := w.stat(path).EphemeralOwner
		if owner == others || owner == 0 && path == theMarker {
			w.remove(path)
		}
	}
}

// run lets all requests be answered, all timers fire and all work return.
func (w *jobs) run(steps int) {
	for range steps {
		switch {
		case len(w.inbox) > 0:
			w.take()
		case len(w.pending) > 0:
			w.serve(false)
		case !w.attached:
			w.attach()
			w.ring(untilDue)
		default:
			if w.engine.State(theCandidate) == draining && w.works[theCandidate] > 0 {
				w.workReturns(theCandidate)
			}
			w.ring(untilDue)
		}
	}
}

// mustBeGone checks that a closed instance has left nothing.
func (w *jobs) mustBeGone(t *testing.T) {
	t.Helper()
	w.report(t)
	if got := w.engine.Machines(); !slices.Equal(got, []events.ID{events.SessionMachine}) {
		t.Errorf("machines are left: %v\n%s", got, w.story(30))
	}
	for _, path := range w.server.Paths() {
		if w.stat(path).EphemeralOwner != 0 || strings.HasPrefix(path, theLatch+"/") {
			t.Errorf("%s is left behind\n%s", path, w.story(30))
		}
	}
}

// ways are scripts for machines that open a latch, L. After "leads jobelection" it leads and its latch
// has ended; after "waits jobelection" another's marker exists. After "leads semaphore" it holds two
// permits; after "waits semaphore" it is first in line and waits for them.
var ways = map[string][]string{
	"waits nodeelection": {"command.start", "reply.stat czxid=5 owner=7"},
	"leads nodeelection": {"command.start", "reply.stat code=NONODE", "reply.multi zxid=20",
		"reply.stat czxid=20 version=1"},
	"waits jobelection": {"command.start", "reply.stat czxid=5 owner=7"},
	"leads jobelection": {"command.start", "reply.stat code=NONODE", "L reply.create seq=0", "L reply.stat",
		"L reply.children children=own", "reply.stat code=NONODE", "reply.children children=latch",
		"reply.multi zxid=20", "L reply.delete", "reply.stat czxid=20 version=1"},
	"leads semaphore": {"command.await", "L reply.create seq=0", "L reply.children children=own",
		"reply.stat data=3 version=1", "reply.multi zxid=20", "reply.stat czxid=20"},
	"waits jobworker": jobWaits,
	"leads jobworker": append(slices.Clone(jobWaits), jobRuns...),
	"waits semaphore": {"command.await", "L reply.create seq=0", "L reply.children children=own",
		"reply.stat data=3 version=1 count=2", "reply.children children=(lease-0,lease-1)"},
}

// jobWaits leads an instance of a job with two items to where it waits for a trigger, jobRuns from there to where item
// 0 runs.
var (
	jobWaits = []string{"command.start", "reply.stat config=shardingTotalCount:2", "reply.stat code=NONODE",
		"reply.stat data=ENABLED owner=0",
		"reply.stat code=NONODE", "reply.stat code=NONODE", "reply.create code=NODEEXISTS", "reply.multi zxid=20",
		"reply.stat czxid=20", "reply.children children="}
	jobRuns = []string{"command.trigger", "reply.stat code=NONODE", "reply.stat code=NONODE",
		"reply.stat data=me owner=0", "reply.stat data=other owner=0",
		"reply.children children=instance", "reply.multi zxid=30", "reply.stat czxid=20", "reply.stat code=NONODE",
		"reply.stat code=NONODE",
		"reply.stat data=me owner=0"}
)

// usherAlong plays a script.
func (c *conversation) usherAlong(t *testing.T, way []string, name string) string {
	for _, line := range way {
		to := name
		if rest, latch := strings.CutPrefix(line, "L "); latch {
			to, line = "latch-"+name+"-1", rest
		}
		d := &datadriven.TestData{Cmd: to}
		for _, word := range strings.Fields(line) {
			key, value, given := strings.Cut(word, "=")
			arg := datadriven.CmdArg{Key: key}
			if given {
				arg.Vals = strings.Split(strings.Trim(value, "()"), ",")
			}
			d.CmdArgs = append(d.CmdArgs, arg)
		}
		c.event(t, events.ID(to), d)
	}
	return fmt.Sprintf("%s: %s\n", name, c.engine.State(events.ID(name)))
}
