package world

import (
	"errors"
	"time"
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
