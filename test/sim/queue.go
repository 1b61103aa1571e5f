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
const goods = "/app/queue"

var (
	goodsLocks   = machines.LocksOf(goods)
	goodsDead    = machines.DeadLettersOf(goods)
	goodsMarkers = machines.ProducersOf(goods)
	goodsRooms   = []string{goods, goodsLocks, goodsDead, goodsMarkers}
)

// stock is the queue of a world: how it is used, and what is known of it.
type stock struct {
	kind      machines.ItemKind
	once      bool // it is consumed at most once
	bound     int  // 0: none
	waits     bool
	tries     int
	items     map[string]*item // by their data
	nodes     map[string]*item // by their paths, those that are there, and those that were
	lockers   map[string]*user // by paths of locks, those that are there
	markers   map[string]*user // by their paths, those that were there, too
	broken    map[string]bool  // locks that others have deleted: two may think that they have them
	busy      map[string]int   // requests of a machine in one second that were refused
	consumers int
	reused    bool // names came again, after somebody had deleted the directory
	spoilt    bool // others have written, hidden or deleted markers
	void      bool // history went back
}

// item is one that somebody was asked to put.
type item struct {
	name   string // its data
	by     *user
	serial int          // among those of its producer
	rank   int64        // the priority, or when it is due
	least  int64        // of a delay: not due before, by the leaders' clocks
	made   int          // how often it was put
	code   *events.Code // the answer
	path   string
	number int64 // of its node's name
	zxid   int64
	handed int    // how often it was handed over
	taker  *user  // who deleted it
	end    string // why it is not in the queue any more
	told   bool   // somebody was told that it may be lost
}

// bench is what the program knows of a handle of the queue.
type bench struct {
	items   map[uint64]*item // of a producer, by payload, until they are answered
	puts    map[uint64]*order
	asked   uint64 // the put that began last
	serial  int    // of its items
	last    *item  // that it put
	doubted bool   // a put's outcome is not known: nobody waits for the end of the old marker

	data   []byte // that a consumer has read
	number uint64 // by which request
	one    *delivery
	had    map[*item]*delivery // the last of each
	locks  map[string]string   // by path: how it ended, "" while it is there
	lists  map[uint64][]string // what servers answered to its listings, by request
	listed []*item             // at the last look, in order
	before *item               // of these, the last that was handed over
}

// order is a put that is not answered yet.
type order struct {
	items []*item
	life  int // of the ensemble
}

// delivery is what a consumer was handed last.
type delivery struct {
	*item
	path      string
	try       int
	returned  bool
	well      bool
	lost      bool // its lock, as the machine knows
	withdrawn bool // as the program knows
}

// shelve makes the queue of a world that is to have one.
func (w *harness) shelve() *stock {
	if w.stock != nil {
		return w.stock
	}
	d := w.Dice("queue")
	q := &stock{kind: []machines.ItemKind{machines.FIFO, machines.ByPriority, machines.ByDue, machines.ByID}[d.IntN(4)],
		once: world.OneIn(d, 3), tries: d.IntN(4), items: map[string]*item{}, nodes: map[string]*item{}, lockers: map[string]*user{},
		markers: map[string]*user{}, broken: map[string]bool{}, busy: map[string]int{}}
	if world.OneIn(d, 3) {
		q.bound, q.waits = 2+d.IntN(5), world.OneIn(d, 2)
	}
	if world.OneIn(d, 2) {
		for _, s := range w.ens.Servers() {
			s.SetClockAhead(d.Int64N(w.Timeout.Milliseconds()/4 + 1))
		}
	}
	w.stock = q
	return q
}

// options are what producers and consumers of the queue are opened with.
func (q *stock) options() map[string]string {
	return map[string]string{"kind": string(q.kind), "once": fmt.Sprint(q.once), "bound": fmt.Sprint(q.bound), "waits": fmt.Sprint(q.waits),
		"tries": fmt.Sprint(q.tries), "backoff": "bounded/-1/100ms/2s", "refresh": "3"}
}

// blur is by how many milliseconds a due time may be missed: the servers' clocks
// differ, and those of hosts run wrong between two looks at a leader's, or are set.
func (w *harness) blur() int64 {
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
func (w *harness) interfere(d *rand.Rand) {
	switch items := w.stock.left(w); {
	case world.OneIn(d, 4): // the dead letters go, and cannot come again
		w.clear(goodsDead)
		w.forbid("/app", zkmem.PermCreate)
	case world.OneIn(d, 3) && len(items) > 0: // an item gets a child, and cannot go
		w.meddle(zkmem.Op{Code: zkmem.OpCreate, Path: goods + "/" + items[d.IntN(len(items))] + "/note", ACL: zkmem.OpenACL()})
	default:
		w.forbid(goodsRooms[d.IntN(len(goodsRooms))], []int32{zkmem.PermRead, zkmem.PermCreate, zkmem.PermDelete}[d.IntN(3)])
	}
}

// unburden takes away what stands below items.
func (w *harness) unburden() {
	for _, name := range w.stock.left(w) {
		for _, child := range w.ens.Children(goods + "/" + name) {
			w.clear(goods + "/" + name + "/" + child)
		}
	}
}

// left are the names of the items that are in the queue.
func (q *stock) left(w *harness) (names []string) {
	for _, name := range w.ens.Children(goods) {
		if _, fits := q.kind.Parse(name); fits {
			names = append(names, name)
		}
	}
	return names
}

// inOrder is the order in which items are to be had. Where the counter has passed its
// end, there is none.
func inOrder(a, b *item) int {
	if worn(a) || worn(b) {
		return cmp.Compare(a.rank, b.rank)
	}
	return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.number, b.number))
}

func worn(i *item) bool { return i.number < 0 || i.number == 1<<31-1 }

// lastsInQueue reports whether a persistent node is a program's.
func lastsInQueue(w *harness, dir, name string) bool {
	switch dir {
	case goods, goodsDead:
		_, fits := w.stock.kind.Parse(name)
		return fits
	case goodsMarkers:
		return w.stock.markers[dir+"/"+name] != nil
	}
	return false
}

// consumers are those that go on consuming.
func (w *harness) consumers() (all []*user) {
	for _, u := range w.users("consumer") {
		if state := u.c.Engine().State(u.id); !u.closing && !u.c.leaving && !u.c.Dead() && state != "" && state != "latent" {
			all = append(all, u)
		}
	}
	return all
}
