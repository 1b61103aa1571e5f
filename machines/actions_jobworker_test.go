package machines

import (
	"slices"
	"testing"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// workerOf returns an instance of a job, with a latch and with what it has read.
func workerOf(t *testing.T, seen map[jobLook]viewedNode) *jobWorker {
	t.Helper()
	w, err := newJobWorker(events.Event{Path: "/j", Seed: "s", Options: map[string]string{"instance": "me"}})
	if err != nil {
		t.Fatal(err)
	}
	w.config.Total, w.latch, w.latchNode = 3, "latch", "/j/latch/x"
	see(&w.view, seen)
	return w
}

// see sets what has been read.
func see(v *jobView, seen map[jobLook]viewedNode) {
	v.index = map[string]int{}
	for look, node := range seen {
		node.look, node.valid, node.exists = look, true, true
		v.index[look.key()] = len(v.nodes)
		v.nodes = append(v.nodes, node)
	}
}

// verbs returns the operations of the one multi among effects: what they do, and to which nodes.
func verbs(t *testing.T, all []events.Effect) (ops []string) {
	t.Helper()
	multis := found[events.Multi](all)
	if len(multis) != 1 {
		t.Fatalf("%d multis, want one", len(multis))
	}
	for _, op := range multis[0].Ops {
		ops = append(ops, op.Verb+" "+op.Path)
	}
	return ops
}

// Only where the job has failover are items offered to others, and left to those that have taken them over.
func TestFailoverIsTheJobsChoice(t *testing.T) {
	w := workerOf(t, nil)
	seen := map[jobLook]viewedNode{
		{JobOffers("/j"), jobNames}:           {},
		{w.item(0, ItemInstance), jobData}:    {data: "me"},
		{w.item(1, ItemInstance), jobData}:    {data: "me"},
		{w.item(0, ""), jobNames}:             {names: []string{ItemInstance, ItemFailover}},
		{w.item(1, ""), jobNames}:             {names: []string{ItemInstance}},
		{w.item(2, ItemFailovering), jobData}: {data: "me", version: 4},
		{w.item(2, ""), jobNames}:             {names: []string{ItemFailovering}},
	}
	for failover, want := range map[bool][]int{true: {1}, false: {0, 1}} {
		w := workerOf(t, seen)
		w.config.Failover, w.orphans = failover, []int{2}
		if got := w.ready(); !slices.Equal(got, want) {
			t.Errorf("failover %t: the items %v can run, want %v", failover, got, want)
		}
		ops := verbs(t, effects(t, func(out *engine.Outbox) { w.offer(events.Event{}, out) }))
		cleared := slices.Contains(ops, "delete "+w.item(2, ItemFailovering))
		if offered := slices.Contains(ops, "create "+JobFailoverItem("/j", 2)); offered != failover || !cleared {
			t.Errorf("failover %t: it does %q", failover, ops)
		}
	}
}

// An item is offered again once, and the next one after it.
func TestAnItemIsOfferedOnce(t *testing.T) {
	w := workerOf(t, nil)
	w.write, w.orphans = offering, []int{1, 2}
	effects(t, func(out *engine.Outbox) { w.noteWritten(events.Event{}, out) })
	if !slices.Equal(w.orphans, []int{2}) {
		t.Errorf("it offers %v next, want the item 2", w.orphans)
	}
}

// An item is taken over although somebody has written to its offer.
func TestAnOfferOfAnyVersionIsTaken(t *testing.T) {
	w := workerOf(t, nil)
	see(&w.view, map[jobLook]viewedNode{
		{JobOffers("/j"), jobNames}: {names: []string{JobItemName(1)}},
		{w.item(1, ""), jobNames}:   {},
	})
	all := found[events.Multi](effects(t, func(out *engine.Outbox) { w.takeOver(events.Event{}, out) }))
	offer := JobFailoverItem("/j", 1)
	if len(all) != 1 || !slices.ContainsFunc(all[0].Ops, func(o events.Op) bool {
		return o.Verb == "delete" && o.Path == offer && o.Version == -1
	}) {
		t.Errorf("it sends %+v, want the deletion of any version of %s", all, offer)
	}
}

// The right to take over is given back, whether the item was taken or somebody else was faster.
func TestTheRightToTakeOverIsGivenBack(t *testing.T) {
	for name, end := range map[string]func(*jobWorker, events.Event, *engine.Outbox){
		"taken": (*jobWorker).noteWritten, "outrun": (*jobWorker).noteOutrun} {
		w := workerOf(t, nil)
		w.write, w.items = takingOver, []int{1}
		got := tells(t, func(out *engine.Outbox) { end(w, events.Event{}, out) })
		if !slices.Contains(got, "latch command.close") || w.latch != "" {
			t.Errorf("%s: it tells %v, and the latch is %q", name, got, w.latch)
		}
	}
}

// The handle is notified of another session's node with the own id, and when that is over.
func TestAnOccupiedNameIsNotified(t *testing.T) {
	w := workerOf(t, nil)
	occupied := func() (n int) {
		all := effects(t, func(out *engine.Outbox) { w.reportOccupied(events.Event{}, out) })
		return len(found[events.Notify](all))
	}
	if first, again := occupied(), occupied(); first != 1 || again != 0 || w.series().code != events.Occupied {
		t.Errorf("%d notices, then %d, of %s", first, again, w.series().code)
	}
	w.items = []int{1}
	all := found[events.Notify](effects(t, func(out *engine.Outbox) { w.run(events.Event{}, out) }))
	recovered := slices.ContainsFunc(all, func(n events.Notify) bool { return n.What == events.Recovered })
	if !recovered || w.series().code != events.OK {
		t.Errorf("items run, and the failure is still %s: %v", w.series().code, all)
	}
}

// The mark of an instance that has ended stays in the view, and no longer counts once its item does not have it.
func TestAMarkThatIsGoneKeepsNobodyFromAnItem(t *testing.T) {
	const item = 1
	for child, want := range map[string]bool{ItemRunning: true, ItemInstance: false} {
		w := workerOf(t, nil)
		mark := w.item(item, ItemRunning)
		see(&w.view, map[jobLook]viewedNode{
			{w.item(item, ""), jobNames}: {names: []string{child}},
			{mark, jobData}:              {data: "another", owner: 7},
		})
		w.view.spoil(mark)
		if got := w.runsElsewhere(item); got != want {
			t.Errorf("the item has the child %s: it runs elsewhere %t, want %t", child, got, want)
		}
	}
}

// Each item that was taken over is read again before it runs, if it is the only one, too.
func TestAnItemThatWasTakenOverIsReadBeforeItRuns(t *testing.T) {
	for _, taken := range [][]int{{1}, {1, 2}} {
		w := workerOf(t, nil)
		w.taken = taken
		for _, n := range taken {
			if look := (jobLook{w.item(n, ""), jobNames}); !slices.Contains(w.runLooks(nil), look) {
				t.Errorf("of %v that were taken over, %s is not read", taken, look.path)
			}
		}
	}
}
