package incumbent

import (
	"io"
	"math"
	"sync/atomic"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// writerOutput is a Config.Record of the user's own: one log in one piece.
type writerOutput struct {
	sink   *sink
	header events.Header
	w      *events.Writer
	clocks clockNotes
	last   atomic.Uint64
}

func newWriterOutput(w io.Writer, h events.Header, now func() int64) *writerOutput {
	return &writerOutput{sink: &sink{w: w}, header: h, clocks: clockNotes{now: now}}
}

func (o *writerOutput) begin(uint64) (err error) {
	o.clocks.begin()
	o.w, err = events.NewWriter(o.sink, o.header)
	return err
}

func (o *writerOutput) write(one recorded) error { return writeEntry(o.w, &o.clocks, one) }

func (o *writerOutput) flush() error {
	if err := o.w.Flush(); err != nil {
		return err
	}
	o.last.Store(o.w.Last())
	return nil
}

func (o *writerOutput) due() bool            { return false }
func (o *writerOutput) room() int64          { return math.MaxInt64 }
func (o *writerOutput) rotate() error        { return nil }
func (o *writerOutput) discard() bool        { return false }
func (o *writerOutput) end(why string) error { return o.w.WriteEnd(why) }
func (o *writerOutput) safe() uint64         { return o.last.Load() }
func (o *writerOutput) bytes() uint64        { return o.sink.bytes.Load() }
func (o *writerOutput) segment() string      { return "" }

// writeEntry writes a step or a note, and before a step what the wall clock is, if that is
// due.
func writeEntry(w *events.Writer, clocks *clockNotes, one recorded) error {
	if one.note != nil {
		return w.WriteNote(*one.note)
	}
	if note := clocks.due(); note != nil {
		if err := w.WriteNote(events.Note{Clock: note}); err != nil {
			return err
		}
	}
	for i := range one.step {
		if err := w.Write(one.step[i]); err != nil {
			return err
		}
	}
	return nil
}

// clockNotes decides when a log says what the wall clock is.
type clockNotes struct {
	now    func() int64
	at     int64 // of the last note
	offset int64 // of the wall clock from the loop's, then
}

const (
	clockEvery = int64(time.Minute)
	clockJump  = int64(10 * time.Millisecond)
)

// begin is called when a header was written: it says what the clocks are.
func (c *clockNotes) begin() { c.at, c.offset, _ = c.read() }

func (c *clockNotes) read() (at, offset int64, wall time.Time) {
	wall = time.Now()
	at = c.now()
	return at, wall.UnixNano() - at, wall
}

// due returns a note if the last is a minute old, or if the wall clock was set since.
func (c *clockNotes) due() *events.ClockNote {
	at, offset, wall := c.read()
	jumped := offset - c.offset
	if jumped < clockJump && jumped > -clockJump {
		if at-c.at < clockEvery {
			return nil
		}
		jumped = 0
	}
	c.at, c.offset = at, offset
	return &events.ClockNote{At: at, Wall: wall.UTC().Format(time.RFC3339Nano), Jumped: jumped}
}
