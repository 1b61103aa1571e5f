package machines

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/repeat"
	"github.com/incumbent-go/incumbent/test/kit/selection"
)

var walks = flag.Int("walks", 0, "how many random walks to take, if not as many as test/kit/selection says")

// kept has seeds that make explore found, each with the fault that it showed.
var kept = map[string][]int64{
	"TestRandomWalk": {
		614850014, // a check without a watch counted as the read that arms the watch on the predecessor
		479938096, // a node that another session was seen to own was deleted, once it could not be read any more
	},
	"TestRandomJobs": {906222742, 740849051}, // the walk had somebody set the data of another's marker
}

// someSeeds returns the seeds of the walks that a test takes: from 0 on, or from the seed of test/kit/repeat, and those
// that are kept.
func someSeeds(t *testing.T) (seeds []int64) {
	n := *walks
	if n <= 0 {
		n = selection.Of(t, "walks", 10, 30, 50)
	}
	first := int64(repeat.Seed(t, 0))
	for i := range int64(n) {
		seeds = append(seeds, first+i)
	}
	return append(seeds, kept[t.Name()]...)
}

// TestRandomWalk feeds thousands of plausible events in an order that nobody
// thought of, heals the world, demands that everybody gets where they want to,
// closes everything, and demands that nothing is left.
func TestRandomWalk(t *testing.T) {
	for _, seed := range someSeeds(t) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := newWorld(seed, nil)
			for range 1500 {
				w.move(w.use, w.operate)
				w.report(t)
			}
			w.heal()
			w.settle(t)
			w.mustProgress(t)
			w.mustVanish(t)
			w.mustReplay(t)
		})
	}
}

// report fails with the last records of the walk.
func (w *world) report(t *testing.T) {
	t.Helper()
	if len(w.wrongs) > 0 {
		t.Fatalf("%s\n%s", strings.Join(w.wrongs, "\n"), w.story(40))
	}
}

func (w *world) story(n int) string {
	var b strings.Builder
	for _, r := range w.log[max(0, len(w.log)-n):] {
		fmt.Fprintf(&b, "%s %d %s: %s --%s--> %s code=%s path=%s request=%d %v\n    %s\n", time.Duration(r.Event.At),
			r.Seq, r.Machine, r.From, r.Row, r.To, r.Event.Code, r.Event.Path, r.Event.Request, r.Event.Children,
			strings.Join(r.Effects.Strings(), "\n    "))
	}
	return b.String()
}

// move is one thing that happens; a user or an operator may do it.
func (w *world) move(use, operate func()) {
	switch n := w.dice.Intn(100); {
	case n < 45 && len(w.inbox) > 0:
		w.take()
	case n < 75 && len(w.pending) > 0:
		w.serve(false)
	case n < 82:
		w.ring(int64(w.dice.Intn(int(3 * time.Second))))
	case n < 90:
		w.attach()
	case n < 91:
		w.disconnect()
	case n < 92 && w.dice.Intn(3) == 0 && w.number > 0 && w.alive:
		w.lose()
	case n < 96:
		use()
	case n < 99:
		operate()
	default:
		w.now += int64(w.dice.Intn(int(10 * time.Second))) // the process was stopped
	}
}

func (w *world) take() {
	env := w.inbox[0]
	w.inbox = w.inbox[1:]
	w.feed(env)
}

func (w *world) lose() {
	w.disconnect()
	w.expire()
	w.post("session", events.Event{Kind: events.ConnectionLost, Session: w.number, Code: events.SessionExpired})
}

// untilDue has ring wait for the earliest timer, whenever it is.
const untilDue = -1

// ring moves the clock and rings the earliest timer that is due.
func (w *world) ring(after int64) {
	var at int64
	var id events.ID
	var number uint64
	for machine, timers := range w.due {
		for n, due := range timers {
			if at == 0 || due < at || due == at && (machine < id || machine == id && n < number) {
				at, id, number = due, machine, n
			}
		}
	}
	if after == untilDue {
		after = max(0, at-w.now)
	}
	w.now += after
	if at != 0 && at <= w.now {
		w.feed(events.Envelope{To: id, Event: events.Event{Kind: events.TimerFired, Request: number}})
	}
}

// use is something that a user does.
func (w *world) use() {
	id := everybody[w.dice.Intn(len(everybody))]
	latch := strings.HasPrefix(string(id), "latch") || id == "election"
	switch n := w.dice.Intn(14); {
	case isHold(id) && w.engine.State(id) == "":
		if n < 4 {
			w.seek(id)
		}
	case isHold(id) && n == 0:
		w.do(id, events.CommandClose, events.Event{})
	case isHold(id) && n == 1:
		w.do(id, events.CommandAwait, events.Event{})
	case n < 3 && latch:
		w.do(id, events.CommandAwait, events.Event{})
	case n < 4 && latch:
		w.do(id, events.CommandResign, events.Event{})
	case n < 5 && latch:
		w.post(id, events.Event{Kind: events.CommandCancel, Work: w.awaits(id)})
	case n < 4 && !isHold(id):
		w.do(id, events.CommandRequeue, events.Event{})
	case n < 10:
		if w.works[id] > 0 {
			w.workReturns(id)
		}
	case n == 10 && !isHold(id):
		w.do(id, events.CommandStart, events.Event{})
	case n >= 12 && !isHold(id):
		w.post(id, []events.Event{unhealthy, unhealthy, healthy}[w.dice.Intn(3)])
	case w.dice.Intn(60) == 0:
		w.do(id, events.CommandClose, events.Event{})
	}
}

// The results of health checks.
var (
	healthy   = events.Event{Kind: events.HealthChecked}
	unhealthy = events.Event{Kind: events.HealthChecked, Code: events.Unhealthy, Text: "out of disk"}
)

// awaits is the newest await of a machine that is not answered.
func (w *world) awaits(id events.ID) (newest uint64) {
	for number, kind := range w.judge.open[id] {
		if kind == events.CommandAwait {
			newest = max(newest, number)
		}
	}
	return newest
}

func (w *world) workReturns(id events.ID) {
	w.works[id]--
	text := ""
	if w.dice.Intn(3) == 0 && !w.calm {
		text = "it broke"
	}
	ev := events.Event{Kind: events.WorkReturned, Text: text}
	if strings.HasPrefix(string(id), "readwrite") && w.dice.Intn(2) == 0 && !w.calm { // and wants to read on
		w.command++
		ev.Request = w.command
	}
	w.post(id, ev)
}

// operate is something that others do to the line.
func (w *world) operate() {
	paths := w.server.Paths()
	pick := func() string { return paths[w.dice.Intn(len(paths))] }
	label := []string{LatchLabel, SelectorLabel, "n_", ReadLabel, WriteLabel}[w.dice.Intn(5)]
	switch n := w.dice.Intn(13); {
	case len(paths) == 0:
	case n == 12:
		if p := w.members["election"]; p != nil && w.stat(p.path()) != nil {
			w.usurp(p.path())
		}
	case n < 3:
		if path := pick(); strings.Count(path, "/") == 3 {
			w.remove(path)
		}
	case n < 6:
		if path := pick(); w.stat(path).EphemeralOwner != 0 {
			w.set(path)
		}
	case n < 8 && w.stat("/a/l") != nil:
		w.place("/a/l/"+label, others)
	case n < 9 && w.stat("/a/l") != nil:
		w.place("/a/l/"+label, 0)
	case n < 10 && w.stat("/a/l") != nil:
		w.put(fmt.Sprintf("/a/l/foreign-%d", w.server.Zxid()), 0)
	case n < 11:
		w.reap()
	case w.dice.Intn(5) == 0:
		w.removeAll()
	}
}

// usurp gives a node's name to another session, as a directory that was made
// anew does.
func (w *world) usurp(path string) {
	w.remove(path)
	w.put(path, others)
}

// heal ends all faults, and takes away what others left in the line.
func (w *world) heal() {
	w.calm = true
	for _, id := range everybody[:5] {
		w.post(id, healthy)
	}
	w.reap()
	for _, path := range w.server.Paths() {
		if owner := w.stat(path).EphemeralOwner; strings.Count(path, "/") == 3 && (owner == 0 || owner == others) {
			w.remove(path)
		}
	}
}

// settle lets everything run its course, all work included.
func (w *world) settle(t *testing.T) {
	t.Helper()
	for range 3000 {
		w.report(t)
		switch {
		case len(w.inbox) > 0:
			w.take()
		case len(w.pending) > 0:
			w.serve(false)
		case !w.attached:
			w.attach()
			w.ring(untilDue)
		default:
			for _, id := range everybody {
				held := isHold(id) && w.dice.Intn(3) == 0
				if (held || w.engine.State(id) == draining) && w.works[id] > 0 {
					w.workReturns(id)
				}
			}
			w.ring(untilDue)
		}
	}
}

// mustProgress demands a leader of latches, and that all others know where they are.
func (w *world) mustProgress(t *testing.T) {
	t.Helper()
	leaders, reads, writes := map[string]int{}, 0, false
	for id, p := range w.places {
		switch state := w.engine.State(id); state {
		case leading:
			leaders[p.lineLabels()[0]]++
			if p.shared {
				leaders[p.lineLabels()[0]], reads = 1, reads+1
			}
			writes = writes || p.label == WriteLabel
		case waiting, idle:
		default:
			t.Errorf("%s: still %s in a healthy world (awaits %v)\n%s", id, state, w.engine.Awaits(id), w.story(30))
		}
	}
	if writes && reads > 0 {
		t.Errorf("%d readers and a writer hold", reads)
	}
	for label, n := range leaders {
		if n != 1 {
			t.Errorf("%d leaders of %s", n, label)
		}
	}
	for id, p := range w.places {
		if w.engine.State(id) == waiting && leaders[p.lineLabels()[0]] == 0 {
			t.Errorf("%s waits, and nobody leads\n%s", id, w.story(20))
		}
	}
	for _, path := range w.server.Paths() {
		if w.stat(path).EphemeralOwner == 0 {
			continue
		}
		owned := false
		for _, p := range w.members {
			owned = owned || p.path() == path
		}
		if !owned {
			t.Errorf("%s is nobody's\n%s", path, w.story(10))
		}
	}
}

// mustVanish closes everything and demands that nothing is left.
func (w *world) mustVanish(t *testing.T) {
	t.Helper()
	for _, id := range everybody {
		if w.members[id] != nil {
			w.do(id, events.CommandClose, events.Event{})
		}
	}
	for range 200 {
		for _, id := range everybody {
			if w.works[id] > 0 {
				w.workReturns(id)
			}
		}
		for len(w.inbox)+len(w.pending) > 0 {
			if len(w.inbox) > 0 {
				w.take()
			} else {
				w.serve(false)
			}
		}
	}
	w.report(t)
	for id := range w.members {
		t.Errorf("%s is not closed but %s\n%s", id, w.engine.State(id), w.story(20))
	}
	for _, path := range w.server.Paths() {
		if w.stat(path).EphemeralOwner != 0 {
			t.Errorf("%s is left behind", path)
		}
	}
	w.do("session", events.CommandClose, events.Event{})
	for len(w.inbox) > 0 {
		w.take()
	}
	w.report(t)
	if got := w.engine.Machines(); len(got) > 0 {
		t.Errorf("machines are left: %v", got)
	}
}

// mustReplay feeds the walk's own log to fresh machines.
func (w *world) mustReplay(t *testing.T) {
	t.Helper()
	var b strings.Builder
	out, err := events.NewWriter(&b, events.Header{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range w.log {
		if err := out.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
	sum, err := engine.Replay(strings.NewReader(b.String()), 0, Recipes()...)
	if err != nil || sum.Records != uint64(len(w.log)) {
		t.Errorf("replayed %d of %d records: %v", sum.Records, len(w.log), err)
	}
}
