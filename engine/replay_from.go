package engine

import (
	"fmt"

	"github.com/incumbent-go/incumbent/events"
)

// ReplayFrom does the same as ReplayRecords with the records that follow a checkpoint: the
// first that next returns has the seq after Checkpoint.Seq. Replayed.Records counts from
// there, and until is a seq. The error may also be one of Restore, or a *BadCheckpointError
// if a machine panics, as none does in a state that it can come to.
func ReplayFrom(c Checkpoint, next func() (events.Record, error), until uint64,
	recipes ...Recipe) (sum Replayed, err error) {
	e, err := c.Restore(true, recipes...)
	if err != nil {
		return Replayed{}, err
	}
	e.bounded = true
	p := replayer{engine: e, seq: c.seq}
	p.next = func() (events.Record, error) {
		p.next = next
		r, err := next()
		if err == nil && r.Seq != c.seq+1 {
			err = &BadCheckpointError{
				fmt.Sprintf("it was taken after the record %d, and is followed by %d", c.seq, r.Seq)}
		}
		return r, err
	}
	defer func() {
		if broken := recover(); broken != nil {
			sum, err = p.sum, panicked(p.sum.Records, broken)
		}
	}()
	err = p.play(until)
	p.sum.Engine = e
	return p.sum, err
}
