// Package machine looks at what processes use of the machine: the driver with all that it started, and everybody else.
package machine

import "time"

// Snapshot is what the processors have done until a moment. All times are sums over the processors.
type Snapshot struct {
	busy, all time.Duration // since the machine started
	own       time.Duration // of this process and its descendants, those included that it has awaited
}

// Others returns which share of the machine other processes took between two snapshots: what was busy and was not used by an own
// process. Below a second the share is coarse: the machine counts in ticks of 10 ms. The kernel's work for the own processes that
// it does not account to them counts as others'.
func (s Snapshot) Others(later Snapshot) float64 {
	all := later.all - s.all
	if all <= 0 {
		return 0
	}
	others := (later.busy - s.busy) - (later.own - s.own)
	return max(0, float64(others)/float64(all))
}

// Busy returns a snapshot of a machine after one second, of which its processors were busy for so many hundredths, with nothing
// of that for own processes; with 0, one of before that second. It is for tests of what uses snapshots.
func Busy(hundredths int) Snapshot {
	if hundredths == 0 {
		return Snapshot{}
	}
	return Snapshot{busy: time.Duration(hundredths) * 10 * time.Millisecond, all: time.Second}
}
