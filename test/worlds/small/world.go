package small

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/worlds/oneserver"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// The clock has one hand that moves by a unit, the period of the heartbeat. All
// other times are multiples of it.
const (
	unit      = time.Second
	timeout   = 4 * unit // of every session
	expiry    = 2        // units without a word after which a session may be over
	impatient = 3        // units after which a fault of a link or a pause ends, one way or another
)

// Config is one small world, and how far it is searched.
type Config struct {
	Participants int
	Shards       int      // how many the participants own; 0: each participant is a latch
	Faults       int      // how many may happen on one path
	Kinds        []string // which of Faults and Refusals; nil: all Faults
	RideOut      bool
	Hung         bool // work never returns
	Plain        bool // no place enrols in one flight
	Depth        int  // steps on one path at the most; 0: as many as there are
	States       int  // states at the most; 0: as many as there are
	Settled      bool // the directory is there, and all are connected, in the beginning
	Every        bool // every order of deliveries, not one of those that come to the same
	// compare every so-and-so-manieth world that was taken for a known state in what follows; 0: none
	Prove int
	Plant *Plant // a bug put in on purpose
}

// String returns the world on one line.
func (c Config) String() string {
	text := fmt.Sprintf("%d participants, %d faults", c.Participants, c.Faults)
	if c.Shards > 0 {
		text = fmt.Sprintf("%d shards, %s", c.Shards, text)
	}
	if c.Kinds != nil {
		text += " (" + strings.Join(c.Kinds, ", ") + ")"
	}
	for _, word := range []struct {
		on   bool
		text string
	}{{c.RideOut, "ride out"}, {c.Hung, "work never returns"}, {c.Plain, "nothing in one flight"},
		{c.Settled, "from connected on"}, {c.Every, "every order"}} {
		if word.on {
			text += ", " + word.text
		}
	}
	if c.Depth > 0 {
		text += fmt.Sprintf(", to depth %d", c.Depth)
	}
	if c.States > 0 {
		text += fmt.Sprintf(", to %d states", c.States)
	}
	return text
}

func (c *Config) has(fault string) bool { return c.Kinds == nil || slices.Contains(c.Kinds, fault) }

// world is one state: an ensemble, clients, and what is on its way between them.
// A step makes a new world; what it does not touch is shared with the old one.
type world struct {
	*Config
	now     int64 // nanoseconds, a multiple of the unit
	tree    tree
	ids     int64 // ZooKeeper's ids of sessions, given out
	left    int   // faults that may still happen
	clients []*client
	seated  []int   // the clients in the order of their digest
	token   int64   // of the last term
	tokens  []int64 // the highest of each shard
	wrongs  []string
	record  bool // keep the clients' logs, and the story
	story   []string
}

// newWorld returns the first state: every program has started its handle.
func newWorld(cfg *Config, record bool) *world {
	if cfg.Participants > maxSeats {
		panic(fmt.Sprintf("small: %d participants, of which duties and turns have room for %d",
			cfg.Participants, maxSeats))
	}
	w := &world{Config: cfg, now: 100 * int64(unit), tree: newTree(cfg.dirs()), left: cfg.Faults, record: record}
	w.tokens = make([]int64, cfg.Shards)
	for i := range cfg.Participants {
		w.clients = append(w.clients, newClient(w, i))
		if cfg.Shards == 0 {
			w.clients[i].begin(w)
		}
	}
	if cfg.Settled {
		_, told := w.tree.server.Put(dir, zkmem.Persistent, 0)
		w.tree.changed(told)
		if cfg.Shards > 0 {
			return w.startMembers()
		}
		for i := range w.clients {
			w.attach(i, false, false)
			w.clients[i].heard = w.now
		}
	}
	return w
}

// next returns a copy to be changed.
func (w *world) next() *world {
	n := *w
	n.seated = nil
	n.clients = slices.Clone(w.clients)
	return &n
}

// touch returns a client to be changed, in a world that is a fresh copy.
func (w *world) touch(i int) *client {
	c := *w.clients[i]
	c.shape = nil
	c.timers, c.inbox, c.pending = slices.Clone(c.timers), slices.Clone(c.inbox), slices.Clone(c.pending)
	c.watches, c.armed, c.terms = slices.Clone(c.watches), slices.Clone(c.armed), slices.Clone(c.terms)
	c.borrowed = true
	w.clients[i] = &c
	return &c
}

// wrong is a promise broken.
func (w *world) wrong(format string, args ...any) {
	w.wrongs = append(w.wrongs, fmt.Sprintf(format, args...))
}

func (w *world) tell(format string, args ...any) {
	if w.record {
		w.story = append(slices.Clip(w.story), fmt.Sprintf(format, args...))
	}
}

// fire tells the servers' watches of changes, in order. A server that lags
// tells its clients when it learns of them.
func (w *world) fire(told []zkmem.Event) {
	for _, t := range told {
		kind := oneserver.Kind(t.Type)
		for i := range w.clients {
			if c := w.clients[i]; c.attached && c.view == nil && slices.Contains(c.watches, watchKey(kind, t.Path)) {
				w.touch(i).notice(w, kind, t.Path)
			}
		}
	}
}

// tick moves the clock on. The ensemble hears at every unit from each client that it can hear.
func (w *world) tick() {
	for i := range w.clients {
		c := w.touch(i)
		if c.attached && !c.paused && (c.link == sound || c.link == cutOff) {
			c.contact = w.now
		}
		for j := range c.timers {
			if c.timers[j].frozen {
				c.timers[j].at += int64(unit)
			}
		}
	}
	w.now += int64(unit)
	for _, c := range w.clients {
		if c.attached && !c.paused && (c.link == sound || c.link == deaf) {
			c.heard = w.now
		}
	}
}

// age returns how many units ago a time was.
func (w *world) age(at int64) int64 { return (w.now - at) / int64(unit) }

// quiet reports whether the clock may move on: whatever takes no time is done,
// but for what a fault holds back.
func (w *world) quiet() bool {
	for _, c := range w.clients {
		switch {
		case c.paused:
			if w.age(c.since) >= impatient {
				return false
			}
		case c.due(w.now) >= 0, c.deliverable(), c.servable(w) >= 0:
			return false
		case c.link != sound && w.age(c.since) >= impatient:
			return false
		}
	}
	return true
}

// missing precedes the path of a watch for the creation of a node.
const missing = "?"

// watchKey names one watch at a server: a path, with a slash for its children.
func watchKey(kind events.Kind, path string) string {
	switch kind {
	case events.WatchChildren:
		return path + "/"
	case events.WatchCreated:
		return missing + path
	}
	return path
}
