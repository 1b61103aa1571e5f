package events

import "time"

// wallClock tells the wall clock's time at an instant of the loop's clock, by what the lines before say.
type wallClock struct {
	known bool
	at    int64     // of the loop's clock
	wall  time.Time // then
}

// set notes what a header or a note says.
func (c *wallClock) set(at int64, wall string) {
	if t, err := time.Parse(time.RFC3339Nano, wall); err == nil {
		*c = wallClock{known: true, at: at, wall: t.UTC()}
	}
}

// appendWall appends the wall clock's time to the millisecond as a field, if it is known.
func (c *wallClock) appendWall(b []byte, at int64) []byte {
	if c == nil || !c.known {
		return b
	}
	t := c.wall.Add(time.Duration(at - c.at))
	return append(t.AppendFormat(append(b, `,"wall":"`...), "2006-01-02T15:04:05.000Z"), '"')
}
