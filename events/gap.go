package events

import (
	"fmt"
	"math"
)

// Gap is a line of a log in place of records that were dropped: whole steps only. The
// next record has the seq after To. Reader.Next returns a *Gap as the error for such a
// line, and can be called again; a replay ends with it.
type Gap struct {
	From  uint64 `json:"from"`  // seq of the first record that is missing
	To    uint64 `json:"to"`    // seq of the last one
	Count uint64 `json:"count"` // how many there are
	Why   string `json:"why"`   // for people
}

func (g *Gap) Error() string {
	records := "records are"
	if g.Count == 1 {
		records = "record is"
	}
	return fmt.Sprintf("the log has a gap: %d %s missing, seq %d to %d: %s", g.Count, records, g.From, g.To, g.Why)
}

// follows reports whether the gap begins after seq, and Count agrees with its ends.
func (g *Gap) follows(seq uint64) bool {
	return g.From == seq+1 && g.To >= g.From && g.To < math.MaxUint64 && g.Count == g.To-g.From+1
}

// followGap returns the gap, or a *DamagedError if it cannot stand here.
func (r *Reader) followGap(g *Gap) error {
	if !g.follows(r.seq) {
		return &DamagedError{Line: r.line,
			Why: fmt.Sprintf("a gap of %d records, seq %d to %d, cannot follow seq %d", g.Count, g.From, g.To, r.seq)}
	}
	r.seq = g.To
	return g
}
