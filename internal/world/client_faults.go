package world

import (
	"errors"
	"fmt"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// Faults of processes and their connections. Each returns an error that says why nothing
// happened.

var (
	errNoConnection = errors.New("the client has no connection")
	errDead         = errors.New("the process is dead")
)

// Cut ends the connection, as a server does that stops.
func (c *Client) Cut() error {
	if c.x.conn == nil {
		return errNoConnection
	}
	c.x.conn.closeByServer()
	return nil
}

// CutUnanswered cuts the connection, and the next one gets no answer.
func (c *Client) CutUnanswered() error {
	if c.x.conn == nil {
		return errNoConnection
	}
	c.x.nextUnanswered = true
	return c.Cut()
}

// LoseHandshake cuts the connection. The next server takes the handshake, and its answer is lost.
func (c *Client) LoseHandshake() error {
	if c.x.conn == nil {
		return errNoConnection
	}
	c.x.nextUnheard = true
	return c.Cut()
}

// Mute delivers nothing any more on the connection, in either direction.
func (c *Client) Mute() error { return c.Stall(Forever, true, true) }

// Stall delivers nothing before a moment.
func (c *Client) Stall(until int64, up, down bool) error {
	wire := c.x.conn
	if wire == nil {
		return errNoConnection
	}
	if up {
		wire.up.stalled = until
	}
	if down {
		wire.down.stalled = until
	}
	return nil
}

// CutStalled cuts a connection that stalls.
func (c *Client) CutStalled() {
	if wire := c.x.conn; wire != nil && wire.stalls() {
		wire.up, wire.down = direction{}, direction{}
		wire.closeByServer()
	}
}

// Throttle has servers refuse the client's requests for a while.
func (c *Client) Throttle(lasts time.Duration) { c.x.throttledUntil = c.w.now + int64(lasts) }

// Kill ends the process: nothing of it runs any more.
func (c *Client) Kill() error {
	if c.Dead() {
		return errDead
	}
	c.paused = Forever
	if c.x.conn != nil {
		c.x.conn.closeByClient()
	}
	return nil
}

// Dead reports whether the process was killed.
func (c *Client) Dead() bool { return c.paused >= Forever }

// Paused reports whether the process is paused, or dead.
func (c *Client) Paused() bool { return c.w.now < c.paused }

// Starve has the loop wait before every event, for a while.
func (c *Client) Starve(by, lasts time.Duration) {
	c.loopDelay = by
	c.w.After(lasts, func() { c.loopDelay = 0 })
}

// PauseWithinStep pauses the process between its next step and the effects of it.
func (c *Client) PauseWithinStep(d time.Duration) { c.pauseInStep = d }

// ShiftClock sets the process's clock. If it goes on, the process takes that for a pause.
func (c *Client) ShiftClock(by time.Duration) {
	c.offset += int64(by)
	if by > 0 {
		c.gaps = append(c.gaps, gap{c.Clock(), by})
	}
	c.wake()
}

// Heal ends all faults of the process, except death.
func (c *Client) Heal() {
	c.pauseInStep, c.loopDelay = 0, 0
	c.resume()
}

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
