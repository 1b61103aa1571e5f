package zkio

import "time"

// contacts remembers which frames of one connection were answered, and when
// they had left. Servers tell the ensemble's leader of a session's contacts every
// half tick, so what a request confirms depends on when the last frame left that
// the server had heard well before: after a pause of this process, or while the
// way to the server was stuck, the leader may know of none for as long. That a
// frame left says nothing: it may have lain in the network until just now.
type contacts struct {
	spacing int64 // frames closer than this count as one, at the earlier time
	times   [64]contact
	n       int
	pings   []int64 // when the pings left that are not answered yet
}

// contact is one frame: the server heard it at some time between the two.
type contact struct{ sent, answered int64 }

// grain makes the memory reach back over a whole session timeout.
func (c *contacts) grain(timeout time.Duration) { c.spacing = int64(timeout) / int64(len(c.times)) }

func (c *contacts) note(sent, answered int64) {
	if c.n > 0 && sent-c.last(0).sent < c.spacing {
		return
	}
	c.times[c.n%len(c.times)] = contact{sent, answered}
	c.n++
}

// pinged notes that a ping leaves, ponged that the oldest one is answered.
func (c *contacts) pinged(at int64) { c.pings = append(c.pings, at) }

func (c *contacts) ponged(at int64) {
	if len(c.pings) > 0 {
		c.note(c.pings[0], at)
		c.pings = c.pings[1:]
	}
}

// waiting is when the oldest ping left that is not answered yet.
func (c *contacts) waiting() (sent int64, waits bool) {
	if len(c.pings) == 0 {
		return 0, false
	}
	return c.pings[0], true
}

// last is the i-th contact from the end.
func (c *contacts) last(i int) contact { return c.times[(c.n-1-i)%len(c.times)] }

// before is when the last frame left that was answered by a time, or the
// earliest that is known.
func (c *contacts) before(at int64) int64 {
	known := min(c.n, len(c.times))
	for i := range known {
		if t := c.last(i); t.answered <= at || i == known-1 {
			return t.sent
		}
	}
	return 0
}
