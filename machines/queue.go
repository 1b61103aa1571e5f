package machines

import (
	"cmp"
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// directories are those that a producer or a consumer needs. All are persistent: an empty container is
// deleted, and then the numbers would begin again. If one is missing, the creates of all are sent
// together. The request that found it missing is sent again behind them on the same connection: its
// answer comes last, and decides.
type directories struct {
	dirs          []string
	dirCreates    []uint64 // the last creates of the directories themselves
	firstCreate   uint64   // the first of the creates that were sent together
	dirsTried     bool     // they were created, and nothing has succeeded since: not twice in a row
	madeAt        int64    // when they were sent
	parentFailure failure  // why the lowest parent of the present directory that failed was refused
	dirFailure    failure  // why the first directory that failed was refused
}

// dirMissing reports whether a request found no directory, and it can be created.
func (d *directories) dirMissing(ev events.Event) bool {
	return ev.Code == events.NoNode && !d.dirsTried
}

// ofDirectory reports whether an answer is to the create of a directory, or of a parent of one.
func (d *directories) ofDirectory(ev events.Event) bool {
	return len(d.dirCreates) > 0 && d.firstCreate <= ev.Request && ev.Request <= d.dirCreates[len(d.dirCreates)-1]
}

// createdOrThere reports whether a node was created, now or before.
func createdOrThere(ev events.Event) bool {
	return ev.Code == events.OK || ev.Code == events.NodeExists
}

// makeAll creates all directories with their parents.
func (d *directories) makeAll(ev events.Event, out *engine.Outbox) {
	d.resetDirectories()
	d.madeAt = ev.At
	d.dirsTried, d.dirCreates, d.firstCreate = true, nil, 0
	var asked []string
	for _, dir := range d.dirs {
		for _, path := range ancestors(dir) {
			if slices.Contains(asked, path) && path != dir {
				continue
			}
			asked = append(asked, path)
			n := out.Create(events.Op{Path: path, Mode: events.Persistent})
			d.firstCreate = cmp.Or(d.firstCreate, n)
			if path == dir {
				d.dirCreates = append(d.dirCreates, n)
			}
		}
	}
}

// noteDirectory notes why a directory was not created. If it exists, failures of its parents do not
// matter.
func (d *directories) noteDirectory(ev events.Event, out *engine.Outbox) {
	switch {
	case createdOrThere(ev):
		d.parentFailure = failure{}
	case ev.Code != events.NoNode || d.parentFailure.code == events.OK:
		d.parentFailure = failure{ev.Code, ev.Path, ev.Text}
	}
	if slices.Contains(d.dirCreates, ev.Request) {
		if d.dirFailure.code == events.OK {
			d.dirFailure = d.parentFailure
		}
		d.parentFailure = failure{}
	}
}

// resetDirectories begins an attempt that knows nothing of earlier ones.
func (d *directories) resetDirectories() {
	d.dirsTried, d.parentFailure, d.dirFailure = false, failure{}, failure{}
}

// dirRefused reports whether a request found no directory, and that could not be created.
func (d *directories) dirRefused(ev events.Event) bool {
	return ev.Code == events.NoNode && d.dirsTried && d.dirFailure.code != events.OK
}

// rootCause returns the answer to the request behind the directories, or the refusal of one of them if
// there was one.
func (d *directories) rootCause(ev events.Event) events.Event {
	if d.dirFailure.code != events.OK {
		ev.Code, ev.Path, ev.Text = d.dirFailure.code, d.dirFailure.path, d.dirFailure.text
	}
	return ev
}

// clock is what is known of the time of the ensemble's leader: the leader wrote this time between two
// instants of the loop's clock.
type clock struct {
	millis      int64 // since 1970; 0: not known
	sent, heard int64
}

// note notes the time that the leader wrote with a multi.
func (c *clock) note(ev events.Event) {
	if ev.Stat != nil && ev.Stat.Mtime != 0 {
		*c = clock{millis: ev.Stat.Mtime, sent: ev.SentAt, heard: ev.At}
	}
}

// known reports whether any time of the leader is known.
func (c clock) known() bool { return c.millis != 0 }

// clockAge is for how long a time that the leader wrote is good enough to count from: clocks drift
// apart, and leaders change.
const clockAge = time.Minute

// fresh reports whether the time may be counted from at an instant of the loop's clock.
func (c clock) fresh(at int64) bool { return c.known() && at-c.heard <= int64(clockAge) }

// least and most are the bounds of the leader's time at an instant of the loop's clock.
func (c clock) least(at int64) int64 { return c.millis + (at-c.heard)/int64(time.Millisecond) }
func (c clock) most(at int64) int64 {
	return c.millis + (at-c.sent+int64(time.Millisecond)-1)/int64(time.Millisecond)
}
