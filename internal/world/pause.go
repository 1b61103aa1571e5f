package world

import (
	"fmt"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// This file has what a process knows of its pauses. The product finds them by a timer that
// comes late. Here they are known.

// gap is one pause, by the process's own clock.
type gap struct {
	ended  int64
	lasted time.Duration
}

// notePause notes a pause that begins, unless one lasts already.
func (c *Client) notePause() {
	c.noteRunning()
	if c.pauseBegan == 0 {
		c.pauseBegan = c.Clock()
	}
}

// noteRunning notes a pause that has ended.
func (c *Client) noteRunning() {
	if c.pauseBegan == 0 || c.w.now < c.paused {
		return
	}
	ended := c.clockAt(c.paused)
	c.gaps = append(c.gaps, gap{ended, time.Duration(ended - c.pauseBegan)})
	c.pauseBegan = 0
}

// pausedSince returns for how long the process did not run: the sum of the pauses that ended
// after an instant of its clock.
func (c *Client) pausedSince(at int64) (paused time.Duration) {
	c.noteRunning()
	for i := len(c.gaps) - 1; i >= 0 && c.gaps[i].ended > at; i-- {
		paused += c.gaps[i].lasted
	}
	return paused
}

// endedByPause returns what to say of a connection that ends, and the pause of the process
// that explains it: as zkio does.
func (x *executor) endedByPause(why string) (text string, paused time.Duration) {
	now := x.c.Clock()
	if why == silent {
		paused = x.c.pausedSince(x.lastFrameAt)
		if !events.PauseExplains(paused, time.Duration(now-x.lastFrameAt), x.timeout*2/3) {
			return why, 0
		}
	} else if paused = x.c.pausedSince(min(x.lastFrameAt, now-int64(x.timeout)/8)); paused < x.timeout*3/5 {
		return why, 0
	}
	return fmt.Sprintf("%s, and lost its connection to %c", events.PauseText(paused), 'a'+x.conn.server.ID()), paused
}

// expiredByPause does the same for a session that the ensemble has ended.
func (x *executor) expiredByPause(why string) (text string, paused time.Duration) {
	if x.since == 0 {
		return why, 0
	}
	paused = x.ownPause + x.c.pausedSince(x.since)
	if !events.PauseExplains(paused, x.ownPause+time.Duration(x.c.Clock()-x.since), x.timeout) {
		return why, 0
	}
	return events.PauseText(paused) + ", and its session has expired", paused
}
