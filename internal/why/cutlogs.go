package why

import "slices"

// cutBefore says whose log ends before its client was in a line, while others go on, so that it may have led since; ""
// if none does. One that could not get a place is not one of them.
func (r *Report) cutBefore(n *line) string {
	for _, l := range r.logs {
		over := l.closed || l.lastLine != nil && !l.ended()
		if over || l.Records == 0 || len(l.failures) > 0 || n.permits || !l.mayQueue(n.path) || l.hasNode(n.dir) ||
			!r.othersGoOn(l, 0, n.path) {
			continue
		}
		return l.Name + "'s log ends at " + r.time(l, l.last) + ", before it was in line, and others go on"
	}
	return ""
}

// mayQueue reports whether a client had opened something that leads or holds in a line.
func (l *Log) mayQueue(path string) bool {
	for _, m := range l.machines {
		if _, without := recipes[m.recipe]; m.path == path && !without && m.opener == "" {
			return true
		}
	}
	return false
}

// hasNode reports whether a client created a node in a directory.
func (l *Log) hasNode(dir string) bool {
	for path := range l.nodes {
		if dirOf(path) == dir {
			return true
		}
	}
	return false
}

// assumedDead names a client whose log just ends while its node was in a line that was asked for, before the node was
// seen to be gone: it may have led in between, unless it died there; nil if there is none.
func (r *Report) assumedDead() *Log {
	for _, n := range r.lines {
		if n.permits || !slices.ContainsFunc(r.Moves, func(m Move) bool { return m.dir() == n.dir }) {
			continue
		}
		for _, l := range r.logs {
			ended := l.endedNodes()
			for path, own := range l.nodes {
				if !ended[path] && dirOf(path) == n.dir && r.h.kindOf(baseOf(path)).kind == n.kind && l.leaves(own) &&
					l.lastLine == nil && !l.ledOn(path) && r.h.wasSeenGone(path) {
					return l
				}
			}
		}
	}
	return nil
}
