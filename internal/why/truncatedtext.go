package why

import (
	"maps"
	"slices"
	"strings"
)

// eachTruncated names the first term whose beginning is missing and that is wanted.
func (r *Report) eachTruncated(wanted func(*Log, *truncatedTerm) bool) string {
	for _, l := range r.logs {
		for _, id := range slices.Sorted(maps.Keys(l.truncated)) {
			if h := l.truncated[id]; wanted(l, h) {
				return l.nameOf(id) + h.led() + " in a term whose beginning is missing in its log (it may have had " +
					"the right to believe until " + r.time(l, h.at) + ")"
			}
		}
	}
	return ""
}

// led says what it did in the term.
func (h *truncatedTerm) led() string {
	if h.shard != 0 {
		return " owned shard " + itoa(int64(h.shard-1))
	}
	return " led"
}

// missingTerm names a term whose beginning is missing and which may have been during the moves that were asked for; ""
// if there is none.
func (r *Report) missingTerm() string {
	return r.eachTruncated(func(l *Log, h *truncatedTerm) bool {
		during := func(t *Term) bool {
			return t != nil && (h.node == "" || dirOf(h.node) == t.Dir) && h.shard == t.machine().shard &&
				r.h.clocks.between(l, h.at, t.Log, t.ElectedAt).lo <= 0
		}
		return slices.ContainsFunc(r.Moves, func(m Move) bool { return during(m.From) || during(m.To) })
	})
}

// truncatedAt names a term whose beginning is missing and which may be of a line; "" if there is none.
func (r *Report) truncatedAt(path string) string {
	return r.eachTruncated(func(_ *Log, h *truncatedTerm) bool {
		return path == "" || h.node == "" || dirOf(h.node) == path || strings.HasPrefix(h.node, path+"/")
	})
}
