package events

import (
	"bytes"
	"maps"
	"slices"
)

// Record is one line of the flight recorder: one event that a machine handled, or the
// engine if no machine awaited it, and the result.
type Record struct {
	Seq     uint64 `json:"seq"` // from 1, without gaps
	Machine ID     `json:"machine"`
	// Cause is the seq of the record whose effect this event answers, or whose Tell
	// sent it; 0 for other events from outside.
	Cause uint64 `json:"cause,omitempty"`
	// Internal marks an event that a machine of the loop sent: output of the record
	// Cause, not input. A replay does not feed it.
	Internal bool `json:"told,omitempty"`

	Event Event `json:"event"`

	Tried []string `json:"tried,omitempty"` // guards that did not hold, in order
	From  string   `json:"from,omitempty"`
	// Row is the transition: "kind [guard]"; or "ignored", "late" (nobody awaits this
	// any more), "unknown machine", or "refused" (a command that the machine does not
	// know or cannot execute).
	Row     string  `json:"row"`
	To      string  `json:"to,omitempty"`
	Effects Effects `json:"effects,omitempty"`
	// Chart is the digest of the chart of the machine that the record opened; "" in other records.
	Chart string `json:"chart,omitempty"`

	// Facts of the effects that programs need as values.
	// of a Deadline: until when belief holds, by the loop's clock; 0 is unconfirmed
	Deadline int64  `json:"deadline,string,omitempty"`
	Reason   Reason `json:"reason,omitempty"` // of a Notify: why belief ended

	// Unknown are fields of a newer version that the reader does not know, as they stand in
	// the line: each with a comma before it. They are no part of the comparison.
	Unknown string `json:"-"`
}

// The values of Row if no row was taken.
const (
	RowIgnored = "ignored"
	RowLate    = "late"
	RowUnknown = "unknown machine"
	RowRefused = "refused"
)

// Equal reports whether two records are equal in all fields, and so are the same line.
func (r Record) Equal(o Record) bool {
	return r.Seq == o.Seq && r.Machine == o.Machine && r.Cause == o.Cause && r.Internal == o.Internal &&
		r.From == o.From && r.Row == o.Row && r.To == o.To && r.Chart == o.Chart &&
		r.Deadline == o.Deadline && r.Reason == o.Reason &&
		slices.Equal(r.Tried, o.Tried) && r.Effects.equal(o.Effects) && r.Event.Equal(o.Event)
}

// Equal reports whether two events are equal in all fields that are written down.
func (e Event) Equal(o Event) bool {
	return e.Kind == o.Kind && e.At == o.At && e.Session == o.Session && e.Request == o.Request &&
		e.Code == o.Code && e.Text == o.Text && e.Zxid == o.Zxid && e.SentAt == o.SentAt && e.Contact == o.Contact &&
		e.Name == o.Name && e.Path == o.Path && slices.Equal(e.Children, o.Children) &&
		(e.Stat == o.Stat || e.Stat != nil && o.Stat != nil && *e.Stat == *o.Stat) && bytes.Equal(e.Data, o.Data) &&
		e.SessionID == o.SessionID && e.Timeout == o.Timeout && e.Server == o.Server && e.Address == o.Address &&
		e.Reattached == o.Reattached && e.End == o.End && e.Paused == o.Paused && e.Work == o.Work &&
		e.Silent == o.Silent && e.Recipe == o.Recipe && e.Seed == o.Seed && maps.Equal(e.Options, o.Options) &&
		slices.EqualFunc(e.Ops, o.Ops, Op.equal) && e.Attached == o.Attached && e.ValidUntil == o.ValidUntil &&
		e.AskAt == o.AskAt && e.NoContainers == o.NoContainers && e.ReadBack == o.ReadBack
}
