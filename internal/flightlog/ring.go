package flightlog

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/internal/journal"
)

// Ring keeps the last records in memory, and writes them when a leadership is lost. They are
// in parts: each but the first of all begins with a checkpoint, so that the oldest part can
// be forgotten.
type Ring struct {
	RingUse
	path    string
	options DirOptions
	wake    chan string   // receives why the records are to be written
	Done    chan struct{} // closed when nothing will be written any longer

	mu    sync.Mutex
	parts []*ringPart // at most two, the oldest first
	least int         // records of a part, before another is begun
	asked bool        // a checkpoint was asked for, and is not there yet
	err   error       // why the directory could not be written when it was tried last
}

// RingUse is what a ring uses of its client.
type RingUse struct {
	Header     events.Header
	Log        *journal.Logger
	Granted    func() time.Duration
	Checkpoint func(begin func(seq uint64), take func(engine.Checkpoint)) bool // Loop.Checkpoint
}

// ringPart is some records, and the state of all machines before them.
type ringPart struct {
	before  uint64            // seq of the last record before
	state   engine.Checkpoint // unless before is 0
	steps   [][]events.Record
	records int
}

// NewRing returns an error if the directory cannot be used at all. If it cannot be written now, the client's logger
// says so:
// it may be writable when a dump is due.
func NewRing(path string, o DirOptions, use RingUse) (*Ring, error) {
	r := &Ring{
		RingUse: use, path: path, options: o,
		wake: make(chan string, 1), Done: make(chan struct{}),
		parts: []*ringPart{{}}, least: o.Ring,
	}
	dir, err := openSegments(path, o.Keep, r.Header)
	if err != nil {
		return nil, err
	}
	failed := dir.Try()
	if r.err = failed; failed != nil {
		r.Log.Log(zerolog.ErrorLevel,
			"the last records cannot be written: it is tried again when a leadership is lost",
			func(e *zerolog.Event) { journal.AddErr(e, failed) })
	}
	go r.run()
	return r, nil
}

// Record takes a step from the loop.
func (r *Ring) Record(step []events.Record) {
	if len(step) == 0 {
		return
	}
	r.mu.Lock()
	p := r.parts[len(r.parts)-1]
	p.steps = append(p.steps, slices.Clone(step))
	p.records += len(step)
	full := p.records >= r.least && !r.asked
	r.asked = r.asked || full
	r.mu.Unlock()
	if full {
		r.Checkpoint(r.begin, r.take)
	}
	if why := lossIn(step); why != "" {
		r.ask(why)
	}
}

// begin begins another part with the checkpoint that the loop takes from now on.
func (r *Ring) begin(seq uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.parts = []*ringPart{r.parts[len(r.parts)-1], {before: seq}}
}

// take takes that checkpoint from the loop. A part has as many records as there are
// machines, or more, so that the copies cost little for each record.
func (r *Ring) take(c engine.Checkpoint) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.parts[len(r.parts)-1].state = c
	r.least = max(r.options.Ring, c.Machines())
	r.asked = false
}

func (r *Ring) ask(why string) {
	select {
	case r.wake <- why:
	default: // a dump is about to be written already
	}
}

// lossIn returns why a leadership was lost in a step, "" if none was: its own end is no
// loss.
func lossIn(step []events.Record) string {
	for i := range step {
		for _, effect := range step[i].Effects {
			n, ok := effect.(events.Notify)
			if !ok || n.What != events.Stopped {
				continue
			}
			switch n.Reason {
			case events.ReasonClosed, events.ReasonResigned, events.ReasonReturned:
				continue
			}
			return fmt.Sprintf("leadership of %s was lost: %s", n.Path, n.Reason)
		}
	}
	return ""
}

// run writes dumps.
func (r *Ring) run() {
	defer close(r.Done)
	for why := range r.wake {
		name, err := r.Save(why)
		level, text := zerolog.WarnLevel, "the last records were written"
		if err != nil {
			level, text = zerolog.ErrorLevel, "the last records could not be written"
		}
		r.Log.Log(level, text, func(e *zerolog.Event) {
			journal.AddErr(e.Str("why", why).Str("segment",
				fault.Path(name)), err)
		})
	}
}

// Close ends the ring. Done is closed when nothing more is written. It is called once.
func (r *Ring) Close() { close(r.wake) }

// reasonOf returns why a dump is written, in a length that a header can have. It is not what
// the last line of another log says.
func reasonOf(why string) string {
	const most = 1000
	switch {
	case why == "":
		return "asked for"
	case why == events.EndClosed || why == events.EndRotated:
		return "asked for: " + why
	case len(why) > most:
		return strings.ToValidUTF8(why[:most], "") + "…"
	}
	return why
}

// Failure returns why the directory could not be written when it was tried last, nil if it could.
func (r *Ring) Failure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Save writes the records into a file of their own.
func (r *Ring) Save(why string) (name string, err error) {
	name, err = r.saveFor(reasonOf(why))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = err
	return name, err
}

func (r *Ring) saveFor(why string) (name string, err error) {
	h := r.Header
	h.Start = time.Now().UTC().Format(time.RFC3339Nano)
	dir, err := openSegments(r.path, r.options.Keep, h)
	if err != nil {
		return "", err
	}
	f, err := dir.Create(1)
	if err != nil {
		return "", err
	}
	if err := r.Dump(f, why, r.options.checkpointRoom()); err != nil {
		return f.Final(), fault.Together(err, f.Discard(0))
	}
	if r.options.Sync != SyncNever {
		err = f.Sync()
	}
	err = fault.Together(err, f.Close())
	dir.Wait()
	return f.Final(), err
}

// Dump writes a log of the records. A checkpoint has at most so many bytes.
func (r *Ring) Dump(w io.Writer, why string, most int64) error {
	r.mu.Lock()
	first := *r.parts[0]
	steps := first.steps
	if len(r.parts) > 1 {
		steps = slices.Concat(steps, r.parts[1].steps)
	}
	r.mu.Unlock()
	h := r.Header
	h.Dump, h.GrantedTimeout, h.Before = why, int64(r.Granted()), first.before
	out, err := events.NewWriter(w, h)
	if first.before > 0 {
		for _, note := range checkpointNotes(first.state, most) {
			if err == nil {
				err = out.WriteNote(note)
			}
		}
	}
	for _, step := range steps {
		if err == nil {
			err = writeStep(out, step)
		}
	}
	if err != nil {
		return err
	}
	return out.WriteEnd(why)
}

// writeStep writes a step, or a gap if no reader could read it.
func writeStep(w *events.Writer, step []events.Record) error {
	if gap, _ := unreadable(step); gap != nil {
		return w.WriteNote(events.Note{Gap: gap})
	}
	return writeRecords(w, step)
}
