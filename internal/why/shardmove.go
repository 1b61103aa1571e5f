package why

import "slices"

// byMove finds out why a member gave a shard up that was assigned to another one, or to nobody.
func (h *history) byMove(t *Term, e *Ending) {
	e.Cause, e.Text = CauseMoved, "gave it up: it was assigned to another member"
	p := h.takenBy(t)
	if p == nil {
		return
	}
	node := p.gives(t.machine().shard - 1)
	whose := p.whose()
	switch {
	case whose == t.who():
		whose = "it"
	case p.by == "" && h.hasAllMembers(t.group()):
		whose = "somebody who is no member"
	}
	to := "gave it up: " + whose + " assigned it to " + p.name(node)
	switch {
	case node == "":
		to = "gave it up: " + whose + " assigned it to nobody"
	case node == baseOf(t.Node): // as it may be again by now
		to = "gave it up: " + whose + " had assigned it to another member"
	}
	if shown := (Ref{p.log.Name, p.seq}); !slices.Contains(e.Records, shown) {
		e.Records = append(e.Records, shown)
	}
	switch {
	case t.unhealthy():
		e.Cause, e.Text = CauseUnhealthy, to+", because its health check failed"
	case p.by == "" && h.hasAllMembers(t.group()):
		e.Cause, e.Text = CauseReassigned, to
	case p.by == "":
		e.Text = to
	case node == "":
		e.Text = to + ", because no member may own more"
	case p.before != nil && len(p.before.owners[node]) == 0:
		e.Text = to + ", which owned none"
	default:
		e.Text = to + ", to balance their shares"
	}
}

// whose names the writer of an assignment.
func (p *groupPlan) whose() string {
	if who := p.writer(); who != "" {
		return who
	}
	return "somebody whose log is not here"
}
