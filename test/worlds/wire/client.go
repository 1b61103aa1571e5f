package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/internal/sources"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

// client is a process: one incumbent.Client and its users.
type client struct {
	*incumbent.Client
	w       *world
	number  int
	name    string
	dice    dice
	latch   *incumbent.Latch
	mutex   *incumbent.Mutex
	place   *incumbent.PersistentNode
	sum     *incumbent.AtomicLong
	queue   *incumbent.Queue[string]
	job     *incumbent.Job
	elector *incumbent.NodeElection
	group   *incumbent.Shards
	log     buffer

	stop  context.CancelFunc // ends the users
	users sync.WaitGroup

	mu        sync.Mutex
	dials     int
	link      *link // the newest
	seeds     uint64
	held      time.Time             // until when its loop stands still
	term      *incumbent.Term       // of its listener's last call; nil: it does not lead
	lead      *incumbent.Leadership // the last that it got
	hold      *incumbent.Hold
	one       incumbent.NodeChange // what its feeds have shown
	children  incumbent.ChildrenChange
	added     int // additions that succeeded,
	maybe     int // and those of which nobody knows
	waiting   map[*call]bool
	items     map[int]*incumbent.Item // of the job, that run
	itemRuns  uint64
	shards    map[int]ownedShard
	shardRuns uint64
	byNode    *incumbent.Leadership // of the election on one node; nil: it does not work under one
	fencings  uint64
	closed    time.Time // when Close returned
}

// buffer is a Config.Record in memory.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) bytes() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return bytes.Clone(b.text.Bytes())
}

// clock is virtual time. The loop of a client stands still while Timer does.
type clock struct{ c *client }

func (k clock) Now() int64 { return int64(time.Since(k.c.w.start)) + 1 }

func (k clock) Timer(d time.Duration) (<-chan time.Time, func()) {
	k.c.mu.Lock()
	held := time.Until(k.c.held)
	k.c.mu.Unlock()
	if held > 0 {
		virtual.Sleep(held)
		d -= held
	}
	t := time.NewTimer(d)
	return t.C, func() { t.Stop() }
}

func (w *world) newClient(number int) *client {
	return &client{
		w: w, number: number, name: "client " + string(rune('a'+number)),
		dice:    w.dice.named("client").about(uint64(number)),
		waiting: map[*call]bool{}, items: map[int]*incumbent.Item{}, shards: map[int]ownedShard{},
	}
}

// open opens the client with all its handles, and starts its users.
func (c *client) open() {
	w := c.w
	config := incumbent.Config{
		Servers: "zk0:2181,zk1:2181,zk2:2181", SessionTimeout: w.plan.timeout, Tick: tick, RideOut: w.plan.rideOut,
		Dial: func(ctx context.Context, _, address string) (net.Conn, error) { return w.dial(ctx, c, address) },
	}
	if w.plan.login {
		config.SASL = incumbent.DigestMD5(user, password)
	}
	if w.plan.records {
		config.Record = incumbent.RecordTo(&c.log)
	}
	var err error
	if c.Client, err = incumbent.Open(
		sources.With(context.Background(), sources.Sources{Clock: clock{c}, Seed: c.seed}), config); err != nil {
		panic(err)
	}
	var errs [5]error
	c.latch, errs[0] = c.Latch(lineDir, incumbent.LatchOptions{})
	c.mutex, errs[1] = c.Mutex(lockDir, w.plan.lock())
	c.place, errs[2] = c.PersistentNode(c.ownPlace(), nil, incumbent.PersistentNodeOptions{})
	c.sum, errs[3] = c.AtomicLong(numberPath, incumbent.AtomicLongOptions{})
	c.queue, errs[4] = incumbent.NewQueue(c.Client, queueDir, incumbent.QueueOptions[string]{})
	if err := errors.Join(errs[:]...); err != nil {
		panic(err)
	}
	c.latch.AddListener(incumbent.Listener{IsLeader: c.elected, NotLeader: c.deposed})
	c.latch.AddListener(c.slowListener())
	ctx, cancel := context.WithCancel(context.Background())
	c.stop = cancel
	if err := errors.Join(c.latch.Start(), c.place.Start()); err != nil {
		panic(err)
	}
	users := []func(context.Context, dice){c.leads, c.locks, c.asks, c.adds, c.puts, c.watchesOne, c.watchesDir,
		c.watchesShortly, c.asksInBulk}
	if w.plan.job {
		if err := c.openJob(); err != nil {
			panic(err)
		}
		users = append(users, c.worksJob, c.triggersJob)
	}
	if w.plan.node {
		if err := c.openElector(); err != nil {
			panic(err)
		}
		users = append(users, c.elects)
	}
	if w.plan.shards {
		if err := c.openShards(); err != nil {
			panic(err)
		}
		users = append(users, c.sharesShards)
	}
	for _, user := range users {
		c.users.Go(func() { user(ctx, c.dice) })
	}
}

func (c *client) ownPlace() string { return groupDir + "/" + c.name[len("client "):] }

// seed returns the seed of a machine: different for each, and the same in each run.
func (c *client) seed() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seeds++
	return fmt.Sprintf("%016x%016x", uint64(c.dice.named("machine").about(c.seeds)), c.seeds)
}

// elected is the listener's: terms begin and end in exact pairs.
func (c *client) elected(t incumbent.Term) {
	c.mu.Lock()
	before := c.term
	c.term = &t
	c.mu.Unlock()
	c.w.tell("%s leads with token %d, by %s", c.name, t.Token, c.w.truth.nameOf(t.Token))
	if before != nil {
		c.w.fail("listeners in exact pairs", "%s was elected with token %d while it led with %d", c.name,
			t.Token, before.Token)
	}
	c.w.began(c, t)
	c.w.look()
}

func (c *client) deposed(t incumbent.Term, why error) {
	c.mu.Lock()
	before := c.term
	c.term = nil
	c.mu.Unlock()
	c.w.tell("%s leads no longer with token %d: %v", c.name, t.Token, why)
	if before == nil || before.Token != t.Token {
		c.w.fail("listeners in exact pairs", "%s stopped with token %d, and had not begun so", c.name, t.Token)
	}
}

// holdLoop makes the client's loop stand still.
func (c *client) holdLoop(long time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held = time.Now().Add(long)
}

// slowListener returns a listener whose calls take long: later ones wait, and come in order.
func (c *client) slowListener() incumbent.Listener {
	var leads *incumbent.Term // its functions run one at a time
	slow := func(t incumbent.Term) {
		virtual.Sleep(c.dice.named("listener").about(uint64(t.Token)).between(0, c.w.plan.timeout/10))
	}
	return incumbent.Listener{
		IsLeader: func(t incumbent.Term) {
			if leads != nil {
				c.w.fail("listeners in exact pairs", "%s: a slow listener began with token %d, before the end of %d",
					c.name, t.Token, leads.Token)
			}
			leads = &t
			slow(t)
		},
		NotLeader: func(t incumbent.Term, _ error) {
			if leads == nil || leads.Token != t.Token {
				c.w.fail("listeners in exact pairs", "%s: a slow listener ended with token %d, and had not begun so",
					c.name, t.Token)
			}
			leads = nil
			slow(t)
		},
	}
}
