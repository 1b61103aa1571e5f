package flightlog

import (
	"fmt"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/fault"
)

// checkpoint is an entry of a log: the state of all machines at its place. The loop copies
// it while more is recorded.
type checkpoint struct {
	seq   uint64
	ready chan struct{} // closed when there is a state
	state engine.Checkpoint
}

// askCheckpoint asks the loop for a checkpoint, unless one is on its way.
func (r *Recorder) askCheckpoint() {
	r.mu.Lock()
	asked := r.asked || r.checkpoints == nil
	r.asked = true
	r.mu.Unlock()
	if asked {
		return
	}
	k := &checkpoint{ready: make(chan struct{})}
	r.checkpoints(func(seq uint64) { r.beginCheckpoint(k, seq) }, func(c engine.Checkpoint) {
		k.state = c
		close(k.ready)
	})
}

// beginCheckpoint takes the place of a checkpoint from the loop: what follows can be
// replayed from there. It ends a gap.
func (r *Recorder) beginCheckpoint(k *checkpoint, seq uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil || r.broken != nil || r.gap != nil && r.waiting > r.room/2 {
		r.asked = false // it is asked for when there is room
		return
	}
	r.endGap()
	k.seq = seq
	r.put(recorded{checkpoint: k})
}

// writeCheckpoint writes a checkpoint, at the head of another segment if the present one is
// long enough.
func (r *Recorder) writeCheckpoint(k *checkpoint) error {
	if err := r.out.flush(); err != nil {
		return err
	}
	<-k.ready
	r.mu.Lock()
	r.asked = false
	r.mu.Unlock()
	notes := checkpointNotes(k.state, r.out.room())
	if why := notes[0].Checkpoint.Why; why != "" {
		r.log.Log(zerolog.WarnLevel, "no checkpoint could be taken for the log",
			func(e *zerolog.Event) { e.Str("error", fault.Path(why)) })
	}
	if r.out.due() {
		if err := r.out.rotate(); err != nil {
			return err
		}
		if err := r.out.begin(k.seq); err != nil {
			return err
		}
	}
	for i := range notes {
		if err := r.out.write(recorded{note: &notes[i]}); err != nil {
			return err
		}
	}
	return r.out.flush()
}

// checkpointPart is about how many bytes a line of a checkpoint has.
const checkpointPart = 256 << 10

// checkpointNotes returns the lines of a checkpoint. If it cannot be written, or needs more
// than so many bytes, one line says so.
func checkpointNotes(c engine.Checkpoint, most int64) []events.Note {
	const rest = 1 << 10 // of a line
	without := func(why string) []events.Note {
		return []events.Note{{Checkpoint: &events.Checkpoint{Seq: c.Seq(), Why: why}}}
	}
	parts, err := c.Parts(checkpointPart)
	if err != nil {
		return without(err.Error())
	}
	var notes []events.Note
	total := int64(0)
	for i, part := range parts {
		total += int64(len(part))
		if len(part) > events.MaxLine-rest {
			return without(fmt.Sprintf("a machine has %d bytes, and a log's line has at most %d", len(part),
				events.MaxLine))
		}
		one := events.Checkpoint{Seq: c.Seq(), State: part}
		if len(parts) > 1 {
			one.Part, one.Of = i+1, len(parts)
		}
		notes = append(notes, events.Note{Checkpoint: &one})
	}
	if total > most {
		return without(fmt.Sprintf("it has %d bytes, and an eighth of RecordOptions.Keep is %d", total, most))
	}
	return notes
}
