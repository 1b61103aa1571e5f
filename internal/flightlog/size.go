package flightlog

import (
	"fmt"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/events"
)

// sizeOf returns about how many bytes a step takes in memory. The guards in Tried are the
// chart's own, and take none.
func sizeOf(step []events.Record) (n int) {
	const record, stat, word, op = 560, 88, 16, 96
	for i := range step {
		r := &step[i]
		e := &r.Event
		n += record + len(e.Text) + len(e.Path) + len(e.Address) + len(e.Data) + op*len(e.Ops)
		for _, one := range e.Ops {
			n += len(one.Path) + len(one.Data)
		}
		if e.Stat != nil {
			n += stat
		}
		for _, effect := range r.Effects {
			n += effectSize(effect)
		}
		n += word * len(e.Children)
		for _, name := range e.Children {
			n += len(name)
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
		n += len(e.Path) + len(e.Data) + len(e.With.Path) + len(e.With.Data)
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

// unreadable returns a gap in the place of a step with a record that is too long for a reader,
// and the record's length; nil for every other step.
func unreadable(step []events.Record) (gap *events.Gap, length int) {
	const escaped = 6 // the most bytes for one byte
	for i, record := range step {
		if sizeOf(step[i:i+1]) < events.MaxLine/escaped {
			continue
		}
		if length := events.LineLength(record); length > events.MaxLine {
			return &events.Gap{From: step[0].Seq, To: step[len(step)-1].Seq, Count: uint64(len(step)),
				Why: fmt.Sprintf("the record %d has up to %d bytes, and a log's line has at most %d", record.Seq,
					length, events.MaxLine)}, length
		}
	}
	return nil, 0
}

// dropUnreadable returns a gap instead of a step with a record that is too long for a
// reader, and every other step unchanged.
func (r *Recorder) dropUnreadable(one recorded) recorded {
	gap, length := unreadable(one.step)
	if gap == nil {
		return one
	}
	r.mu.Lock()
	r.dropped += gap.Count
	r.gaps++
	r.mu.Unlock()
	r.log.Log(zerolog.WarnLevel, "a record is too long for the log: the log has a gap", func(e *zerolog.Event) {
		e.Uint64("from", gap.From).Uint64("to", gap.To).Uint64("dropped", gap.Count).Int("bytes", length)
	})
	return recorded{note: &events.Note{Gap: gap}, size: one.size}
}
