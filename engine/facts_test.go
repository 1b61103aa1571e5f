package engine

import (
	"testing"

	"github.com/incumbent-go/incumbent/events"
)

// A record has the deadline of its effects as a number, and so has what is read of a log.
func TestARecordHasTheDeadlineAsANumber(t *testing.T) {
	records := conversation().records
	i := position(t, records, func(r events.Record) bool { return r.Deadline != 0 })
	want(t, "the deadline", events.Deadline{Until: records[i].Deadline}.String(), records[i].Effects[0].String())
	for changed, ok := range map[int64]bool{records[i].Deadline: true, 77: false} {
		log := tamper(t, func(r []events.Record) []events.Record {
			r[i].Effects = append(events.Effects{events.Deadline{Until: changed}}, r[i].Effects[1:]...)
			return r
		})
		if _, err := replay(log, 0); (err == nil) != ok {
			t.Errorf("deadline %d: %v", changed, err)
		}
	}
}
