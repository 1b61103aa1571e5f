// Package machine measures what processes use of the machine: CPU time and memory of one process, and which share of
// the processors was used by processes that the driver did not start.
package machine

import "time"

// Snapshot is how much CPU time was used until a moment. All times are sums over the processors.
type Snapshot struct {
	busy, all time.Duration // since the machine started
	own       time.Duration // of this process and its descendants, those included that it has awaited
}

// Others returns which share of the processors' time other processes took between two snapshots, from 0 to 1: the time
// in which they were busy, without that of this process and its descendants. Below a second the share is coarse,
// because the kernel counts in ticks of 10 ms. Work that the kernel does for own processes, and does not count as
// theirs, counts as that of others.
func (s Snapshot) Others(later Snapshot) float64 {
	all := later.all - s.all
	if all <= 0 {
		return 0
	}
	others := (later.busy - s.busy) - (later.own - s.own)
	return max(0, float64(others)/float64(all))
}

// Busy returns a snapshot for tests: after one second, in which other processes kept the processors busy for so many
// hundredths. Busy(0) is the snapshot from before that second.
func Busy(hundredths int) Snapshot {
	if hundredths == 0 {
		return Snapshot{}
	}
	return Snapshot{busy: time.Duration(hundredths) * 10 * time.Millisecond, all: time.Second}
}
