package why

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/events"
)

// headless is a term whose beginning is missing: it began in a gap, or before the first segment that is there.
type headless struct {
	at   int64  // until when it may have had the right to believe
	node string // "" if the log does not have its end
	goes bool   // it has not ended, as far as a checkpoint and the records behind it show
}

// takeCheckpoint notes which machines lead behind a gap: a leader may have no record of its own there.
func (l *Log) takeCheckpoint(c events.Checkpoint) {
	var state struct {
		Machines []struct {
			Machine struct {
				ID    events.ID `json:"id"`
				State string    `json:"state"`
			} `json:"machine"`
		} `json:"machines"`
	}
	if !l.session.afterGap || json.Unmarshal(c.State, &state) != nil { // a replay tells what is wrong with it
		return
	}
	for _, one := range state.Machines {
		if m := one.Machine; m.State == "leading" && len(l.open[m.ID]) == 0 && l.headless[m.ID] == nil {
			l.headless[m.ID] = &headless{at: max(l.last, l.Header.StartAt, l.session.deadline), goes: true}
		}
	}
}

// addHeadless notes that a machine leads whose term is not known.
func (l *Log) addHeadless(r events.Record) {
	h := l.headless[r.Machine]
	if h == nil {
		h = &headless{}
		l.headless[r.Machine] = h
	}
	h.goes = r.To == "leading"
	h.at = max(r.Event.At, r.Event.ValidUntil, l.session.deadline)
	for _, text := range r.Effects.Strings() {
		const stopped = "notify stopped "
		if len(text) > len(stopped) && text[:len(stopped)] == stopped {
			h.node, _, _, _ = readTerm(text[len(stopped):])
		}
	}
}

// missingTerm names a term whose beginning is missing and which may have been during the moves that were asked for; ""
// if there is none.
func (r *Report) missingTerm() string {
	return r.eachHeadless(func(l *Log, h *headless) bool {
		during := func(t *Term) bool {
			return t != nil && (h.node == "" || dirOf(h.node) == t.Dir) && r.h.clocks.between(l, h.at, t.Log, t.ElectedAt).lo <= 0
		}
		return slices.ContainsFunc(r.Moves, func(m Move) bool { return during(m.From) || during(m.To) })
	})
}

// headlessAt names a term whose beginning is missing and which may be of a line; "" if there is none.
func (r *Report) headlessAt(path string) string {
	return r.eachHeadless(func(_ *Log, h *headless) bool {
		return path == "" || h.node == "" || dirOf(h.node) == path || strings.HasPrefix(h.node, path+"/")
	})
}

// eachHeadless names the first term whose beginning is missing and that is wanted.
func (r *Report) eachHeadless(wanted func(*Log, *headless) bool) string {
	for _, l := range r.logs {
		for _, id := range slices.Sorted(maps.Keys(l.headless)) {
			if h := l.headless[id]; wanted(l, h) {
				return l.nameOf(id) + " led in a term whose beginning is missing in its log (it may have had the right to believe until " + r.time(l, h.at) + ")"
			}
		}
	}
	return ""
}
