// Package flightlog writes the flight log of a client: into a writer of the user's own, into a directory, or the last
// records when they are asked for.
package flightlog

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/journal"
)

// Room is about how many bytes of records may wait for the log's writer.
const Room = 8 << 20

// Recorder writes the flight recorder's log from a goroutine of its own. The loop never
// waits for it: if there is no room, whole steps are dropped, and the log has a gap record
// in their place.
type Recorder struct {
	log   *journal.Logger
	now   func() int64
	room  int
	out   Output
	wake  chan struct{} // full if there may be something to write
	Done  chan struct{} // closed when nothing will be written any longer
	retry chan struct{} // receives when a failed output is tried again

	closing chan struct{} // closed by close
	Delay   time.Duration // for how long entries are collected before they are written

	// checkpoints is Loop.Checkpoint; nil if there is no loop.
	checkpoints func(begin func(seq uint64), take func(engine.Checkpoint)) bool

	mu      sync.Mutex
	queue   batch
	asked   bool     // a checkpoint was asked for, and is not written yet
	waiting int      // bytes in the queue, and of the entries that are being written
	gap     *openGap // what was dropped since the last step that had room
	seen    uint64   // records that the loop made
	last    uint64   // the seq of the last of them
	written uint64   // those of them that the output has taken
	dropped uint64   // those of them that had no room, or were lost
	gaps    uint64
	broken  error       // why the output fails now; it is tried again
	err     error       // why the recording ended
	ended   func(error) // is called with err when it is set
	closed  bool
}

// openGap is a gap that has not ended yet.
type openGap struct {
	from, to uint64
	since    int64
	why      string // with a verb for how long
}

// Output is where a recorder writes.
type Output interface {
	// begin opens the next segment, if none is open.
	begin(before uint64) error
	// write writes an entry, without flushing it.
	write(one recorded) error
	// flush writes what is buffered.
	flush() error
	// due reports whether the segment is so large that another one should follow.
	due() bool
	// room returns how many bytes a checkpoint may have.
	room() int64
	// rotate ends the segment: the next begin opens another one.
	rotate() error
	// discard closes the segment after a failure. It returns false if the output can never
	// be used again.
	discard() bool
	// end writes the last line, and closes the output.
	end(why string) error
	// safe returns the seq of the last record that was flushed.
	safe() uint64
	bytes() uint64
	segment() string
}

// Delay is for how long entries are collected before they are written into a
// directory: so much is lost if the process is killed. One write for each of them would cost
// more than all else that a recorder does. A writer of the user's own gets them immediately.
const Delay = 5 * time.Millisecond

// New begins a recorder's output. It records from start on.
func New(out Output, log *journal.Logger, now func() int64, room int) (*Recorder, error) {
	r := &Recorder{
		log: log, now: now, room: room, out: out, wake: make(chan struct{}, 1), Done: make(chan struct{}),
		closing: make(chan struct{}), retry: make(chan struct{}, 1),
	}
	if err := out.begin(0); err != nil {
		if !out.discard() {
			return nil, err
		}
		r.fail(err)
	}
	return r, nil
}

// Start starts the goroutine that writes. Loop may be nil.
func (r *Recorder) Start(loop *engine.Loop) {
	if loop != nil {
		r.checkpoints = loop.Checkpoint
	}
	go r.run()
}

// Record takes a step from the loop. It never waits for the writer.
func (r *Recorder) Record(step []events.Record) {
	if len(step) == 0 {
		return
	}
	size := sizeOf(step)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen += uint64(len(step))
	r.last = step[len(step)-1].Seq
	switch {
	case r.err != nil:
	case r.broken != nil || !r.fits(size) || r.gap != nil && r.checkpoints != nil:
		r.drop(step) // a checkpoint ends the gap
	default:
		r.endGap()
		r.put(recorded{step: r.queue.keep(step), size: size})
	}
}

// Late takes from the loop that a timer's event came late.
func (r *Recorder) Late(at, by int64) { r.Note(events.Note{Late: &events.Late{At: at, By: by}}, 100) }

// Note takes a line that is no record, of about this size in memory, unless records are being dropped. It is safe for
// concurrent use, and does nothing after close.
func (r *Recorder) Note(n events.Note, size int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil && r.broken == nil && r.gap == nil && !r.closed && r.fits(size) {
		r.put(recorded{note: &n, size: size})
	}
}

// fits reports whether a step may wait. After a gap, half of the room has to be free first:
// so a writer that is a little too slow causes few long gaps, not many short ones. A step
// that is larger than all the room waits alone.
func (r *Recorder) fits(size int) bool {
	room := r.room
	if r.gap != nil {
		room /= 2
	}
	return r.waiting == 0 || r.waiting+size <= room
}

func (r *Recorder) drop(step []events.Record) {
	first, last := step[0].Seq, step[len(step)-1].Seq
	if r.gap == nil {
		r.gap = &openGap{from: first, since: r.now(), why: "Config.Record was too slow for %s"}
		r.gaps++
		r.log.Log(zerolog.WarnLevel, "Config.Record is too slow: records are dropped",
			func(e *zerolog.Event) { e.Uint64("from", first) })
	}
	r.gap.to = last
	r.dropped += uint64(len(step))
}

// endGap queues the gap before the step that follows it.
func (r *Recorder) endGap() {
	if r.gap == nil {
		return
	}
	if r.gap.to < r.gap.from {
		r.gap = nil
		return
	}
	lasted := time.Duration(r.now() - r.gap.since).Round(time.Millisecond)
	gap := events.Gap{From: r.gap.from, To: r.gap.to, Count: r.gap.to - r.gap.from + 1,
		Why: fmt.Sprintf(r.gap.why, lasted)}
	r.gap = nil
	r.put(recorded{note: &events.Note{Gap: &gap}})
	r.log.Log(zerolog.WarnLevel, "Config.Record has room again: the log has a gap", func(e *zerolog.Event) {
		e.Uint64("from", gap.From).Uint64("to", gap.To).Uint64("dropped", gap.Count).
			Int64("lasted_ms", lasted.Milliseconds())
	})
}

func (r *Recorder) put(one recorded) {
	r.queue.entries = append(r.queue.entries, one)
	r.waiting += one.size
	if len(r.queue.entries) == 1 {
		r.signal()
	}
}

func (r *Recorder) signal() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Close ends the recorder when the queue is written. It returns a channel that is closed
// then, which is never if the writer does not return. Nothing may be recorded after it.
func (r *Recorder) Close() (done <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil && r.broken == nil {
		r.endGap()
	}
	r.closed = true
	close(r.closing)
	return r.Done
}

// flushEvery is how many records are buffered at most.
const flushEvery = 256

// run writes; it is the only goroutine that does.
func (r *Recorder) run() {
	defer close(r.Done)
	// What remains to be done if Config.Record calls runtime.Goexit.
	err := errors.New("incumbent: Config.Record ended the goroutine that called it")
	defer func() { r.end(err) }()
	lastTry := false
	var spare batch
	for {
		next := r.take(spare)
		switch {
		case len(next.entries) > 0:
			if err := r.writeAll(next.entries); err != nil {
				r.failed(err)
			}
		case lastTry:
			err = r.finish()
			return
		default:
			lastTry = true // of an output that failed
			r.resume()
		}
		spare = next.emptied()
	}
}

// writeAll writes entries, and flushes them.
func (r *Recorder) writeAll(entries []recorded) error {
	size, records := 0, uint64(0)
	for i, next := range entries {
		next = r.dropUnreadable(next)
		if err := r.writeOne(next); err != nil {
			return err
		}
		size += next.size
		records += uint64(len(next.step))
		if records < flushEvery && i < len(entries)-1 {
			continue
		}
		if err := r.out.flush(); err != nil {
			return err
		}
		r.took(size, records)
		size, records = 0, 0
		if err := r.rotate(next); err != nil {
			return err
		}
	}
	return nil
}

// writeOne writes an entry.
func (r *Recorder) writeOne(next recorded) error {
	if next.checkpoint != nil {
		return r.writeCheckpoint(next.checkpoint)
	}
	return r.out.write(next)
}

// rotate begins another segment if the present one is long enough. If there are
// checkpoints, it only asks for one: the next segment begins with it.
func (r *Recorder) rotate(after recorded) error {
	switch {
	case !r.out.due() || len(after.step) == 0:
		return nil
	case r.checkpoints != nil:
		r.askCheckpoint()
		return nil
	}
	if err := r.out.rotate(); err != nil {
		return err
	}
	return r.out.begin(after.step[len(after.step)-1].Seq)
}

// finish writes the end of the log.
func (r *Recorder) finish() error {
	r.mu.Lock()
	broken := r.broken
	r.mu.Unlock()
	if broken != nil {
		return broken
	}
	return r.out.end(events.EndClosed)
}

// take waits for entries, and takes all of them. It gives the queue another list to fill.
// It returns none if nothing will come any longer.
func (r *Recorder) take(spare batch) (next batch) {
	for waited := false; ; {
		r.mu.Lock()
		if len(r.queue.entries) > 0 && (waited || r.closed || r.Delay <= 0) {
			next, r.queue = r.queue, spare
			r.mu.Unlock()
			return next
		}
		some, closed := len(r.queue.entries) > 0, r.closed
		r.mu.Unlock()
		switch {
		case some:
			r.collect()
			waited = true
			continue
		case closed:
			return batch{}
		}
		select {
		case <-r.wake:
		case <-r.closing:
		case <-r.retry:
			r.resume()
		}
	}
}

// collect waits while entries are collected.
func (r *Recorder) collect() {
	t := time.NewTimer(r.Delay)
	defer t.Stop()
	select {
	case <-t.C:
	case <-r.closing:
	}
}

// took frees the room of entries that were written.
func (r *Recorder) took(size int, written uint64) {
	r.mu.Lock()
	r.waiting -= size
	r.written += written
	roomAgain := r.gap != nil && r.waiting <= r.room/2
	r.mu.Unlock()
	if roomAgain {
		r.askCheckpoint()
	}
}

// end ends the recording if err is not nil: nothing more is recorded. The first error
// counts.
func (r *Recorder) end(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil || r.err != nil {
		return
	}
	r.err, r.queue, r.waiting, r.gap = err, batch{}, 0, nil
	r.log.Log(zerolog.ErrorLevel, "recording ended", func(e *zerolog.Event) { journal.AddErr(e, err) })
	if r.ended != nil {
		r.ended(err)
	}
}

// OnEnd has a function called when the recording ends by an error, which may be now. It must not block.
func (r *Recorder) OnEnd(f func(error)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended = f; r.err != nil {
		f(r.err)
	}
}
