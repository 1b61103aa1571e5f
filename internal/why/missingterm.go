package why

import (
	"maps"
	"slices"
	"strings"
)

// eachHeadless names the first term whose beginning is missing and that is wanted.
func (r *Report) eachHeadless(wanted func(*Log, *headless) bool) string {
	for _, l := range r.logs {
		for _, id := range slices.Sorted(maps.Keys(l.headless)) {
			if h := l.headless[id]; wanted(l, h) {
				return l.nameOf(id) + h.led() + " in a term whose beginning is missing in its log (it may have had " +
					"the right to believe until " + r.time(l, h.at) + ")"
			}
		}
	}
	return ""
}

// led says what it did in the term.
func (h *headless) led() string {
	if h.shard != 0 {
		return " owned shard " + itoa(int64(h.shard-1))
	}
	return " led"
}

// missingTerm names a term whose beginning is missing and which may have been during the moves that were asked for; ""
// if there is none.
func (r *Report) missingTerm() string {
	return r.eachHeadless(func(l *Log, h *headless) bool {
		during := func(t *Term) bool {
			return t != nil && (h.node == "" || dirOf(h.node) == t.Dir) && h.shard == t.machine().shard &&
				r.h.clocks.between(l, h.at, t.Log, t.ElectedAt).lo <= 0
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
