package why

import (
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/machines"
)

// apart says that logs may be of different ensembles: their connect strings have no server in common, and no client saw a
// node or a session of the others.
type apart struct {
	groups [][]*Log
	zxid   int64 // which two groups gave to different writes; 0: none, so it may be one ensemble under two names
}

// group finds the logs that have something in common.
func (h *history) group() (groups [][]*Log) {
	of := make([]int, len(h.logs)) // the first log that has something in common with this one
	for i := range h.logs {
		of[i] = i
		for j := range i {
			if of[i] == of[j] || !h.logs[i].meets(h.logs[j]) && !h.logs[j].meets(h.logs[i]) {
				continue
			}
			from, to := max(of[i], of[j]), min(of[i], of[j])
			for k := range i + 1 {
				if of[k] == from {
					of[k] = to
				}
			}
		}
	}
	for i := range h.logs {
		var all []*Log
		for j := range h.logs {
			if of[j] == i {
				all = append(all, h.logs[j])
			}
		}
		if all != nil {
			groups = append(groups, all)
		}
	}
	return groups
}

// meets reports whether two clients may have asked one ensemble, by their servers' names, by a session or by a node. A log
// without servers may be of any ensemble.
func (l *Log) meets(o *Log) bool {
	mine, others := l.Header.Servers, o.Header.Servers
	return len(mine) == 0 || len(others) == 0 || slices.ContainsFunc(mine, func(s string) bool { return slices.Contains(others, s) }) || l.saw(o)
}

// saw reports whether a client saw a node or a session of another one. A name without a GUID may be of any ensemble.
func (l *Log) saw(o *Log) bool {
	for path, n := range o.nodes {
		if hasGUID(path) && l.listedFirst(path) != 0 ||
			n.session != nil && n.session.id != 0 && l.owners[path] == n.session.id {
			return true
		}
	}
	return slices.ContainsFunc(l.gone, func(g sighting) bool { return hasGUID(g.path) && o.nodes[g.path] != nil })
}

// hasGUID reports whether a node's name is of one create only.
func hasGUID(path string) bool {
	name, _, _ := machines.CutNumber(baseOf(path))
	return machines.NameKind(name) != name
}

// findApart sets whether the logs may be of different ensembles. In one ensemble a zxid is of one write.
func (h *history) findApart() {
	groups := h.group()
	if len(groups) < 2 {
		return
	}
	h.apart = &apart{groups: groups}
	type author struct {
		group   int
		session int64
	}
	by := map[int64]author{}
	for g, group := range groups {
		for _, l := range group {
			for i := range l.sights.len() {
				s := l.sights.at(i)
				if !s.write {
					continue
				}
				if other, there := by[s.zxid]; there && other.group != g && other.session != s.session {
					h.apart.zxid = s.zxid
					return
				}
				by[s.zxid] = author{g, s.session}
			}
		}
	}
}

// sure reports whether the logs are of different ensembles.
func (a *apart) sure() bool { return a != nil && a.zxid != 0 }

// text names the logs of each ensemble.
func (a *apart) text() string {
	var all []string
	for _, group := range a.groups {
		var names []string
		for _, l := range group {
			names = append(names, l.Name)
		}
		if len(names) > 3 {
			names = append(names[:3], plural(len(names)-3, "other log"))
		}
		all = append(all, strings.Join(names, ", ")+" ("+oneLine(group[0].Header.Servers[0])+")")
	}
	return strings.Join(all, " · ")
}

// why says why logs of different ensembles are not explained.
func (a *apart) why() string {
	return "the logs are of different ensembles, where zxid " + hex(a.zxid) + " is of different writes: " + a.text() + "; explain those of each ensemble alone"
}

// doubt says that lines with terms of several groups may be of different ensembles; "" if there is no such line.
func (a *apart) doubt(lines []*line) string {
	if a == nil || a.sure() {
		return ""
	}
	for _, n := range lines {
		first := a.groupOf(n.terms[0].Log)
		if slices.ContainsFunc(n.terms, func(t *Term) bool { return a.groupOf(t.Log) != first }) {
			return "these logs have no server and no node in common: " + a.text() + "; if they are of different ensembles, explain those of each alone"
		}
	}
	return ""
}

func (a *apart) groupOf(l *Log) int {
	return slices.IndexFunc(a.groups, func(group []*Log) bool { return slices.Contains(group, l) })
}

// between reports whether two logs may be of different ensembles.
func (a *apart) between(one, other *Log) bool {
	if a == nil {
		return false
	}
	return !slices.ContainsFunc(a.groups, func(g []*Log) bool {
		return slices.Contains(g, one) && slices.Contains(g,
			other)
	})
}
