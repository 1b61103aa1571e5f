package flightlog

import (
	"errors"
	"fmt"
	"io"
	"math"
	"sync/atomic"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/internal/usercode"
)

// writerOutput is a Config.Record of the user's own: one log in one piece.
type writerOutput struct {
	sink   *sink
	header events.Header
	w      *events.Writer
	clocks clockNotes
}

// NewWriterOutput returns an output that writes one log in one piece.
func NewWriterOutput(w io.Writer, h events.Header, now func() int64) Output {
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
	o.clocks.asked = false
	return nil
}

func (o *writerOutput) due() bool            { return false }
func (o *writerOutput) room() int64          { return math.MaxInt64 }
func (o *writerOutput) rotate() error        { return nil }
func (o *writerOutput) discard() bool        { return false }
func (o *writerOutput) end(why string) error { return o.w.WriteEnd(why) }
func (o *writerOutput) safe() uint64         { return 0 } // it is never used again after a failure
func (o *writerOutput) bytes() uint64        { return o.sink.bytes.Load() }
func (o *writerOutput) segment() string      { return "" }

// writeEntry writes a step or a note, and before the first step after a flush what the wall
// clock is, if that is due.
func writeEntry(w *events.Writer, clocks *clockNotes, one recorded) error {
	if one.note != nil {
		return w.WriteNote(*one.note)
	}
	if note := clocks.dueOnce(); note != nil {
		if err := w.WriteNote(events.Note{Clock: note}); err != nil {
			return err
		}
	}
	return writeRecords(w, one.step)
}

func writeRecords(w *events.Writer, step []events.Record) error {
	for i := range step {
		if err := w.Write(step[i]); err != nil {
			return err
		}
	}
	return nil
}

// clockNotes decides when a log says what the wall clock is.
type clockNotes struct {
	now    func() int64
	at     int64     // of the last note
	offset int64     // of the wall clock from the loop's, then
	asked  bool      // since the last flush: each reading is a call of the system
	wall   time.Time // then; it has a reading of Go's clock, which stands still while the machine sleeps
}

const (
	clockEvery = int64(time.Minute)
	clockJump  = int64(10 * time.Millisecond)
)

// begin is called when a header was written: it says what the clocks are.
func (c *clockNotes) begin() { c.at, c.offset, c.wall = c.read() }

func (c *clockNotes) read() (at, offset int64, wall time.Time) {
	wall = time.Now()
	at = c.now()
	return at, wall.UnixNano() - at, wall
}

// dueOnce does the same as due for the first step after a flush, and returns nil for others.
func (c *clockNotes) dueOnce() *events.ClockNote {
	if c.asked {
		return nil
	}
	c.asked = true
	return c.due()
}

// due returns a note if the last is a minute old, if the wall clock was set since, or if the machine slept.
func (c *clockNotes) due() *events.ClockNote {
	at, offset, wall := c.read()
	if c.apart(at, offset, wall) {
		at, offset, wall = c.read() // this goroutine may have stood still between the two readings
	}
	apart := c.apart(at, offset, wall)
	if !apart && at-c.at < clockEvery {
		return nil
	}
	note := &events.ClockNote{At: at, Wall: wall.UTC().Format(time.RFC3339Nano)}
	if apart {
		note.Jumped, note.Slept = beyondJump(offset-c.offset), max(beyondJump(c.slept(at, wall)), 0)
	}
	c.at, c.offset, c.wall = at, offset, wall
	return note
}

// apart reports whether the clocks went apart since the last note.
func (c *clockNotes) apart(at, offset int64, wall time.Time) bool {
	return beyondJump(offset-c.offset) != 0 || beyondJump(c.slept(at, wall)) > 0
}

// slept returns for how long the loop's clock went on while Go's stood still.
func (c *clockNotes) slept(at int64, wall time.Time) int64 {
	return at - c.at - int64(wall.Sub(c.wall))
}

// beyondJump returns n, or 0 if it is too little to count.
func beyondJump(n int64) int64 {
	if n < clockJump && n > -clockJump {
		return 0
	}
	return n
}

// sink is Config.Record as the recorder calls it: it counts bytes, and turns a panic or a
// wrong count into an error.
type sink struct {
	w     io.Writer
	bytes atomic.Uint64
}

func (s *sink) Write(b []byte) (n int, err error) {
	err = usercode.Call(func() (err error) { n, err = s.w.Write(b); return err })
	var failed *usercode.Error
	switch {
	case errors.As(err, &failed):
		return 0, fault.Because("incumbent: "+failed.By("Config.Record"), failed)
	case n < 0 || n > len(b):
		return 0, fmt.Errorf("incumbent: Config.Record says that it took %d of %d bytes", n, len(b))
	case n < len(b) && err == nil:
		err = io.ErrShortWrite
	}
	s.bytes.Add(uint64(n))
	return n, err
}
