//go:build linux

package chaos

import (
	"cmp"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// monotonic reads CLOCK_MONOTONIC, which all processes of a machine share; Java's System.nanoTime is the same, which is
// asked of every Java process when it starts.
func monotonic() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic(err) // every Linux that Go runs on has it
	}
	return ts.Nano()
}

// pairEvery is how often the two clocks are compared.
const pairEvery = 20 * time.Millisecond

// chronicle compares the wall clock, which stamps ZooKeeper's transactions, with the monotonic one, all the time: the
// wall clock is slewed, and may be set.
type chronicle struct {
	quit, ended chan struct{}
	once        sync.Once
	pairs       []pair
}

// pair is one reading of the wall clock between two of the monotonic one, all in nanoseconds.
type pair struct {
	wall   int64
	before int64
	after  int64
}

func readPair() pair {
	best := pair{}
	for i := range 3 {
		p := pair{before: monotonic(), wall: time.Now().UnixNano()}
		p.after = monotonic()
		if i == 0 || p.after-p.before < best.after-best.before {
			best = p
		}
	}
	return best
}

// newChronicle starts the comparing. It ends with the test at the latest, however that ends.
func newChronicle(t testing.TB) *chronicle {
	c := &chronicle{quit: make(chan struct{}), ended: make(chan struct{}), pairs: []pair{readPair()}}
	go func() {
		defer close(c.ended)
		ticker := time.NewTicker(pairEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				c.pairs = append(c.pairs, readPair())
			case <-c.quit:
				c.pairs = append(c.pairs, readPair())
				return
			}
		}
	}()
	t.Cleanup(c.stop)
	return c
}

// stop ends the comparing; afterwards stamp may be called.
func (c *chronicle) stop() {
	c.once.Do(func() { close(c.quit) })
	<-c.ended
}

// stamp carries a millisecond of the wall clock over, by the comparisons before and after it. A clock that was set
// between the two widens what comes of it.
func (c *chronicle) stamp(ms int64) moment {
	wall := ms * int64(time.Millisecond)
	i, _ := slices.BinarySearchFunc(c.pairs, wall, func(p pair, wall int64) int { return cmp.Compare(p.wall, wall) })
	m := moment{earliest: forever}
	for _, p := range c.pairs[max(0, i-1):min(len(c.pairs), i+2)] {
		m.earliest = min(m.earliest, wall-p.wall+p.before)
		m.latest = max(m.latest, wall-p.wall+p.after+int64(time.Millisecond))
	}
	return m
}

// doubt returns the largest uncertainty in the times of these nodes.
func doubt(nodes []node) (worst time.Duration) {
	for _, n := range nodes {
		worst = max(worst, time.Duration(n.created.latest-n.created.earliest),
			time.Duration(n.deleted.latest-n.deleted.earliest))
	}
	return worst
}
