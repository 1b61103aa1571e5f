package wire

import "time"

// cutting says where a connection is cut.
type cutting string

const (
	uncut  cutting = ""
	before cutting = "before"
	middle cutting = "in the middle of"
	after  cutting = "after"
)

// fate is what happens to one frame.
type fate struct {
	stall                              time.Duration
	cut                                cutting
	noticedByReceiver, noticedBySender time.Duration
}

// fate throws the dice of one frame. Handshakes and writes meet more faults than reads and pings: their answers decide.
func (w *world) fate(l *link, up bool, op int, d dice) fate {
	var f fate
	if !w.storming() {
		return f
	}
	rough := w.plan.roughness
	if up && needsEnsemble(op) {
		rough *= 2
	}
	switch t := d.named("fate").below(1000); {
	case t < rough:
		f.cut = []cutting{before, middle, after}[d.named("where").below(3)]
		f.noticedByReceiver, f.noticedBySender = w.notice(d.named("receiver")), w.notice(d.named("sender"))
	case t < 2*rough:
		f.stall = d.named("stall").between(0, w.plan.timeout/4)
	case t < 2*rough+rough/2:
		f.stall = d.named("long stall").between(w.plan.timeout/4, w.plan.timeout*5/4)
	}
	return f
}

// notice returns after what time one side notices that its connection is cut: mostly immediately.
func (w *world) notice(d dice) time.Duration {
	if d.chance(700) {
		return d.named("soon").between(0, 2*time.Millisecond)
	}
	return d.named("late").between(0, w.plan.timeout*3/2)
}

// held returns when a frame arrives if the server is cut off from the ensemble, or the client from all servers.
func (w *world) held(l *link, up bool, op int, due time.Time) time.Time {
	for _, o := range w.plan.outages {
		from, to := w.start.Add(o.from), w.start.Add(o.to)
		concerns := o.client == l.client.number || up && o.server == l.server && needsEnsemble(op)
		if concerns && !due.Before(from) && due.Before(to) {
			due = to.Add(due.Sub(from) / 1000) // in the same order
		}
	}
	return due
}

// cutOff reports whether a client reaches no server.
func (w *world) cutOff(c *client, now time.Time) bool {
	for _, o := range w.plan.outages {
		if o.client == c.number && !now.Before(w.start.Add(o.from)) && now.Before(w.start.Add(o.to)) {
			return true
		}
	}
	return false
}

// silent reports whether a server reports no sessions to the ensemble's leader.
func (w *world) silent(server int, now time.Time) bool {
	for _, o := range w.plan.outages {
		if o.server == server && !now.Before(w.start.Add(o.from)) && now.Before(w.start.Add(o.to)) {
			return true
		}
	}
	return false
}
