package why

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/machines"
)

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

// meets reports whether two clients may have asked one ensemble, by their servers' names, by a session or by a node. A
// log without servers may be of any ensemble.
func (l *Log) meets(o *Log) bool {
	mine, others := l.Header.Servers, o.Header.Servers
	return len(mine) == 0 || len(others) == 0 ||
		slices.ContainsFunc(mine, func(s string) bool { return slices.Contains(others, s) }) || l.saw(o)
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

// findApart sets whether the logs may be of different ensembles.
func (h *history) findApart() {
	groups := h.group()
	one, other, zxid := h.sameZxid()
	switch {
	case zxid != 0 && h.inGroups(groups, one) != h.inGroups(groups, other):
		h.apart = &apart{groups: groups, zxid: zxid}
	case zxid != 0:
		h.apart = &apart{groups: groups, sign: unlike(one, other, "zxid "+hex(zxid)+" is of a write of each")}
	default:
		if sign := cmp.Or(h.sameSession(), h.sameNumber()); sign != "" {
			h.apart = &apart{groups: groups, sign: sign}
		} else if len(groups) > 1 {
			h.apart = &apart{groups: groups}
		}
	}
}

func (h *history) inGroups(groups [][]*Log, l *Log) int {
	return slices.IndexFunc(groups, func(g []*Log) bool { return slices.Contains(g, l) })
}

// unlike says what two logs contradict each other in.
func unlike(one, other *Log, sign string) string {
	return one.Name + " and " + other.Name + " contradict each other: " + sign + "; they are of different ensembles " +
		"whose servers have the same names, or the ensemble's data were replaced in between; explain those of each " +
		"ensemble alone"
}

// strangeTo reports whether two logs have no node and no session in common that both saw.
func (l *Log) strangeTo(o *Log) bool { return l != o && !l.saw(o) && !o.saw(l) }

// sameZxid returns two logs with a zxid that is of a write of each: in one ensemble, it is of one. If a log shows
// itself that the data were replaced, the same zxid says nothing.
func (h *history) sameZxid() (one, other *Log, zxid int64) {
	at := make([]int, len(h.logs)) // the next write of each log
	next := func(i int) *sight {
		for l := h.logs[i]; at[i] < l.sights.len(); at[i]++ {
			if s := l.sights.at(at[i]); s.write {
				return s
			}
		}
		return nil
	}
	for {
		least := -1
		for i := range h.logs {
			s := next(i)
			if s == nil {
				continue
			}
			if least < 0 || s.zxid < next(least).zxid {
				least = i
				continue
			}
			if first := next(least); s.zxid == first.zxid && s.session != first.session &&
				h.logs[i].strangeTo(h.logs[least]) {
				return h.logs[least], h.logs[i], s.zxid
			}
		}
		if least < 0 {
			return nil, nil, 0
		}
		at[least]++
	}
}

// sameSession returns what says that two clients have one session: one ensemble gives its id once.
func (h *history) sameSession() string {
	of := map[int64]*Log{}
	for _, l := range h.logs {
		for _, s := range l.sessions {
			if o := of[s.id]; o != nil && o.strangeTo(l) && s.id != 0 {
				return unlike(o, l, "session "+hex(s.id)+" is of each")
			}
			of[s.id] = l
		}
	}
	return ""
}

// sameNumber returns what says that a directory gave a number to two nodes, the second while the first was there. A
// directory that is created again counts from 0, and only if it was empty before.
func (h *history) sameNumber() string {
	places := h.allPlaces()
	for _, dir := range slices.Sorted(maps.Keys(places)) {
		all := slices.DeleteFunc(slices.Clone(places[dir]), func(p place) bool { return p.order < 0 })
		slices.SortFunc(all, func(a, b place) int {
			return cmp.Or(cmp.Compare(a.node.czxid, b.node.czxid), strings.Compare(a.node.path, b.node.path))
		})
		var there []place // those that had not gone
		for _, p := range all {
			there = slices.DeleteFunc(there, func(o place) bool { return o.node.gone <= p.node.czxid })
			for _, o := range there {
				if o.order >= p.order && o.log.strangeTo(p.log) {
					return unlike(o.log, p.log, oneLine(dir)+" gave number "+itoa(p.order)+" to "+p.log.Name+
						" while node "+itoa(o.order)+" of "+o.log.Name+" was there")
				}
			}
			there = append(there, p)
		}
	}
	return ""
}

// foreignTxns returns what says that transaction logs are of another ensemble than the logs, "" if nothing does: a
// write in a log is of another session there.
func (h *history) foreignTxns() string {
	for _, l := range h.logs {
		for i := range l.sights.len() {
			s := l.sights.at(i)
			if t, there := h.txns[s.zxid]; there && s.write && t.Session != s.session {
				return "the transaction logs are of another ensemble than " + l.Name + "'s log: zxid " + hex(s.zxid) +
					" is of session " + hex(t.Session) + " there, and of session " + hex(s.session) + " in " + l.Name +
					"; they were left out: give those of this ensemble to --txnlog"
			}
		}
	}
	return ""
}

// sure reports whether the logs are of different ensembles.
func (a *apart) sure() bool { return a != nil && (a.zxid != 0 || a.sign != "") }

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
	if a.sign != "" {
		return a.sign
	}
	return "the logs are of different ensembles, where zxid " + hex(a.zxid) + " is of different writes: " + a.text() +
		"; explain those of each ensemble alone"
}

// doubt says that lines with terms of several groups may be of different ensembles; "" if there is no such line.
func (a *apart) doubt(lines []*line) string {
	if a == nil || a.sure() {
		return ""
	}
	for _, n := range lines {
		first := a.groupOf(n.terms[0].Log)
		if slices.ContainsFunc(n.terms, func(t *Term) bool { return a.groupOf(t.Log) != first }) {
			return "these logs have no server and no node in common: " + a.text() + "; if they are of different " +
				"ensembles, explain those of each alone"
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
