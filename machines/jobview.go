package machines

import (
	"cmp"
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// jobView is what a machine knows of a job's nodes. Each was read with a watch, and counts until that fires, or until
// the connection ends. A node that does not exist is watched, too.
type jobView struct {
	nodes   []viewedNode
	index   map[string]int // the place in nodes of each look, by its key
	pending []pendingRead  // in the order of their numbers
	readAt  int64          // when the nodes that a watch may have missed were read last
}

// doubtedWrite says whether the last write was carried out.
type doubtedWrite struct {
	doubt  bool // that has to be read
	synced bool // that read is behind a sync
}

// askFor sends the reads that are needed, unless some are pending. What a doubted write has left is certain to show
// only behind a sync.
func (d *doubtedWrite) askFor(needs func() []jobLook, view *jobView, path string, out *engine.Outbox) {
	if view.pendingReads() {
		return
	}
	if d.doubt && !d.synced {
		d.synced = true
		out.With(engine.Unawaited).Sync(path)
	}
	view.ask(needs(), out)
}

// viewWindow is how many reads are pending at most.
const viewWindow = 100

// jobLook is one thing that is read of one node.
type jobLook struct {
	path string
	of   jobPart
}

// key returns the look's key in the view.
func (l jobLook) key() string { return string('0'+rune(l.of)) + l.path }

// pendingRead is a read that is not answered yet, and its place in the view.
type pendingRead struct {
	request uint64
	node    int
}

// jobPart says what is read of a node.
type jobPart uint8

const (
	jobStat  jobPart = iota // whether it exists, and who owns it
	jobData                 // its data, too
	jobNames                // the names of its children
)

// viewedNode is what one look has shown.
type viewedNode struct {
	look    jobLook
	request uint64      // of the read that is pending; 0: none
	absent  bool        // the last answer was that there is no such node: a watch for its creation is being set
	valid   bool        // the rest counts
	refused events.Code // the data may not be read; OK: it may
	exists  bool
	data    string
	names   []string
	owner   int64
	czxid   int64
	mzxid   int64
	version int32
}

// at returns what a look has shown, the zero viewedNode if it was not asked for.
func (v *jobView) at(path string, of jobPart) viewedNode {
	if i, ok := v.index[jobLook{path, of}.key()]; ok {
		return v.nodes[i]
	}
	return viewedNode{}
}

// valid reports whether all looks have an answer that counts.
func (v *jobView) valid(looks []jobLook) bool {
	for _, l := range looks {
		if !v.at(l.path, l.of).valid {
			return false
		}
	}
	return true
}

// ask sends the looks that have no answer that counts, unless they are pending.
func (v *jobView) ask(looks []jobLook, out *engine.Outbox) {
	for _, l := range looks {
		if len(v.pending) >= viewWindow { // the rest follows
			break
		}
		i, known := v.index[l.key()]
		if !known {
			if v.index == nil {
				v.index = map[string]int{}
			}
			i = len(v.nodes)
			v.nodes, v.index[l.key()] = append(v.nodes, viewedNode{look: l}), i
		}
		if n := &v.nodes[i]; !n.valid && n.request == 0 {
			v.send(i, out)
		}
	}
}

// send sends a read.
func (v *jobView) send(i int, out *engine.Outbox) {
	n := &v.nodes[i]
	switch {
	case n.absent, n.look.of == jobStat:
		n.request = out.With(engine.Watch).Exists(n.look.path)
	case n.look.of == jobData:
		n.request = out.With(engine.Watch | engine.Data).Get(n.look.path)
	default:
		n.request = out.With(engine.Watch).Children(n.look.path)
	}
	v.pending = append(v.pending, pendingRead{n.request, i})
}

// note notes an answer. A read of a missing node leaves no watch, so another one follows, which does.
func (v *jobView) note(ev events.Event, out *engine.Outbox) {
	at, known := slices.BinarySearchFunc(v.pending, ev.Request, func(p pendingRead, n uint64) int {
		return cmp.Compare(p.request, n)
	})
	if !known {
		return
	}
	i := v.pending[at].node
	v.pending = slices.Delete(v.pending, at, at+1)
	n := &v.nodes[i]
	n.request = 0
	asked := n.absent || n.look.of == jobStat // whether it exists
	switch missing := ev.Code == events.NoNode; {
	case ev.Code == events.NoAuth:
		*n = viewedNode{look: n.look, valid: true, exists: true, refused: ev.Code}
	case missing && asked:
		*n = viewedNode{look: n.look, absent: n.absent, valid: true}
	case missing:
		n.absent = true
		v.send(i, out)
	case n.absent: // it was created meanwhile
		n.absent = false
		v.send(i, out)
	default:
		*n = viewedNode{look: n.look, valid: true, exists: true, data: string(ev.Data), names: ev.Children}
		if ev.Stat != nil {
			n.owner, n.version = ev.Stat.EphemeralOwner, ev.Stat.Version
			n.czxid, n.mzxid = ev.Stat.Czxid, ev.Stat.Mzxid
		}
	}
}

// spoil makes everything that is known of a node be read again. If a read is pending, its answer counts: it follows
// what spoils it.
func (v *jobView) spoil(path string) {
	for _, of := range []jobPart{jobStat, jobData, jobNames} {
		if i, ok := v.index[jobLook{path, of}.key()]; ok {
			n := &v.nodes[i]
			n.valid, n.absent = false, n.absent && n.request != 0
		}
	}
}

// forget forgets everything: the watches ended with the connection.
func (v *jobView) forget() { v.nodes, v.index, v.pending = nil, nil, nil }

// dropPending forgets the reads whose answers do not come any more.
func (v *jobView) dropPending() {
	for i := range v.nodes {
		if n := &v.nodes[i]; n.request != 0 {
			n.request, n.absent = 0, false
		}
	}
	v.pending = nil
}

// pendingReads reports whether answers are awaited.
func (v *jobView) pendingReads() bool { return len(v.pending) > 0 }
