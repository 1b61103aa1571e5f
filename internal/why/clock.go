package why

import (
	"cmp"
	"slices"

	"github.com/incumbent-go/incumbent/internal/why/txnlog"
)

// defaultDrift is by how many millionths two clocks are assumed to run apart at most: a clock
// that is slewed, and a bad quartz.
const defaultDrift = 200

// clocks aligns the clocks of the logs, and of the ensemble's leaders, by what they have in
// common. Each log has the clock of its client's loop. Each epoch of zxids has the clock of its
// leader, which stamps each node between the moment when the create was sent and the moment
// when the answer came. And what was sent before a transaction was committed was sent before
// anything that was answered after a later one.
type clocks struct {
	ids      map[*Log]int
	shared   map[string]int // by Log.Clock
	epochs   map[int64]int
	n        int
	edges    map[[2]int]*envelope
	ppm      int64
	readings map[reading][]interval
	jumped   bool // samples contradicted each other: a clock was set
}

type reading struct {
	clock int
	at    int64
}

func align(logs []*Log, txns map[int64]txnlog.Txn, replaced bool, ppm int64) *clocks {
	c := &clocks{ids: map[*Log]int{}, shared: map[string]int{}, epochs: map[int64]int{}, edges: map[[2]int]*envelope{},
		ppm: ppm, readings: map[reading][]interval{}}
	for _, l := range logs {
		id, known := c.shared[l.Clock]
		if !known || l.Clock == "" {
			id = c.n
			c.n++
			if l.Clock != "" {
				c.shared[l.Clock] = id
			}
		}
		c.ids[l] = id
	}
	if !replaced {
		for _, l := range logs {
			c.byStamps(l)
			c.byTransactions(l, txns)
		}
		c.byOrder(logs)
	}
	for a := range c.n {
		for b := range c.n {
			if e := c.edges[[2]int{a, b}]; e != nil {
				e.finish()
			}
		}
	}
	return c
}

func epochOf(zxid int64) int64 { return zxid >> 32 }

func (c *clocks) epoch(zxid int64) int {
	id, known := c.epochs[epochOf(zxid)]
	if !known {
		id = c.n
		c.epochs[epochOf(zxid)] = id
		c.n++
	}
	return id
}

// link notes how far clock b was ahead of clock a when a showed t.
func (c *clocks) link(a, b int, t int64, ahead interval) {
	c.edge(a, b).add(t, ahead)
	c.edge(b, a).add(t+ahead.mid(), interval{-ahead.hi, -ahead.lo})
}

func (c *clocks) edge(a, b int) *envelope {
	e := c.edges[[2]int{a, b}]
	if e == nil {
		e = &envelope{ppm: c.ppm}
		c.edges[[2]int{a, b}] = e
	}
	return e
}

const milli = int64(1_000_000)

// byStamps aligns by the times of nodes.
func (c *clocks) byStamps(l *Log) {
	for i := range l.stamps.len() {
		s := l.stamps.at(i)
		ahead := interval{s.millis*milli - s.at, endless}
		if s.sent > 0 {
			ahead.hi = (s.millis+1)*milli - s.sent
		}
		c.link(c.ids[l], c.epoch(s.zxid), s.at, ahead)
	}
}

// byTransactions aligns by the times of transactions that the client asked for.
func (c *clocks) byTransactions(l *Log, txns map[int64]txnlog.Txn) {
	for i := range l.sights.len() {
		s := l.sights.at(i)
		if t, there := txns[s.zxid]; there && s.write && t.Session == s.session {
			c.link(c.ids[l], c.epoch(s.zxid), s.at, interval{t.Time*milli - s.at, (t.Time+1)*milli - s.sent})
		}
	}
}

// write is a sight of a committed write.
type write struct {
	log *Log
	*sight
}

// byOrder aligns by the order of committed writes.
func (c *clocks) byOrder(logs []*Log) {
	var all []write
	for _, l := range logs {
		for i := range l.sights.len() {
			if s := l.sights.at(i); s.write {
				all = append(all, write{l, s})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b write) int { return cmp.Compare(a.zxid, b.zxid) })
	latest := map[int]write{} // by clock: the write before
	for _, w := range all {
		mine := c.ids[w.log]
		for other := range c.n {
			before, there := latest[other]
			if there && other != mine && before.zxid < w.zxid {
				c.link(mine, other, w.at, interval{before.sent - w.at, endless})
			}
		}
		latest[mine] = w
	}
}

// read returns what every clock shows when the log's clock shows at.
func (c *clocks) read(l *Log, at int64) []interval { return c.readClock(c.ids[l], at) }

func (c *clocks) readClock(from int, at int64) []interval {
	key := reading{from, at}
	if got, known := c.readings[key]; known {
		return got
	}
	shows := make([]interval, c.n)
	for i := range shows {
		shows[i] = anywhere
	}
	shows[from] = interval{at, at}
	broken := map[int]bool{from: true} // not narrowed any further
	for range c.n {
		if !c.spread(shows, broken) {
			break
		}
	}
	if len(c.readings) == maxReadings { // those that are asked for again are asked for soon
		clear(c.readings)
	}
	c.readings[key] = shows
	return shows
}

// maxReadings is how many readings are kept at most.
const maxReadings = 10_000

// spread follows each pair of clocks once, and reports whether anything became narrower.
func (c *clocks) spread(shows []interval, broken map[int]bool) (changed bool) {
	for a := range c.n {
		if shows[a] == anywhere {
			continue
		}
		for b := range c.n {
			e := c.edges[[2]int{a, b}]
			if e == nil || broken[b] {
				continue
			}
			offset, fits := e.at(shows[a].mid())
			if w := shows[a].width(); w < endless {
				offset = e.drifted(offset, w)
			}
			got, fitsToo := narrow(shows[b], shows[a].plus(offset))
			if !fits || !fitsToo {
				c.jumped, broken[b] = true, true
			}
			changed = changed || got != shows[b]
			shows[b] = got
		}
	}
	return changed
}

// between returns how much later a reading of b's clock is than one of a's, within bounds.
func (c *clocks) between(a *Log, at int64, b *Log, bt int64) interval {
	if c.ids[a] == c.ids[b] {
		return interval{bt - at, bt - at}
	}
	shows := c.read(a, at)[c.ids[b]]
	back := c.read(b, bt)[c.ids[a]]
	forth := interval{-endless, endless}
	if shows.hi < endless {
		forth.lo = bt - shows.hi
	}
	if shows.lo > -endless {
		forth.hi = bt - shows.lo
	}
	other := anywhere
	if back.lo > -endless {
		other.lo = back.lo - at
	}
	if back.hi < endless {
		other.hi = back.hi - at
	}
	got, fits := narrow(forth, other)
	if !fits {
		c.jumped = true
	}
	return got
}

const micro = int64(1000)
