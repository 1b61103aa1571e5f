package machines

import (
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// directories are those that a producer or a consumer needs. All are persistent: in
// a container that vanishes when it is empty the numbers would begin anew.
type directories struct {
	dirs    []string
	leaves  []uint64 // the creates of the directories themselves, in the last founding
	founded bool     // and nothing has succeeded since: not twice in a row
}

// homeless is a request that found a directory missing which can be made.
func (d *directories) homeless(ev events.Event) bool { return ev.Code == events.NoNode && !d.founded }

// homeMade is the last of the directories, there now.
func (d *directories) homeMade(ev events.Event) bool {
	return ev.Request == d.leaves[len(d.leaves)-1] && stood(ev)
}

// homeRefused is one of the directories, not to be made.
func (d *directories) homeRefused(ev events.Event) bool {
	return slices.Contains(d.leaves, ev.Request) && !stood(ev)
}

// stood is a node that was made, now or before.
func stood(ev events.Event) bool { return ev.Code == events.OK || ev.Code == events.NodeExists }

// foundAll makes all directories with their parents in one flight.
func (d *directories) foundAll(ev events.Event, out *engine.Outbox) {
	d.founded, d.leaves = true, nil
	var asked []string
	for _, dir := range d.dirs {
		for _, path := range ancestors(dir) {
			if !slices.Contains(asked, path) || path == dir {
				asked = append(asked, path)
				n := out.Create(path, events.Persistent, nil)
				if path == dir {
					d.leaves = append(d.leaves, n)
				}
			}
		}
	}
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
