package engine

import (
	"testing"

	"github.com/incumbent-go/incumbent/events"
)

// A record has the deadline as a number. A log that lacks it, as those of older versions do,
// is still replayed; another number is a difference.
func TestARecordHasTheDeadlineAsANumber(t *testing.T) {
	deadline := func(r events.Record) bool { return r.Deadline != 0 }
	records := conversation().records
	i := position(t, records, deadline)
	want(t, "the deadline", events.Deadline{Until: records[i].Deadline}.String(), records[i].Effects[0])
	for changed, ok := range map[int64]bool{0: true, 77: false} {
		log := tamper(t, func(r []events.Record) []events.Record {
			r[i].Deadline = changed
			return r
		})
		if _, err := replay(log, 0); (err == nil) != ok {
			t.Errorf("deadline %d: %v", changed, err)
		}
	}
}
