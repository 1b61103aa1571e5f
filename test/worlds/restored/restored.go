// Package restored checks that engines that are restored from checkpoints go on as if nothing had happened. It plays
// the log of a client, and takes checkpoints on the way: each is written down, read, compared, and restored, and the
// rest of the log is played by the restored engine.
package restored

import (
	"bytes"
	"fmt"
	"io"
	"reflect"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// Play plays a log that begins with its first record. It takes a checkpoint after each step, or after those that hold
// one of the records at, which are in order. It returns how many it took. The error says which one is not the same
// after it was read, or what the engine that was restored from it did otherwise than the log.
func Play(log []events.Record, at []uint64, recipes ...engine.Recipe) (taken int, err error) {
	c := engine.New(true, recipes...).Checkpoint()
	for c.Seq() < uint64(len(log)) {
		until := c.Seq() + 1
		if at != nil {
			for len(at) > 0 && at[0] <= c.Seq() {
				at = at[1:]
			}
			until = 0
			if len(at) > 0 {
				until = at[0]
			}
		}
		before := c.Seq()
		sum, err := engine.ReplayFrom(c, reader(log[before:]), until, recipes...)
		if err != nil {
			return taken, fmt.Errorf("after a checkpoint of seq %d: %w", before, err)
		}
		if c, err = reread(sum.Engine.Checkpoint(), recipes...); err != nil {
			return taken, err
		}
		if c.Seq() != before+sum.Records {
			return taken,
				fmt.Errorf("%d records were played from seq %d on, and the checkpoint is of %d", sum.Records,
					before, c.Seq())
		}
		taken++
	}
	return taken, nil
}

// reread returns a checkpoint as it is after it was written and read.
func reread(c engine.Checkpoint, recipes ...engine.Recipe) (engine.Checkpoint, error) {
	text, err := c.MarshalJSON()
	if err != nil {
		return c, err
	}
	parts, err := c.Parts(len(text) / 3)
	if err != nil {
		return c, err
	}
	read, err := engine.ReadCheckpoint(parts, recipes...)
	if err != nil {
		return c, fmt.Errorf("the checkpoint of seq %d: %w\n%s", c.Seq(), err, text)
	}
	again, err := read.MarshalJSON()
	switch {
	case err != nil:
		return c, err
	case !bytes.Equal(text, again):
		return c, fmt.Errorf("the checkpoint of seq %d is\n%s\nand after it was read\n%s", c.Seq(), text, again)
	case !reflect.DeepEqual(c, read):
		return c, fmt.Errorf("the checkpoint of seq %d has facts that are not written down:\n%s", c.Seq(), text)
	}
	return read, nil
}

func reader(log []events.Record) func() (events.Record, error) {
	return func() (r events.Record, err error) {
		if len(log) == 0 {
			return r, io.EOF
		}
		r, log = log[0], log[1:]
		return r, nil
	}
}
