package machines

import (
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// jobElection is what differs where leadership is a marker: what wakes it, and that
// it never has more than one latch that is not on its way out.
func (j *judge) jobElection(c *jobElection, state engine.State, owed map[events.Kind]bool, attached, awake bool) bool {
	j.sublatch(c.id, &c.sublatch)
	switch state {
	case checking:
		return owed[events.ReplyStat] || owed[events.ReplyChildren]
	case queueing:
		return j.armed[events.ID(c.id)][c.marker] && c.latch != ""
	case leaving:
		awake = c.openLatches > 0
	}
	return j.fixedNode(&c.fixedNode, state, owed, attached, awake)
}

// fixedNode is what differs where leadership is a node with a fixed name.
func (j *judge) fixedNode(f *fixedNode, state engine.State, owed map[events.Kind]bool, attached, awake bool) bool {
	switch state {
	case looking:
		return owed[events.ReplyStat]
	case marking:
		return owed[events.ReplyMulti]
	case confirming:
		return owed[events.ReplyMulti] || owed[events.TimerFired]
	case claiming:
		return owed[events.ReplyStat] || owed[events.ReplyMulti]
	case fencing:
		return owed[events.TimerFired] && f.works == 1
	case standby:
		watched := j.armed[events.ID(f.id)][f.marker]
		if f.hidden { // only the directory's watch fires
			watched = j.armed[events.ID(f.id)][f.ownDir+"/"] || owed[events.ReplyChildren]
		}
		return owed[events.TimerFired] && (watched || owed[events.ReplyStat])
	case leaving:
		return awake || !attached || owed[events.ReplyStat] || owed[events.ReplyMulti] || owed[events.TimerFired]
	}
	return awake
}

// semaphore is what differs where places are permits: what wakes it, and that it
// has at most as many names as it wants.
func (j *judge) semaphore(s *semaphore, state engine.State, owed map[events.Kind]bool, attached, awake bool) bool {
	j.sublatch(s.id, &s.sublatch)
	if len(s.names) > s.permits || s.ownPath != "" && (len(s.names) == 0 || s.own() != s.names[0]) {
		j.wrong("%s: %q is its own, of %v", s.id, s.own(), s.names)
	}
	switch state {
	case probing:
		return owed[events.ReplyChildren]
	case looking:
		return owed[events.ReplyStat]
	case queueing:
		return s.latch != "" && s.latchNode == ""
	case full:
		return owed[events.ReplyChildren] ||
			j.armed[events.ID(s.id)][s.ownDir+"/"] && j.armed[events.ID(s.id)][s.ownDir]
	case taking:
		return owed[events.ReplyMulti]
	case confirming:
		return owed[events.ReplyStat] || owed[events.ReplyChildren] || owed[events.ReplyMulti] ||
			owed[events.TimerFired]
	case leaving:
		return !attached || owed[events.ReplyChildren] || owed[events.ReplyMulti] || owed[events.TimerFired] ||
			s.openLatches > 0
	}
	return awake
}

// sublatch checks that a machine has no more than one latch that is not on its way
// out, and knows when it is held.
func (j *judge) sublatch(opener string, e *sublatch) {
	waiting := 0
	for _, id := range j.engine.Machines() {
		if m := j.members[id]; m != nil && m.opener() == events.ID(opener) && m.nextIntent != closeNext {
			waiting++
		}
	}
	if wanted := e.latch != ""; waiting > 1 || wanted != (waiting == 1) {
		j.wrong("%s: %d latches in line, and it knows of %q", opener, waiting, e.latch)
	}
	if e.latchNode != "" && j.engine.State(e.latch) != leading {
		j.wrong("%s: takes the latch for held in %s", opener, j.engine.State(e.latch))
	}
}

// serves reports whether a machine was opened by another.
func (j *judge) serves(id events.ID) bool {
	for _, opener := range []string{"-jobelection", "-semaphore", "-jobdealer", "-jobworker", "-shards"} {
		if strings.Contains(string(id), opener) {
			return true
		}
	}
	return false
}

// atRest are the states in which a machine without a line waits for its user, or
// for the connection.
var atRest = from{latent, suspended, closed, outside, inside, idle, working, overfull, draining}

// wakes checks that a machine outside of every line can be woken: by an answer,
// a timer or a watch.
func (j *judge) wakes(id events.ID) {
	state := j.engine.State(id)
	if id == events.SessionMachine || j.members[id] != nil || slices.Contains(atRest, state) ||
		j.session != nil && !j.session.attached {
		return
	}
	follows := j.engine.State(treeOf(id)) != "" && slices.Contains(from{following, waiting, dealt}, state)
	if len(j.engine.Awaits(id)) == 0 && len(j.armed[id]) == 0 && !follows {
		j.wrong("%s: nothing can wake it in %s", id, state)
	}
}

// treeOf returns the tree cache of a dealer.
func treeOf(dealer events.ID) events.ID { return "treecache-" + dealer }

// heartbeat checks the session machine's timers against who needs them: belief
// always has a timer that ends it.
func (j *judge) heartbeat(now int64) {
	if j.session == nil {
		return
	}
	beats, ends := 0, int64(0)
	for _, a := range j.engine.Awaits(events.SessionMachine) {
		switch a.Name {
		case heartbeatTimer:
			beats++
		case deadlineTimer:
			ends = j.due[events.SessionMachine][a.Request]
		}
	}
	needed := j.engine.State(events.SessionMachine) == connected && !j.session.heartbeats.empty()
	if needed != (beats == 1) || beats > 1 {
		j.wrong("session: %d heartbeat timers, needed: %t", beats, needed)
	}
	for id, p := range j.members {
		if p.leads && (ends == 0 || ends > max(j.session.validUntil, now)) {
			j.wrong("%s: leads, and no timer ends it at %d (timer at %d)", id, j.session.validUntil, ends)
		}
		if p.heartbeating != (slices.ContainsFunc(j.session.heartbeats.entries, func(h heartbeatEntry) bool {
			return h.machine == string(id)
		})) {
			j.wrong("%s: near is %t, the session machine has it otherwise", id, p.heartbeating)
		}
		for _, h := range j.session.heartbeats.entries {
			if h.machine == string(id) && h.path != p.path() {
				j.wrong("%s: the heartbeat checks %s, the own node is %s", id, h.path, p.path())
			}
		}
	}
}
