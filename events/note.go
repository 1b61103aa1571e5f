package events

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Note is a line of a log that is no record: exactly one field is set. Reader.Notes gets
// all of them but gaps, which Reader.Next returns.
type Note struct {
	Clock      *ClockNote  `json:"clock,omitempty"`
	Late       *Late       `json:"late,omitempty"`
	Gap        *Gap        `json:"gap,omitempty"`
	Checkpoint *Checkpoint `json:"checkpoint,omitempty"`
	Write      *Write      `json:"write,omitempty"`
	End        *End        `json:"end,omitempty"`
}

// ClockNote says what the wall clock was at an instant of the loop's clock. A log has one
// each minute in which something is recorded, and when the wall clock jumped.
type ClockNote struct {
	At     int64  `json:"at,string"`
	Wall   string `json:"wall"`                    // RFC 3339
	Jumped int64  `json:"jumped,string,omitempty"` // by how much the wall clock was set, nanoseconds
	Slept  int64  `json:"slept,string,omitempty"`  // for how long the machine slept since the note before, nanoseconds
}

// Late says that a timer's event came much later than it was due: the loop, or the whole
// process, did not run.
type Late struct {
	At int64 `json:"at,string"` // when the loop took the event
	By int64 `json:"by,string"` // nanoseconds after it was due
}

// Write is a guarded write of a term, with its answer: no machine sends it. Without an answer it has neither Zxid
// nor Refused.
type Write struct {
	At      int64  `json:"at,string"`             // when the answer came
	Sent    int64  `json:"sent,string,omitempty"` // before the write was sent
	Path    string `json:"path"`                  // the node of the term
	Token   int64  `json:"token,string"`
	Zxid    int64  `json:"zxid,string,omitempty"` // of the transaction, if it was committed
	Refused Code   `json:"refused,omitempty"`     // why nothing was written
}

// Checkpoint has the state of all machines after the record Seq, as the engine encodes it:
// the records that follow can be replayed from there. A long one is in several lines, one
// after the other.
type Checkpoint struct {
	Seq   uint64          `json:"seq"`
	Part  int             `json:"part,omitempty"` // from 1, of several; 0 is the only one
	Of    int             `json:"of,omitempty"`   // how many lines it has, of several
	State json.RawMessage `json:"state,omitempty"`
	Why   string          `json:"why,omitempty"` // why there is no State
}

// End is the last line of a log, or of a segment, that was ended in order.
type End struct {
	Why     string `json:"why"`     // Closed or Rotated, or why a dump was written
	Records uint64 `json:"records"` // the seq of the last record
}

// The values of End.Why.
const (
	EndClosed  = "closed"  // the client was closed
	EndRotated = "rotated" // another segment follows
)

// count returns how many fields are set.
func (n Note) count() (set int) {
	for _, is := range []bool{n.Clock != nil, n.Late != nil, n.Gap != nil, n.Checkpoint != nil, n.Write != nil,
		n.End != nil} {
		if is {
			set++
		}
	}
	return set
}

// readNote reads a line without a seq. It returns an error for a kind of note that is not
// known, and the names of fields that are not known.
func readNote(line []byte) (n Note, unknown []string, err error) {
	t := text{b: line}
	t.object(func(key string) {
		raw := t.raw()
		if t.err != nil {
			return
		}
		var more []string
		switch key {
		case "clock":
			n.Clock = &ClockNote{}
			more, t.err = readFields(key, raw, n.Clock, "at", "wall", "jumped", "slept")
		case "late":
			n.Late = &Late{}
			more, t.err = readFields(key, raw, n.Late, "at", "by")
		case "gap":
			n.Gap = &Gap{}
			more, t.err = readFields(key, raw, n.Gap, "from", "to", "count", "why")
		case "checkpoint":
			n.Checkpoint = &Checkpoint{}
			more, t.err = readFields(key, raw, n.Checkpoint, "seq", "part", "of", "state", "why")
		case "write":
			n.Write = &Write{}
			more, t.err = readFields(key, raw, n.Write, "at", "sent", "path", "token", "zxid", "refused")
		case "end":
			n.End = &End{}
			more, t.err = readFields(key, raw, n.End, "why", "records")
		default:
			t.fail("unknown kind of note %q", key)
		}
		unknown = append(unknown, more...)
	})
	t.end()
	if t.err == nil && n.count() != 1 {
		t.err = errors.New("the line is neither a record nor one note")
	}
	return n, unknown, t.err
}

// readFields reads an object into a struct, its keys compared exactly.
func readFields(note string, raw []byte, into any, fields ...string) (unknown []string, err error) {
	t := text{b: raw}
	kept := []byte{}
	t.object(func(key string) {
		value := t.raw()
		for _, known := range fields {
			if key == known {
				kept = fmt.Appendf(kept, ",%q:%s", key, value)
				return
			}
		}
		unknown = append(unknown, note+"."+key)
	})
	if t.err != nil {
		return nil, t.err
	}
	kept = append(kept, '}')
	if len(kept) > 1 {
		kept[0] = '{'
	} else {
		kept = []byte("{}")
	}
	return unknown, json.Unmarshal(kept, into)
}
