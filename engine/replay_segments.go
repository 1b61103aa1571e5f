package engine

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/plaindata"
)

// ReplaySegments does the same as Replay, with a log in segments that was not read yet.
func ReplaySegments(s *events.Segments, until uint64, recipes ...Recipe) (Replayed, error) {
	p := segmentsReplayer{replayer: replayer{engine: New(true, recipes...)}, log: s, recipes: recipes}
	p.next = p.record
	notes := s.Notes
	s.Notes = func(n events.Note) {
		p.note(n)
		if notes != nil {
			notes(n)
		}
	}
	err := p.all(until)
	p.sum.Engine, p.sum.Torn, p.sum.Unknown = p.engine, s.Torn(), s.Unknown()
	ended := err == nil || err == error(p.gap)
	p.sum.Cut = ended && (s.End() == nil || s.End().Why == events.EndRotated) &&
		(until == 0 || p.seq < until)
	return p.sum, err
}

// segmentsReplayer replays a log that may have checkpoints.
type segmentsReplayer struct {
	replayer
	log     *events.Segments
	recipes []Recipe

	parts [][]byte    // the checkpoint that is being read, or was
	taken uint64      // its seq
	whole bool        // it was read to its end, and not used yet
	gap   *events.Gap // the first
}

// note keeps the parts of a checkpoint, which stand one after the other.
func (p *segmentsReplayer) note(n events.Note) {
	c := n.Checkpoint
	if c == nil || c.State == nil {
		return
	}
	if c.Part < 2 {
		p.parts = nil
	}
	p.parts = append(p.parts, c.State)
	p.taken, p.whole = c.Seq, c.Part == c.Of
}

// record returns the next record. A checkpoint before it has to be the state that the
// replay has come to.
func (p *segmentsReplayer) record() (events.Record, error) {
	r, err := p.log.Next()
	if p.whole {
		if different := p.compare(); different != nil {
			return r, different
		}
	}
	return r, err
}

// all replays the log up to its end, and from checkpoints behind gaps.
func (p *segmentsReplayer) all(until uint64) error {
	for {
		err := p.play(until)
		var gap *events.Gap
		if !errors.As(err, &gap) {
			if err == nil && p.gap != nil {
				return p.gap
			}
			return err
		}
		if !p.behind(gap) {
			return err
		}
		if err := p.resume(); err != nil {
			return err
		}
	}
}

// behind reads what follows a gap up to a record. It reports whether a checkpoint is there.
func (p *segmentsReplayer) behind(gap *events.Gap) bool {
	for {
		if begins := gap.From == 1 && p.log.Header().Before == gap.To; !begins && p.gap == nil {
			p.gap = gap
		}
		r, err := p.log.Next()
		if p.whole && p.taken == gap.To {
			p.next = func() (events.Record, error) {
				p.next = p.record
				return r, err
			}
			return true
		}
		if !errors.As(err, &gap) {
			return false
		}
	}
}

// play does the same as replayer.play. A state from a checkpoint may be one in which
// machines panic, because no events lead to it.
func (p *segmentsReplayer) play(until uint64) (err error) {
	if p.engine.bounded {
		defer func() {
			if broken := recover(); broken != nil {
				err = panicked(p.sum.Records, broken)
			}
		}()
	}
	return p.replayer.play(until)
}

func panicked(records uint64, broken any) error {
	return &BadCheckpointError{fmt.Sprintf("after %d records, a machine panics: %v", records, broken)}
}

// read reads the checkpoint.
func (p *segmentsReplayer) read() (Checkpoint, error) {
	c, err := ReadCheckpoint(p.parts, p.recipes...)
	p.parts, p.whole = nil, false
	if err == nil && c.seq != p.taken {
		err = &BadCheckpointError{fmt.Sprintf("it is of record %d, and stands after record %d", c.seq, p.taken)}
	}
	return c, err
}

// resume has the replay go on from the checkpoint.
func (p *segmentsReplayer) resume() error {
	c, err := p.read()
	if err != nil {
		return err
	}
	e, err := c.Restore(true, p.recipes...)
	if err != nil {
		return err
	}
	e.bounded = true
	p.engine, p.seq = e, c.seq
	if p.sum.Records == 0 && p.gap == nil {
		p.sum.After = c.seq
	}
	return nil
}

// compare returns an error if the checkpoint is not the state that the replay has come to.
// The running timers are not compared: a replay has none.
func (p *segmentsReplayer) compare() error {
	logged, err := p.read()
	var model *ModelChangedError
	switch {
	case errors.As(err, &model):
		return nil // it is not needed: the records before it are there
	case err != nil:
		return err
	}
	got := p.engine.Checkpoint()
	logged.timers = nil
	a, err := logged.parts(plaindata.Writer{Compare: true}, 1)
	b, err2 := got.parts(plaindata.Writer{Compare: true}, 1)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	for i := range max(len(a), len(b)) {
		var one, other []byte
		if i < len(a) {
			one = a[i]
		}
		if i < len(b) {
			other = b[i]
		}
		if !bytes.Equal(one, other) {
			d := &Divergence{Kind: "different", Seq: logged.seq, Logged: string(one), Replayed: string(other)}
			if i < len(logged.machines) {
				d.Machine = logged.machines[i].id
			}
			return d
		}
	}
	return nil
}
