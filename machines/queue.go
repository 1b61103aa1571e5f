package machines

import (
	"cmp"
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// directories are those that a producer or a consumer needs. All are persistent: in
// a container that vanishes when it is empty the numbers would begin anew. Where one
// is missing all are asked for in one flight, and behind them on the same connection
// what found it missing is asked for again: that answer decides, and comes last.
type directories struct {
	dirs          []string
	dirCreates    []uint64 // the creates of the directories themselves, in the last flight
	firstCreate   uint64   // its first create
	dirsTried     bool     // they were asked for, and nothing has succeeded since: not twice in a row
	parentFailure failure  // the lowest parent of the directory at hand that could not be made
	dirFailure    failure  // what stands in the way of the first directory that could not be made
}

// dirMissing is a request that found a directory missing which can be made.
func (d *directories) dirMissing(ev events.Event) bool {
	return ev.Code == events.NoNode && !d.dirsTried
}

// ofDirectory is the answer to the create of a directory, or of a parent of one.
func (d *directories) ofDirectory(ev events.Event) bool {
	return len(d.dirCreates) > 0 && d.firstCreate <= ev.Request && ev.Request <= d.dirCreates[len(d.dirCreates)-1]
}

// createdOrThere is a node that was made, now or before.
func createdOrThere(ev events.Event) bool {
	return ev.Code == events.OK || ev.Code == events.NodeExists
}

// makeAll asks for all directories with their parents.
func (d *directories) makeAll(out *engine.Outbox) {
	d.resetDirectories()
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

// noteDirectory keeps why a directory was not made. Where it is there, what is wrong
// with those above it does not matter.
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

// resetDirectories is an attempt that knows nothing of earlier ones.
func (d *directories) resetDirectories() {
	d.dirsTried, d.parentFailure, d.dirFailure = false, failure{}, failure{}
}

// dirRefused is a request that found a directory missing which could not be made.
func (d *directories) dirRefused(ev events.Event) bool {
	return ev.Code == events.NoNode && d.dirsTried && d.dirFailure.code != events.OK
}

// rootCause is the answer to what was asked behind the directories, or what stands in
// the way of one of them.
func (d *directories) rootCause(ev events.Event) events.Event {
	if d.dirFailure.code != events.OK {
		ev.Code, ev.Path, ev.Text = d.dirFailure.code, d.dirFailure.path, d.dirFailure.text
	}
	return ev
}

// clock is what is known of the time of the ensemble's leader: it wrote this time
// between these two instants of the loop's clock.
type clock struct {
	millis      int64 // since 1970; 0: not known
	sent, heard int64
}

func (c *clock) note(ev events.Event) {
	if ev.Stat != nil && ev.Stat.Mtime != 0 {
		*c = clock{millis: ev.Stat.Mtime, sent: ev.SentAt, heard: ev.At}
	}
}

func (c clock) known() bool { return c.millis != 0 }

// clockAge is for how long a time that the leader wrote is good enough to count from:
// clocks drift apart, and leaders change.
const clockAge = time.Minute

// fresh is a time that may be counted from at an instant of the loop's clock.
func (c clock) fresh(at int64) bool { return c.known() && at-c.heard <= int64(clockAge) }

// least and most are the bounds of the leader's time at an instant of the loop's clock.
func (c clock) least(at int64) int64 { return c.millis + (at-c.heard)/int64(time.Millisecond) }
func (c clock) most(at int64) int64 {
	return c.millis + (at-c.sent+int64(time.Millisecond)-1)/int64(time.Millisecond)
}
