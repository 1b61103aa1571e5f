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
	dirs    []string
	leaves  []uint64 // the creates of the directories themselves, in the last flight
	top     uint64   // its first create
	founded bool     // they were asked for, and nothing has succeeded since: not twice in a row
	above   failure  // the lowest parent of the directory at hand that could not be made
	blocks  failure  // what stands in the way of the first directory that could not be made
}

// dirMissing is a request that found a directory missing which can be made.
func (d *directories) dirMissing(ev events.Event) bool { return ev.Code == events.NoNode && !d.founded }

// ofDirectory is the answer to the create of a directory, or of a parent of one.
func (d *directories) ofDirectory(ev events.Event) bool {
	return len(d.leaves) > 0 && d.top <= ev.Request && ev.Request <= d.leaves[len(d.leaves)-1]
}

// createdOrThere is a node that was made, now or before.
func createdOrThere(ev events.Event) bool {
	return ev.Code == events.OK || ev.Code == events.NodeExists
}

// makeAll asks for all directories with their parents.
func (d *directories) makeAll(out *engine.Outbox) {
	d.afresh()
	d.founded, d.leaves, d.top = true, nil, 0
	var asked []string
	for _, dir := range d.dirs {
		for _, path := range ancestors(dir) {
			if slices.Contains(asked, path) && path != dir {
				continue
			}
			asked = append(asked, path)
			n := out.Create(events.Op{Path: path, Mode: events.Persistent})
			d.top = cmp.Or(d.top, n)
			if path == dir {
				d.leaves = append(d.leaves, n)
			}
		}
	}
}

// noteDirectory keeps why a directory was not made. Where it is there, what is wrong
// with those above it does not matter.
func (d *directories) noteDirectory(ev events.Event, out *engine.Outbox) {
	switch {
	case createdOrThere(ev):
		d.above = failure{}
	case ev.Code != events.NoNode || d.above.code == events.OK:
		d.above = failure{ev.Code, ev.Path, ev.Text}
	}
	if slices.Contains(d.leaves, ev.Request) {
		if d.blocks.code == events.OK {
			d.blocks = d.above
		}
		d.above = failure{}
	}
}

// afresh is an attempt that knows nothing of earlier ones.
func (d *directories) afresh() { d.founded, d.above, d.blocks = false, failure{}, failure{} }

// unhoused is a request that found a directory missing which could not be made.
func (d *directories) unhoused(ev events.Event) bool {
	return ev.Code == events.NoNode && d.founded && d.blocks.code != events.OK
}

// blame is the answer to what was asked behind the directories, or what stands in
// the way of one of them.
func (d *directories) blame(ev events.Event) events.Event {
	if d.blocks.code != events.OK {
		ev.Code, ev.Path, ev.Text = d.blocks.code, d.blocks.path, d.blocks.text
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
