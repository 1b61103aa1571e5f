package flightlog

import "github.com/incumbent-go/incumbent/events"

// recorded is an entry that waits to be written: a step, a note, or a checkpoint's state.
type recorded struct {
	step       []events.Record
	note       *events.Note
	checkpoint *checkpoint
	size       int
}

// batch is entries that are written together. The loop fills one while the writer writes the
// other, so that neither allocates: both keep their memory for the next entries.
type batch struct {
	entries []recorded
	records []events.Record // the copies that the last steps of entries are parts of
}

// maxBatch is how many records a batch has in one piece: about 300 KB.
const maxBatch = 512

// keep returns a copy of a step.
func (b *batch) keep(step []events.Record) []events.Record {
	if cap(b.records)-len(b.records) < len(step) {
		b.records = make([]events.Record, 0, max(len(step), min(2*cap(b.records), maxBatch)))
	}
	from := len(b.records)
	b.records = append(b.records, step...)
	return b.records[from:len(b.records):len(b.records)]
}

// emptied returns a batch that was written, for other entries. It forgets what the records
// refer to, and what was needed only once.
func (b batch) emptied() batch {
	clear(b.entries)
	clear(b.records)
	if cap(b.entries) > 2*maxBatch {
		b.entries = nil
	}
	if cap(b.records) > maxBatch {
		b.records = nil
	}
	return batch{b.entries[:0], b.records[:0]}
}
