package incumbent

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// recordRoom is about how many bytes of records may wait for Config.Record.
const recordRoom = 8 << 20

// recorder writes the flight recorder's log from a goroutine of its own. The loop never
// waits for it: if there is no room, whole steps are dropped, and the log has a gap record
// in their place.
type recorder struct {
	log  *logger
	now  func() int64
	room int
	sink *sink
	wake chan struct{} // full if there may be something to write
	done chan struct{} // closed when nothing will be written any longer

	mu      sync.Mutex
	queue   []recorded
	waiting int      // bytes in the queue, and of the entry that is being written
	gap     *openGap // what was dropped since the last step that had room
	seen    uint64   // records that the loop made
	written uint64   // those of them that Config.Record has taken
	dropped uint64   // those of them that had no room
	gaps    uint64
	err     error // why the recording ended
	closed  bool
}

// recorded is an entry that waits to be written: a step, or a gap.
type recorded struct {
	step []events.Record
	gap  *events.Gap
	size int
}

// openGap is a gap that has not ended yet.
type openGap struct {
	from, to uint64
	since    int64
}

func newRecorder(w io.Writer, h events.Header, log *logger, now func() int64, room int) (*recorder, error) {
	r := &recorder{log: log, now: now, room: room, sink: &sink{w: w}, wake: make(chan struct{}, 1), done: make(chan struct{})}
	lw, err := events.NewWriter(r.sink, h)
	if err != nil {
		return nil, err
	}
	go r.run(lw)
	return r, nil
}

// record takes a step from the loop. It never waits for the writer.
func (r *recorder) record(step []events.Record) {
	if len(step) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen += uint64(len(step))
	size := sizeOf(step)
	switch {
	case r.err != nil:
	case !r.fits(size):
		r.drop(step)
	default:
		r.endGap()
		r.put(recorded{step: slices.Clone(step), size: size})
	}
}

// fits reports whether a step may wait. After a gap, half of the room has to be free first:
// so a writer that is a little too slow causes few long gaps, not many short ones. A step
// that is larger than all the room waits alone.
func (r *recorder) fits(size int) bool {
	room := r.room
	if r.gap != nil {
		room /= 2
	}
	return r.waiting == 0 || r.waiting+size <= room
}

func (r *recorder) drop(step []events.Record) {
	first, last := step[0].Seq, step[len(step)-1].Seq
	if r.gap == nil {
		r.gap = &openGap{from: first, since: r.now()}
		r.gaps++
		r.log.log(zerolog.WarnLevel, "Config.Record is too slow: records are dropped", func(e *zerolog.Event) { e.Uint64("from", first) })
	}
	r.gap.to = last
	r.dropped += uint64(len(step))
}

// endGap queues the gap before the step that follows it.
func (r *recorder) endGap() {
	if r.gap == nil {
		return
	}
	lasted := time.Duration(r.now() - r.gap.since).Round(time.Millisecond)
	gap := events.Gap{From: r.gap.from, To: r.gap.to, Count: r.gap.to - r.gap.from + 1,
		Why: fmt.Sprintf("Config.Record was too slow for %s", lasted)}
	r.gap = nil
	r.put(recorded{gap: &gap})
	r.log.log(zerolog.WarnLevel, "Config.Record has room again: the log has a gap", func(e *zerolog.Event) {
		e.Uint64("from", gap.From).Uint64("to", gap.To).Uint64("dropped", gap.Count).Int64("lasted_ms", lasted.Milliseconds())
	})
}

func (r *recorder) put(one recorded) {
	r.queue = append(r.queue, one)
	r.waiting += one.size
	r.signal()
}

func (r *recorder) signal() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// close ends the recorder when the queue is written. It returns a channel that is closed
// then, which is never if Config.Record does not return. Nothing may be recorded after it.
func (r *recorder) close() (done <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.endGap()
	}
	r.closed = true
	r.signal()
	return r.done
}

// flushEvery is how many records are buffered at most while more wait.
const flushEvery = 256

// run writes; it is the only goroutine that does.
func (r *recorder) run(w *events.Writer) {
	defer close(r.done)
	// What remains to be done if Config.Record calls runtime.Goexit.
	err := errors.New("incumbent: Config.Record ended the goroutine that called it")
	defer func() { r.end(err) }()
	pending := uint64(0) // records that the writer has buffered
	for {
		next, more, ok := r.take()
		if !ok {
			err = w.Flush() // of a log without records: the header
			return
		}
		next = r.dropUnreadable(next)
		if err := write(w, next); err != nil {
			r.end(err)
			continue
		}
		pending += uint64(len(next.step))
		if more && pending < flushEvery {
			r.took(next.size, 0)
			continue
		}
		if err := w.Flush(); err != nil {
			r.end(err)
			continue
		}
		r.took(next.size, pending)
		pending = 0
	}
}

func write(w *events.Writer, one recorded) error {
	if one.gap != nil {
		return w.WriteGap(*one.gap)
	}
	for _, record := range one.step {
		if err := w.Write(record); err != nil {
			return err
		}
	}
	return nil
}

// dropUnreadable returns a gap instead of a step with a record that is too long for a
// reader, and every other step unchanged.
func (r *recorder) dropUnreadable(one recorded) recorded {
	const escaped = 6 // the most bytes for one byte
	for i, record := range one.step {
		if sizeOf(one.step[i:i+1]) < events.MaxLine/escaped {
			continue
		}
		line, err := events.Encode(record)
		if err != nil || len(line) <= events.MaxLine {
			continue
		}
		gap := events.Gap{From: one.step[0].Seq, To: one.step[len(one.step)-1].Seq, Count: uint64(len(one.step)),
			Why: fmt.Sprintf("the record %d has %d bytes, and a log's line has at most %d", record.Seq, len(line), events.MaxLine)}
		r.mu.Lock()
		r.dropped += gap.Count
		r.gaps++
		r.mu.Unlock()
		r.log.log(zerolog.WarnLevel, "a record is too long for the log: the log has a gap", func(e *zerolog.Event) {
			e.Uint64("from", gap.From).Uint64("to", gap.To).Uint64("dropped", gap.Count).Int("bytes", len(line))
		})
		return recorded{gap: &gap, size: one.size}
	}
	return one
}

// take waits for the next entry, and reports whether there are more; ok is false if nothing
// will come any longer.
func (r *recorder) take() (next recorded, more, ok bool) {
	for {
		r.mu.Lock()
		if len(r.queue) > 0 {
			next, r.queue[0] = r.queue[0], recorded{}
			r.queue = r.queue[1:]
			more = len(r.queue) > 0
			r.mu.Unlock()
			return next, more, true
		}
		closed := r.closed
		r.mu.Unlock()
		if closed {
			return recorded{}, false, false
		}
		<-r.wake
	}
}

// took frees the room of an entry that was written.
func (r *recorder) took(size int, written uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting -= size
	r.written += written
}

// end ends the recording if err is not nil: nothing more is recorded. The first error
// counts.
func (r *recorder) end(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil || r.err != nil {
		return
	}
	r.err, r.queue, r.waiting, r.gap = err, nil, 0, nil
	r.log.log(zerolog.ErrorLevel, "recording ended", func(e *zerolog.Event) { e.Err(err) })
}

// sizeOf returns about how many bytes a step takes in memory.
func sizeOf(step []events.Record) (n int) {
	const record, stat, word, op = 456, 88, 16, 96
	for i := range step {
		r := &step[i]
		e := &r.Event
		n += record + len(e.Text) + len(e.Path) + len(e.Data) + op*len(e.Ops)
		for _, one := range e.Ops {
			n += len(one.Path) + len(one.Data)
		}
		if e.Stat != nil {
			n += stat
		}
		for _, effect := range r.Effects {
			n += effectSize(effect)
		}
		for _, words := range [][]string{r.Tried, e.Children} {
			n += word * len(words)
			for _, w := range words {
				n += len(w)
			}
		}
		for name, value := range e.Options {
			n += 2*word + len(name) + len(value)
		}
	}
	return n
}

// effectSize returns about how many bytes an effect takes in memory: what it shares with
// the machine's model counts, too, because the record keeps it alive.
func effectSize(effect events.Effect) int {
	const fields, op = 120, 96
	n := fields
	switch e := effect.(type) {
	case events.Create:
		n += len(e.Path) + len(e.Data)
	case events.Multi:
		for _, one := range e.Ops {
			n += op + len(one.Path) + len(one.Data)
		}
	case events.Tell:
		n += 300 + len(e.Event.Path) + len(e.Event.Text)
	case events.Notify:
		n += 200 + len(e.Path) + len(e.Text) + len(e.Behind)
		for _, name := range e.Names {
			n += 16 + len(name)
		}
	case events.Answer:
		n += len(e.Text)
	}
	return n
}

// header describes this program and its settings. It holds no secret.
func header(c Config) events.Header {
	h := events.Header{
		Library: "incumbent " + version(),
		Go:      runtime.Version(),
		Charts:  map[string]string{},
		Options: c.options(),
		Start:   time.Now().UTC().Format(time.RFC3339Nano),
		StartAt: c.clock.Now(),
	}
	for _, r := range machines.Recipes() {
		h.Charts[r.Name()] = r.Digest()
	}
	return h
}

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	const module = "github.com/incumbent-go/incumbent"
	if info.Main.Path == module {
		return info.Main.Version
	}
	for _, d := range info.Deps {
		if d.Path == module {
			return d.Version
		}
	}
	return "(unknown)"
}
