package sim

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/world"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// goods is the queue of the worlds that producer.go and consumer.go live in.
const queuePath = "/app/queue"

var (
	queueLocks       = machines.LocksOf(queuePath)
	queueDeadLetters = machines.DeadLettersOf(queuePath)
	queueMarkers     = machines.ProducersOf(queuePath)
	queueDirs        = []string{queuePath, queueLocks, queueDeadLetters, queueMarkers}
)

// stock is the queue of a world: how it is used, and what is known of it.
type queueState struct {
	kind           machines.ItemKind
	atMostOnce     bool // it is consumed at most once
	bound          int  // 0: none
	putsWait       bool
	tries          int
	items          map[string]*item // by their data
	nodes          map[string]*item // by their paths, those that are there, and those that were
	lockOwners     map[string]*user // by paths of locks, those that are there
	markers        map[string]*user // by their paths, those that were there, too
	brokenLocks    map[string]bool  // locks that others have deleted: two may think that they have them
	refusals       map[string]int   // requests of a machine in one second that were refused
	consumers      int
	namesReused    bool // names came again, after somebody had deleted the directory
	markersChanged bool // others have written, hidden or deleted markers
	rolledBack     bool // history went back
}

// item is one that somebody was asked to put.
type item struct {
	name         string // its data
	by           *user
	serial       int          // among those of its producer
	rank         int64        // the priority, or when it is due
	notBefore    int64        // of a delay: not due before, by the leaders' clocks
	puts         int          // how often it was put
	code         *events.Code // the answer
	path         string
	number       int64 // of its node's name
	zxid         int64
	deliveries   int    // how often it was handed over
	deletedBy    *user  // who deleted it
	end          string // why it is not in the queue any more
	lossReported bool   // somebody was told that it may be lost
}

// bench is what the program knows of a handle of the queue.
type queueHandle struct {
	items          map[uint64]*item // of a producer, by payload, until they are answered
	puts           map[uint64]*pendingPut
	lastPut        uint64 // the put that began last
	serial         int    // of its items
	lastCommitted  *item  // that it put
	outcomeUnknown bool   // a put's outcome is not known: nobody waits for the end of the old marker

	readData       []byte // that a consumer has read
	readBy         uint64 // by which request
	current        *delivery
	lastDeliveries map[*item]*delivery // the last of each
	locks          map[string]string   // by path: how it ended, "" while it is there
	listed         []*item             // at the last look, in order
	before         *item               // of these, the last that was handed over
}

// order is a put that is not answered yet.
type pendingPut struct {
	items []*item
	life  int // of the ensemble
}

// delivery is what a consumer was handed last.
type delivery struct {
	*item
	path      string
	try       int
	returned  bool
	succeeded bool
	lost      bool // its lock, as the machine knows
	withdrawn bool // as the program knows
}

// shelve makes the queue of a world that is to have one.
func (w *harness) newQueue() *queueState {
	if w.queue != nil {
		return w.queue
	}
	d := w.Dice("queue")
	q := &queueState{kind: []machines.ItemKind{machines.FIFO, machines.ByPriority, machines.ByDue, machines.ByID}[d.IntN(4)],
		atMostOnce: world.OneIn(d, 3), tries: d.IntN(4), items: map[string]*item{}, nodes: map[string]*item{}, lockOwners: map[string]*user{},
		markers: map[string]*user{}, brokenLocks: map[string]bool{}, refusals: map[string]int{}}
	if world.OneIn(d, 3) {
		q.bound, q.putsWait = 2+d.IntN(5), world.OneIn(d, 2)
	}
	if world.OneIn(d, 2) {
		for _, s := range w.ens.Servers() {
			s.SetClockAhead(d.Int64N(w.Timeout.Milliseconds()/4 + 1))
		}
	}
	w.queue = q
	return q
}

// options are what producers and consumers of the queue are opened with.
func (q *queueState) options() map[string]string {
	return map[string]string{"kind": string(q.kind), "once": fmt.Sprint(q.atMostOnce), "bound": fmt.Sprint(q.bound), "waits": fmt.Sprint(q.putsWait),
		"tries": fmt.Sprint(q.tries), "backoff": "bounded/-1/100ms/2s", "refresh": "3"}
}

// blur is by how many milliseconds a due time may be missed: the servers' clocks
// differ, and those of hosts run wrong between two looks at a leader's, or are set.
func (w *harness) dueTolerance() int64 {
	most := int64(2)
	for _, s := range w.ens.Servers() {
		most = max(most, s.ClockAhead()+2)
	}
	if w.has("drift") {
		most += time.Minute.Milliseconds() * 2 / 100
	}
	if w.has("wall-clock jump") {
		most += w.Length.Milliseconds()
	}
	return most
}

// interfere is what people do to a queue in particular.
func (w *harness) queueFault(d *rand.Rand) {
	switch items := w.queue.itemNames(w); {
	case world.OneIn(d, 4): // the dead letters go, and cannot come again
		w.deleteTree(queueDeadLetters)
		w.takeRights("/app", zkmem.PermCreate)
	case world.OneIn(d, 3) && len(items) > 0: // an item gets a child, and cannot go
		w.operatorFault(zkmem.Op{Code: zkmem.OpCreate, Path: queuePath + "/" + items[d.IntN(len(items))] + "/note", ACL: zkmem.OpenACL()})
	default:
		w.takeRights(queueDirs[d.IntN(len(queueDirs))], []int32{zkmem.PermRead, zkmem.PermCreate, zkmem.PermDelete}[d.IntN(3)])
	}
}

// unburden takes away what stands below items.
func (w *harness) removeItemChildren() {
	for _, name := range w.queue.itemNames(w) {
		for _, child := range w.ens.Children(queuePath + "/" + name) {
			w.deleteTree(queuePath + "/" + name + "/" + child)
		}
	}
}

// left are the names of the items that are in the queue.
func (q *queueState) itemNames(w *harness) (names []string) {
	for _, name := range w.ens.Children(queuePath) {
		if _, fits := q.kind.Parse(name); fits {
			names = append(names, name)
		}
	}
	return names
}

// inOrder is the order in which items are to be had. Where the counter has passed its
// end, there is none.
func inOrder(a, b *item) int {
	if counterEnded(a) || counterEnded(b) {
		return cmp.Compare(a.rank, b.rank)
	}
	return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.number, b.number))
}

func counterEnded(i *item) bool { return i.number < 0 || i.number == 1<<31-1 }

// lastsInQueue reports whether a persistent node is a program's.
func (consumerProgram) mayStay(w *harness, dir, name string) bool {
	switch dir {
	case queuePath, queueDeadLetters:
		_, fits := w.queue.kind.Parse(name)
		return fits
	case queueMarkers:
		return w.queue.markers[dir+"/"+name] != nil
	}
	return false
}

// consumers are those that go on consuming.
func (w *harness) activeConsumers() (all []*user) {
	for _, u := range w.usersOf("consumer") {
		if state := u.c.Engine().State(u.id); !u.closing && !u.c.leaving && !u.c.Dead() && state != "" && state != "latent" {
			all = append(all, u)
		}
	}
	return all
}
