package why

import (
	"cmp"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// The nodes of all leaders of a job, or of an election on one node, have one path: markers. A job's is written while
// a latch is held, whose nodes are in the directory latch below the line's. So the numbers of those show that
// somebody may have led whose log is not here.

// addMarker notes a node of a session that a reply shows at a path without a number.
func (l *Log) addMarker(r events.Record) {
	ev := r.Event
	if ev.Kind != events.ReplyStat || ev.Code != events.OK || ev.Stat == nil || !ev.Stat.Ephemeral() ||
		!strings.HasSuffix(ev.Path, markerEnd) && l.machineOf(r.Machine).recipe != machines.NodeElectionRecipe.Name() {
		return
	}
	i := slices.IndexFunc(l.markers, func(m marker) bool { return m.path == ev.Path && m.czxid == ev.Stat.Czxid })
	if i < 0 {
		i = len(l.markers)
		l.markers = append(l.markers, marker{strings.Clone(ev.Path), ev.Stat.Czxid, ev.Stat.EphemeralOwner, r.Seq, ""})
	}
	l.markers[i].data = cmp.Or(l.markers[i].data, string(ev.Data))
}

// markerEnd is what the path of a job's marker ends with.
const markerEnd = "/leader/election/instance"

// latch returns the number of the latch's node under which a term's marker was written; less than 0 if the log does
// not have it.
func (t *Term) latch(dir string) int64 {
	var under *node
	for path, n := range t.Log.nodes {
		if dirOf(path) == dir && n.seq < t.Elected && t.Log.machineOf(n.machine).opener == t.Machine &&
			(under == nil || n.seq > under.seq) {
			under = n
		}
	}
	if under == nil {
		return -1
	}
	return orderOf(under.path)
}

// markerAt returns the transaction that created the marker that a client had seen last at a record; 0 for none.
func (l *Log) markerAt(path string, seq uint64) (czxid int64) {
	for _, m := range l.markers {
		if m.path == path && m.seq < seq {
			czxid = m.czxid
		}
	}
	return czxid
}

// isEndOf reports whether a sighting of a client shows the end of a term's node: of a marker, if the client had seen
// that one.
func (l *Log) isEndOf(t *Term, g sighting) bool {
	return g.path == t.Node && (!t.traits().FixedName || l.markerAt(g.path, g.seq) == t.Token)
}
