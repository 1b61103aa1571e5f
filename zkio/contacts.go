package zkio

import "time"

// contacts has the frames of one connection that were answered, and when they were sent.
// Servers report a session's contacts to the ensemble's leader every half tick. So what a
// request confirms depends on when the last frame was sent that the server had received
// well before: after a pause of this process, or while the way to the server was blocked,
// the leader may know of no contact since before that. That a frame was sent is not enough:
// it may have been in the network until just now.
type contacts struct {
	spacing int64 // frames closer than this count as one, at the earlier time
	times   [64]contact
	n       int
	pings   []int64 // when the pings were sent that are not answered yet
}

// contact is one frame: the server received it at some time between the two.
type contact struct{ sent, answered int64 }

// setSpacing sets the spacing so that the memory reaches back over a whole session timeout.
func (c *contacts) setSpacing(timeout time.Duration) {
	c.spacing = int64(timeout) / int64(len(c.times))
}

func (c *contacts) note(sent, answered int64) {
	if c.n > 0 && sent-c.last(0).sent < c.spacing {
		return
	}
	c.times[c.n%len(c.times)] = contact{sent, answered}
	c.n++
}

// pinged notes that a ping is sent, ponged that the oldest one is answered.
func (c *contacts) pinged(at int64) { c.pings = append(c.pings, at) }

func (c *contacts) ponged(at int64) {
	if len(c.pings) > 0 {
		c.note(c.pings[0], at)
		c.pings = c.pings[1:]
	}
}

// waiting returns when the oldest ping was sent that is not answered yet.
func (c *contacts) waiting() (sent int64, waits bool) {
	if len(c.pings) == 0 {
		return 0, false
	}
	return c.pings[0], true
}

// last returns the i-th contact from the end.
func (c *contacts) last(i int) contact { return c.times[(c.n-1-i)%len(c.times)] }

// before returns when the last frame was sent that was answered by a time, or the earliest
// one that is known.
func (c *contacts) before(at int64) int64 {
	known := min(c.n, len(c.times))
	for i := range known {
		if t := c.last(i); t.answered <= at || i == known-1 {
			return t.sent
		}
	}
	return 0
}
