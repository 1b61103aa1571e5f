package why

import (
	"cmp"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// could returns what nobody else does during a term.
func (t *Term) could() string {
	if t.Recipe == shardRecipe {
		return "own it"
	}
	return "lead"
}

// led returns what it did.
func (t *Term) led() string {
	if t.Recipe == shardRecipe {
		return "owned it"
	}
	return "led"
}

// holds returns what a term does: it leads, or holds a lock.
func (t *Term) holds() string {
	switch grants := t.traits().Grants; {
	case grants == machines.GrantsShards:
		return "owns it"
	case grants == machines.GrantsPermits:
		return "holds its permits"
	case t.shares:
		return "holds it for reading"
	case grants == machines.GrantsReadWriteLock:
		return "holds it for writing"
	case grants == machines.GrantsLock:
		return "holds it"
	}
	return "leads"
}

// traits returns the traits of its recipe.
func (t *Term) traits() machines.Traits { return machines.TraitsOf(t.Recipe) }

// hasPermits reports whether it is a term of a semaphore.
func (t *Term) hasPermits() bool { return t.traits().Grants == machines.GrantsPermits }

// pool returns the directory of a semaphore's permits; "" for another recipe, or if the log does not have the path.
func (m *machine) pool() string {
	if machines.TraitsOf(m.recipe).Grants != machines.GrantsPermits || m.path == "" {
		return ""
	}
	return machines.SemaphorePool(m.path, m.kazoo)
}

// askLeases notes which nodes a semaphore's transaction deletes.
func (l *Log) askLeases(r events.Record, e events.Multi) {
	if l.machineOf(r.Machine).pool() == "" {
		return
	}
	var gone []string
	for _, op := range e.Ops {
		if op.Verb == "delete" {
			gone = append(gone, op.Path)
		}
	}
	l.givenBack[timerKey{r.Machine, e.Request}] = gone
}

// answerLeases notes the permits that a transaction created, and those that it deleted.
func (l *Log) answerLeases(r events.Record) {
	ev, pool, key := r.Event, l.machineOf(r.Machine).pool(), timerKey{r.Machine, r.Event.Request}
	for _, path := range ev.Children {
		if pool != "" && dirOf(path) == pool {
			l.leases[path] = &lease{node: node{path: path, machine: r.Machine, seq: r.Seq,
				at: ev.At, sent: ev.SentAt, czxid: ev.Zxid, session: l.session.current}}
		}
	}
	for _, path := range l.givenBack[key] {
		if known := l.leases[path]; known != nil && known.gone == 0 {
			known.gone, known.goneAt = r.Seq, ev.At
		}
	}
	delete(l.givenBack, key)
}

// heldLease notes the first permit of a term, if no answer named it: the reply to its transaction was lost.
func (l *Log) heldLease(r events.Record, path string, token int64) {
	grants := machines.TraitsOf(l.machineOf(r.Machine).recipe).Grants
	if grants == machines.GrantsPermits && l.leases[path] == nil {
		l.leases[path] = &lease{node: node{path: path, machine: r.Machine, seq: r.Seq, at: r.Event.At, czxid: token,
			session: l.session.current}}
	}
}

// ownNodes returns the nodes of all machines of a client, permits among them, in the order in which they were created.
func (l *Log) ownNodes() []*node {
	all := make([]*node, 0, len(l.nodes)+len(l.leases))
	for _, n := range l.nodes {
		all = append(all, n)
	}
	for _, n := range l.leases {
		all = append(all, &n.node)
	}
	slices.SortFunc(all, func(a, b *node) int {
		return cmp.Or(cmp.Compare(a.seq, b.seq), strings.Compare(a.path, b.path))
	})
	return all
}
