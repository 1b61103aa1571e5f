package why

import (
	"cmp"
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// ahead is by how much a host's own clock is ahead of the one that is shown.
type ahead struct {
	whose string
	ahead int64
	width int64 // the error, from end to end
}

// leaders is whose clock it is that stamps the nodes.
const leaders = "the ensemble's leader"

// hostAheads returns by how much the hosts' own clocks, and that of the ensemble's leader, are ahead of the clock
// that is shown: those that can be aligned.
func (h *history) hostAheads(logs []*Log, f shownClock) (all []ahead) {
	if f.clock < 0 {
		return nil
	}
	known := map[string]bool{}
	for _, l := range logs {
		host := cmp.Or(l.Clock, l.Header.Host, l.Name)
		at := h.clocks.read(l, l.Header.StartAt)[f.clock]
		if known[host] || l.wall == 0 || !at.known() {
			continue
		}
		known[host] = true
		all = append(all, ahead{l.Name, l.wall - at.mid() - f.shift, at.width()})
	}
	return append(all, ahead{leaders, -f.shift, 0})
}

// agrees is how far apart clocks may be that agree with each other.
const agrees = int64(2 * time.Second)

// chooseReference chooses the clock that is shown: what most hosts agree on, with that of the ensemble's leader as
// one of them; or the one that is asked for. Wanted is the name of a log or of a host, or "ensemble"; "" is none.
func (h *history) chooseReference(logs []*Log, wanted string) shownClock {
	f := h.chooseShownClock()
	votes := h.hostAheads(logs, f)
	if len(votes) == 0 || wanted == "ensemble" {
		return f
	}
	for _, l := range logs {
		if at := h.clocks.read(l, l.Header.StartAt)[f.clock]; (l.Name == wanted || l.Header.Host == wanted) &&
			wanted != "" && at.known() {
			f.shift, f.whose = l.wall-at.mid(), wanted
			return f
		}
	}
	slices.SortStableFunc(votes, func(a, b ahead) int { return cmp.Compare(a.ahead, b.ahead) })
	best, with := votes[:0], 0 // the largest group, and how many agree with the ensemble's leader
	for i, from := range votes {
		end := i
		for end < len(votes) && votes[end].ahead-from.ahead <= agrees+from.width/2+votes[end].width/2 {
			end++
		}
		group := votes[i:end]
		if slices.ContainsFunc(group, func(a ahead) bool { return a.ahead == 0 }) {
			with = max(with, len(group))
		}
		if len(group) > len(best) {
			best = group
		}
	}
	if len(best) > with && len(best) > 1 {
		f.shift, f.whose = best[len(best)/2].ahead, "which "+plural(len(best), "host")+" agree on"
	}
	return f
}

// text says by how much a clock is ahead or behind.
func (a ahead) text() string {
	way := "ahead"
	if a.ahead < 0 {
		way = "behind"
	}
	long := span(time.Duration(abs(a.ahead))) + " " + way + plusMinus(time.Duration(a.width/2))
	if a.whose == leaders {
		return "the clock of " + leaders + " was " + long
	}
	return a.whose + "'s own clock was " + long + " when its log began"
}

// ClockNames returns the names that Options.Clock knows.
func ClockNames(logs []*Log) (all []string) {
	for _, l := range logs {
		all = append(all, l.Name, l.Header.Host)
	}
	all = append(slices.DeleteFunc(all, func(s string) bool { return s == "" }), "ensemble")
	slices.Sort(all)
	return slices.Compact(all)
}

// ClockOff is a host's wall clock that is wrong.
type ClockOff struct {
	Host  string        `json:"host"`       // the log of a client there, or the ensemble's leader
	Ahead time.Duration `json:"aheadNanos"` // less than 0: it was behind
	Text  string        `json:"text"`
}

// queued reports whether a client was in a line, as far as its log shows.
func (l *Log) queued(path string) bool {
	for id, m := range l.machines {
		if id != events.SessionMachine && (m.path == path ||
			m.path == "") { // one that was opened before the log begins has none
			return true
		}
	}
	return false
}
