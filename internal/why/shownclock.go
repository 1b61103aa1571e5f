package why

import "strings"

// shownClock is the clock that is shown: that of the ensemble's leader in one epoch, set forward by shift so that it is
// that of hosts, or each host's own if the logs do not show any.
type shownClock struct {
	clock int
	shift int64
	whose string // "" is the clock of the ensemble's leader
}

// name says whose clock it is, "" for that of the ensemble's leader.
func (f shownClock) name() string {
	if f.whose == "" || strings.HasPrefix(f.whose, "which ") {
		return f.whose
	}
	return "of " + f.whose
}

// wall returns the time of day when a log's clock showed at, in nanoseconds since 1970.
func (f shownClock) wall(h *history, l *Log, at int64) int64 {
	if f.clock >= 0 {
		if got := h.clocks.read(l, at)[f.clock]; got != anywhere {
			return got.mid() + f.shift
		}
	}
	return l.wall + at - l.Header.StartAt
}

// chooseShownClock chooses the epoch with the most samples.
func (h *history) chooseShownClock() shownClock {
	best, most := -1, 0
	for _, id := range h.clocks.epochs {
		n := 0
		for other := range h.clocks.n {
			if e := h.clocks.edges[[2]int{id, other}]; e != nil {
				n += e.added
			}
		}
		if n > most || n == most && best >= 0 && id < best {
			best, most = id, n
		}
	}
	return shownClock{clock: best}
}
