package wire

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/incumbent-go/incumbent"
)

// tick is the ensemble's tickTime, and Config.Tick.
const tick = 2 * time.Second

// recordsEvery says in which worlds the clients record logs: reading them takes as long as all else.
const recordsEvery = 10

// plan is what a seed makes of a world. Times count from its beginning.
type plan struct {
	seed        uint64
	clients     int
	timeout     time.Duration // of the sessions
	rideOut     bool
	records     bool          // the clients record logs
	storm       time.Duration // how long faults go on
	roughness   int           // how many frames in a thousand are hit by one kind of fault
	refuseDials bool
	misreports  int  // how many writes in a thousand are answered by a code that says nothing
	old         bool // the server is one before 3.5.3, which ends a connection that asks for a container
	neighbours  int  // programs without this library that share the lock
	job         bool // the clients are instances of a job, too
	node        bool // the clients are in an election on one node, too
	shards      bool // the clients share shards, too
	plain       bool // the lock's names have no GUID
	login       bool // the server demands a login, see loggingIn
	outages     []outage
	acts        []act
}

// lock returns the options of the mutex. Without a GUID its names are those of the simplest neighbours.
func (p plan) lock() incumbent.MutexOptions {
	if p.plain {
		return incumbent.MutexOptions{Plain: true, Prefix: "lock-"}
	}
	return incumbent.MutexOptions{}
}

// loggingIn returns the plan for a server that demands a login by SASL. Neighbours have none.
func (p plan) loggingIn() plan {
	p.login, p.neighbours = true, 0
	return p
}

// outage is a time in which a server does not reach the ensemble, or a client no server.
type outage struct {
	from, to       time.Duration
	server, client int // -1: none
}

func (o outage) String() string {
	whose := fmt.Sprintf("server %d does not reach the ensemble", o.server)
	if o.client >= 0 {
		whose = fmt.Sprintf("client %c reaches no server", 'a'+o.client)
	}
	return fmt.Sprintf("from %s to %s %s", o.from, o.to, whose)
}

// act is what an operator does, or what happens to a process, at a time.
type act struct {
	at     time.Duration
	kind   actKind
	client int
	long   time.Duration
}

type actKind string

const (
	deletePlace   actKind = "delete the first place in line"
	deleteDir     actKind = "delete a watched directory"
	createDir     actKind = "create the watched directory"
	expireSession actKind = "expire a session"
	restart       actKind = "restart the server"
	holdLoop      actKind = "hold the loop"
	breakLink     actKind = "cut a connection"
	standStill    actKind = "stop a process"
)

var actKinds = []actKind{deletePlace, deleteDir, createDir, createDir, expireSession, restart, holdLoop, holdLoop,
	breakLink, breakLink, standStill}

func newPlan(seed uint64) plan {
	d := dice(mix(seed)).named("plan")
	p := plan{
		seed: seed, clients: 2 + d.named("clients").below(2),
		timeout:     []time.Duration{4 * time.Second, 6 * time.Second, 8 * time.Second}[d.named("timeout").below(3)],
		rideOut:     d.named("ride out").chance(400),
		records:     seed%recordsEvery == 1,
		storm:       d.named("storm").between(12*time.Second, 30*time.Second),
		roughness:   []int{5, 15, 40}[d.named("roughness").below(3)],
		refuseDials: d.named("refuse").chance(500),
		misreports:  []int{0, 0, 20, 100}[d.named("misreports").below(4)],
		old:         d.named("old").chance(250),
		job:         seed%10 == 4 || seed%10 == 9,
		node:        seed%10 == 0 || seed%10 == 5,
		shards:      seed%10 == 6 || seed%10 == 8,
		plain:       seed%10 == 2 || seed%10 == 3,
	}
	if seed%10 == 2 || seed%10 == 7 {
		p.neighbours = 1 + d.named("neighbours").below(2)
		p.misreports = 0 // a neighbour takes such a code for a refusal, and leaves a node in the lock
	}
	for i := range d.named("outages").below(4) {
		o := d.named("outage").about(uint64(i))
		from := o.named("from").between(0, p.storm-5*time.Second)
		out := outage{from: from, to: from + o.named("long").between(time.Second, 2*p.timeout), server: -1, client: -1}
		if o.named("whose").chance(600) {
			out.server = o.named("server").below(servers)
		} else {
			out.client = o.named("client").below(p.clients)
		}
		out.to = min(out.to, p.storm)
		p.outages = append(p.outages, out)
	}
	for i := range d.named("acts").below(8) {
		a := d.named("act").about(uint64(i))
		p.acts = append(p.acts, act{
			at: a.named("at").between(0, p.storm), kind: actKinds[a.named("kind").below(len(actKinds))],
			client: a.named("client").below(p.clients),
			long:   a.named("long").between(100*time.Millisecond, 2*p.timeout),
		})
	}
	slices.SortFunc(p.acts, func(a, b act) int { return cmp.Compare(a.at, b.at) })
	for _, a := range p.acts { // a process that stands still exchanges nothing
		if a.kind == standStill {
			p.outages = append(p.outages,
				outage{from: a.at, to: min(a.at+a.long, p.storm), server: -1, client: a.client})
		}
	}
	return p
}
