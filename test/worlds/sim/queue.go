package sim

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// queuePath is the queue in the worlds of producer.go and consumer.go.
const queuePath = "/app/queue"

var (
	queueLocks       = machines.LocksOf(queuePath)
	queueDeadLetters = machines.DeadLettersOf(queuePath)
	queueMarkers     = machines.ProducersOf(queuePath)
	queueDirs        = []string{queuePath, queueLocks, queueDeadLetters, queueMarkers}
)

// queueState is the queue of a world: how it is used, and what the checks know of it.
type queueState struct {
	kind           machines.ItemKind
	atMostOnce     bool // it is consumed at most once
	bound          int  // 0 is no bound
	putsWait       bool
	tries          int
	items          map[string]*item // by their data
	nodes          map[string]*item // by the paths that they have or had
	lockOwners     map[string]*user // by the paths of the locks that exist
	markers        map[string]*user // by the paths that they have or had
	brokenLocks    map[string]bool  // locks that others deleted: two consumers may think that they have them
	refusals       map[string]int   // how many requests of a machine were refused in one second
	consumers      int
	namesReused    bool // names were used again, after somebody had deleted the directory
	markersChanged bool // others have written, hidden or deleted markers
	rolledBack     bool // the data were replaced by older ones
}

// item is one that a producer was asked to put.
type item struct {
	name         string // its data
	by           *user
	serial       int          // its number among those of its producer
	rank         int64        // the priority, or when it is due
	notBefore    int64        // of a delay: it is not due before, by the leaders' clocks
	puts         int          // how often it was put
	code         *events.Code // the answer of its put
	path         string
	number       int64 // the number in its node's name
	zxid         int64
	deliveries   int    // how often it was delivered
	deletedBy    *user  // the consumer that deleted it
	endedBy      string // why it is not in the queue any more
	lossReported bool   // somebody was told that it may be lost
}

// queueHandle is what a program knows of its handle of the queue.
type queueHandle struct {
	items          map[uint64]*item // of a producer, by payload, until they are answered
	puts           map[uint64]*pendingPut
	lastPut        uint64 // the put that began last
	serial         int    // of its items
	lastCommitted  *item  // the item that was put last
	outcomeUnknown bool   // the outcome of a put is unknown: nobody waits for the end of the old marker

	readData       []byte // the data that a consumer has read
	readBy         uint64 // the request that read them
	current        *delivery
	lastDeliveries map[*item]*delivery // the last of each item
	locks          map[string]string   // path → how the lock ended, "" while it exists
	lists          map[uint64][]string // what servers answered to its listings, by request
	listed         []*item             // the items of the last listing, in order
	lastDelivered  *item               // the one of these that was delivered last
}

// pendingPut is a put without an answer.
type pendingPut struct {
	items      []*item
	generation int // the ensemble's generation
}

// delivery is a delivered item.
type delivery struct {
	*item
	path      string
	try       int
	returned  bool
	succeeded bool
	lost      bool // its lock is gone, as the machine knows
	withdrawn bool // its lock is gone, as the program knows
}

// newQueue creates the queue of the world, if there is none yet.
func (w *harness) newQueue() *queueState {
	if w.queue != nil {
		return w.queue
	}
	d := w.Dice("queue")
	q := &queueState{kind: []machines.ItemKind{machines.FIFO, machines.ByPriority, machines.ByDue,
		machines.ByID}[d.IntN(4)],
		atMostOnce: world.OneIn(d, 3), tries: d.IntN(4), items: map[string]*item{}, nodes: map[string]*item{},
		lockOwners: map[string]*user{},
		markers:    map[string]*user{}, brokenLocks: map[string]bool{}, refusals: map[string]int{}}
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

// putOptions returns what producers of the queue are opened with.
func (q *queueState) putOptions() map[string]string {
	return map[string]string{machines.OptionKind: string(q.kind), machines.OptionBound: fmt.Sprint(q.bound),
		machines.OptionWaits: fmt.Sprint(q.putsWait)}
}

// takeOptions returns what consumers of the queue are opened with.
func (q *queueState) takeOptions() map[string]string {
	return map[string]string{machines.OptionKind: string(q.kind), machines.OptionOnce: fmt.Sprint(q.atMostOnce),
		machines.OptionTries: fmt.Sprint(q.tries), machines.OptionBackoff: "bounded/-1/100ms/2s",
		machines.OptionRefresh: "3"}
}

// dueTolerance returns by how many milliseconds an item may be early or late: the
// servers' clocks differ, and those of hosts drift between two reads of a leader's clock,
// or are set.
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

// queueFault has an operator do what they do to queues only.
func (w *harness) queueFault(d *rand.Rand) {
	switch items := w.queue.itemNames(w); {
	case world.OneIn(d, 4): // the dead letters go, and cannot be created again
		w.deleteTree(queueDeadLetters)
		w.takeRights("/app", zkmem.PermCreate)
	case world.OneIn(d, 3) && len(items) > 0: // an item gets a child, and cannot be deleted
		w.operatorFault(zkmem.Op{Code: zkmem.OpCreate, Path: queuePath + "/" + items[d.IntN(len(items))] + "/note",
			ACL: zkmem.OpenACL()})
	default:
		w.takeRights(queueDirs[d.IntN(len(queueDirs))],
			[]int32{zkmem.PermRead, zkmem.PermCreate, zkmem.PermDelete}[d.IntN(3)])
	}
}

// removeItemChildren deletes the children of items.
func (w *harness) removeItemChildren() {
	for _, name := range w.queue.itemNames(w) {
		for _, child := range w.ens.Children(queuePath + "/" + name) {
			w.deleteTree(queuePath + "/" + name + "/" + child)
		}
	}
}

// itemNames returns the names of the items in the queue.
func (q *queueState) itemNames(w *harness) (names []string) {
	for _, name := range w.ens.Children(queuePath) {
		if _, fits := q.kind.Parse(name); fits {
			names = append(names, name)
		}
	}
	return names
}

// inOrder compares items by the order in which they are delivered. There is no order
// of items whose counter has passed its end.
func inOrder(a, b *item) int {
	if counterEnded(a) || counterEnded(b) {
		return cmp.Compare(a.rank, b.rank)
	}
	return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.number, b.number))
}

func counterEnded(i *item) bool { return i.number < 0 || i.number == 1<<31-1 }

// mayStay reports whether a persistent node is an item, a dead letter or a marker.
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

// activeConsumers returns the consumers that go on.
func (w *harness) activeConsumers() (all []*user) {
	for _, u := range w.usersOf("consumer") {
		if state := u.c.Engine().State(u.id); !u.closing && !u.c.leaving && !u.c.Dead() && state != "" &&
			state != "latent" {
			all = append(all, u)
		}
	}
	return all
}
