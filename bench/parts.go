package main

import (
	"time"

	"github.com/incumbent-go/incumbent/bench/driver"
	"github.com/incumbent-go/incumbent/bench/peer"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
)

// part is one run of the comparison: its servers, its network, and what is played there.
type part struct {
	name      string
	title     string
	servers   int             // of each ensemble
	release   realzk.Release  // of ZooKeeper's servers
	delays    []time.Duration // added to each round trip, one after the other; none is the loopback
	counts    bool            // whether requests and bytes are counted, in a round of their own
	warm      int             // rounds that count nothing
	scenarios []driver.Scenario
	double    bool // instead of scenarios: see package double
}

// The programs.
const (
	incumbent = "incumbent"
	zookeeper = "zookeeper"
	curator   = "curator"
	// Curator of Debian's packages, which is older.
	curatorDebian = "curator-debian"
	kazoo         = "kazoo"
	etcd          = "etcd"
)

// The entrants. Ratios are to lock and to floor.
var (
	floor = driver.Entrant{Program: zookeeper, Recipe: "floor", Label: "floor: go-zookeeper's requests"}
	lock  = driver.Entrant{Program: zookeeper, Recipe: "lock", Label: "go-zookeeper `Lock`"}

	latch    = driver.Entrant{Program: incumbent, Recipe: "latch", Label: "**incumbent** `Latch`"}
	mutex    = driver.Entrant{Program: incumbent, Recipe: "mutex", Label: "**incumbent** `Mutex`"}
	selector = driver.Entrant{Program: incumbent, Recipe: "selector", Label: "**incumbent** `Selector`"}

	curatorLatch    = driver.Entrant{Program: curator, Recipe: "latch", Label: "Curator `LeaderLatch`"}
	curatorSelector = driver.Entrant{Program: curator, Recipe: "selector", Label: "Curator `LeaderSelector`"}
	curatorMutex    = driver.Entrant{Program: curator, Recipe: "mutex", Label: "Curator `InterProcessMutex`"}

	oldLatch = driver.Entrant{Program: curatorDebian, Recipe: "latch", Label: "Curator `LeaderLatch`, Debian's"}
	oldMutex = driver.Entrant{Program: curatorDebian, Recipe: "mutex", Label: "Curator `InterProcessMutex`, Debian's"}

	kazooLock    = driver.Entrant{Program: kazoo, Recipe: "lock", Label: "kazoo `Lock`"}
	etcdElection = driver.Entrant{Program: etcd, Recipe: "election", Label: "etcd `Election`"}
)

var (
	all = []driver.Entrant{
		floor, lock, latch, mutex, selector, curatorLatch, curatorMutex, curatorSelector, oldLatch, oldMutex, kazooLock,
		etcdElection,
	}
	pairs = []driver.Entrant{
		floor, lock, latch, mutex, curatorLatch, curatorMutex, oldLatch, oldMutex, kazooLock, etcdElection,
	}
	lines    = []driver.Entrant{floor, lock, latch, mutex, curatorLatch, curatorMutex, kazooLock}
	own      = []driver.Entrant{floor, lock, latch, mutex, curatorLatch, etcdElection}
	thousand = []driver.Entrant{floor, lock, latch, curatorLatch}
	ones     = []driver.Entrant{lock, latch, curatorLatch, kazooLock, etcdElection}
)

func parts() []part {
	return []part{
		{
			name: "quick", title: "One server, the loopback", servers: 1, counts: true, warm: 2,
			scenarios: []driver.Scenario{
				{Name: peer.Cycle, N: 150, Entrants: all},
				{Name: peer.HandOver, N: 30, Entrants: pairs},
				{Name: peer.Line, N: 100, Entrants: lines},
			},
		},
		{
			name: "newest", title: "One server of ZooKeeper " + string(realzk.Newest) + ", the loopback", servers: 1,
			release: realzk.Newest, warm: 2,
			scenarios: []driver.Scenario{
				{Name: peer.Cycle, N: 150, Entrants: all},
				{Name: peer.HandOver, N: 30, Entrants: pairs},
			},
		},
		{
			name: "network", title: "One server, a network", servers: 1, warm: 2,
			delays: []time.Duration{time.Millisecond, 5 * time.Millisecond},
			scenarios: []driver.Scenario{
				{Name: peer.Cycle, N: 30, Entrants: all},
				{Name: peer.HandOver, N: 15, Entrants: pairs},
				{Name: peer.Line, N: 50, Entrants: lines},
			},
		},
		{
			name: "ensemble", title: "Three servers, the loopback", servers: 3, warm: 2,
			scenarios: []driver.Scenario{
				{Name: peer.Cycle, N: 100, Entrants: all},
				{Name: peer.HandOver, N: 30, Entrants: pairs},
				{Name: peer.Line, N: 100, Entrants: lines},
			},
		},
		{
			name: "scale", title: "Many", servers: 1, counts: true, warm: 1,
			scenarios: []driver.Scenario{
				{Name: peer.Line, N: 1000, Entrants: lines},
				{Name: peer.LineOwn, N: 300, Entrants: own},
				{Name: peer.Fresh, N: 10_000, Entrants: thousand},
				{Name: peer.Existing, N: 10_000, Entrants: thousand},
				{Name: peer.Release, N: 10_000, Entrants: thousand},
				{Name: peer.Clients, N: 1000, Entrants: ones, Alone: true},
			},
		},
		{name: "double", title: "The in-memory ZooKeeper and real ones, the loopback", servers: 1, double: true},
		{
			name: "recipes", title: "Other recipes, one server, the loopback", servers: 1, counts: true, warm: 2,
			scenarios: recipes(100),
		},
	}
}

// recipes are cycles of recipes that go-zookeeper does not have: its lock is only the unit.
func recipes(n int) (all []driver.Scenario) {
	for _, r := range []struct{ recipe, ours, curator, kazoo string }{
		{"semaphore", "Semaphore", "InterProcessSemaphoreV2", "Semaphore"},
		{"read", "ReadWriteLock.RLock", "InterProcessReadWriteLock.readLock", "ReadLock"},
		{"write", "ReadWriteLock.Lock", "InterProcessReadWriteLock.writeLock", "WriteLock"},
		{"barrier", "DoubleBarrier", "DistributedDoubleBarrier", "DoubleBarrier"},
	} {
		all = append(all, driver.Scenario{Name: peer.Cycle, N: n, Entrants: []driver.Entrant{
			lock,
			{Program: incumbent, Recipe: r.recipe, Label: "**incumbent** `" + r.ours + "`"},
			{Program: curator, Recipe: r.recipe, Label: "Curator `" + r.curator + "`"},
			{Program: kazoo, Recipe: r.recipe, Label: "kazoo `" + r.kazoo + "`"},
		}})
	}
	return all
}
