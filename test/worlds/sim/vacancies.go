package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// vacancies check that no line is without a leader or holder for longer than a bound while
// an able participant is in it. The bound counts from the last fault that touched an able
// participant of the line or the ensemble as a whole. A fault that touches only participants
// that are not able changes nothing. The checks look twice a tick.
//
// A participant is able if its handle wants to be in line, it is healthy, nothing is wrong with its process
// and its link (world.Client.Unhindered), the ensemble serves, and it may list the line,
// create and delete there, and read its own node.
type vacancies struct {
	w      *harness
	lines  map[string]*vacancy
	able   map[*user]int64  // since when a participant is able
	places map[string]*user // node → the participant that created it
	own    map[*user]string // the node that a participant created last
	hidden map[string]bool  // nodes that not everybody may read
	untold map[string]bool  // lines in which a server may have kept the end of a node from a client
	slow   slowSpells
}

// vacancy is a time in which nobody leads a line.
type vacancy struct {
	since   int64 // when somebody believed last, or the bound began again
	refused int   // the most at once of what refused returns
}

func newVacancies(w *harness) *vacancies {
	return &vacancies{w: w, lines: map[string]*vacancy{}, able: map[*user]int64{}, places: map[string]*user{},
		own: map[*user]string{}, hidden: map[string]bool{}, untold: map[string]bool{}}
}

// delays are what may delay the next leader of a line, besides the end of a session.
type delays struct {
	refused int  // so many participants may not do what they have to do in the line, and so many of them are stuck
	untold  bool // a node was changed or deleted while somebody could not read it: servers do not tell of that
}

// vacancyBound returns for how long a line may be without a leader while an able participant
// is in it. T is the session timeout.
//
//   - A head that is dead, hung or cut off goes with its session: T after the ensemble's
//     leader heard of it last, which a follower reports half a tick late, rounded up to a
//     tick, and found by a thread that runs every half tick: T and two ticks. A request of a
//     process that is paused again and again counts, too (extended).
//   - A head with a refusal of its own notices it at the latest when it is first. It gives its
//     place up when the refusal has lasted for T, at the end of a pause of at most T/4.
//     Then the next one may be refused, too. If it may not delete the place either, or not look
//     for it, the client ends its session after another T, at the next refusal.
//   - A participant behind a node whose end the server does not report asks for it at most T
//     after it asked last. T/4 more is allowed.
//   - Meanwhile, the able participant may have to connect again: one server of three may not
//     answer, which takes a third of T, a dial waits for at most one second, and the next session
//     begins after a pause of at most two. Or it is without a place, in a back-off of at most
//     2 T.
//   - Then it may have to pause for T/4, and confirmations do not count for a tick after the
//     ensemble's leader stood still. Half a tick is for the round trips, half a tick for the
//     distance between two looks.
func (p Plan) vacancyBound(d delays) time.Duration {
	quarter := p.Timeout / 4
	tick := p.longestTick()
	ahead := p.Timeout + 2*tick + time.Duration(d.refused)*5*quarter
	if d.untold {
		ahead += 5 * quarter
	}
	// a look is half a tick late at most
	return max(ahead, 2*p.Timeout, p.Timeout/3+3*time.Second) + quarter + 2*tick + tick/2
}

// start begins to look.
func (v *vacancies) start() {
	v.w.After(v.w.Tick/2, func() {
		if !v.w.closing {
			v.look()
			v.start()
		}
	})
}

// look looks at every line once.
func (v *vacancies) look() {
	for _, line := range v.noteAbilities() {
		if v.isExcused(line) {
			v.begin(line)
		} else {
			v.lines[line].refused = max(v.lines[line].refused, v.refused(line))
		}
	}
	v.eachParticipant(func(u *user) {
		if from, able := v.able[u]; able && v.w.checks.clean() {
			v.compare(u, max(from, v.lines[u.line].since))
		}
	})
	v.slow.look(v)
}

// compare checks how long an able participant has been in a line without a leader.
func (v *vacancies) compare(u *user, since int64) {
	vacant := time.Duration(v.w.Now() - since)
	if vacant <= v.w.vacancyBound(delays{}) {
		return
	}
	if bound := v.w.vacancyBound(v.delaysOf(u.line)); vacant > bound {
		v.w.checks.fail("somebody able leads", "nobody has led %s since %s, for %s, and %s is able; at most %s: %s",
			u.line, time.Duration(since), vacant, u.name(), bound, v.describe(u.line))
	}
}

// delaysOf returns what may delay the next leader of a line.
func (v *vacancies) delaysOf(line string) delays {
	return delays{untold: v.untold[line], refused: v.lines[line].refused}
}

// isStuck reports whether a participant may not delete its place, or not look for it, so that
// only the end of its session does.
func (v *vacancies) isStuck(u *user) bool {
	return v.hasNode(u) && !v.hasRights(u) && (!v.mayDelete(u) || u.c.Engine().State(u.id) == "leaving")
}

// refused returns how many participants of a line may not do what they have to do in it. One
// that is stuck counts twice.
func (v *vacancies) refused(line string) (n int) {
	v.eachParticipant(func(u *user) {
		if u.line == line && (!v.hasRights(u) || u.c.RefusesMultis()) {
			n++
			if v.isStuck(u) {
				n++
			}
		}
	})
	return n
}

// begin begins the bound of a line again.
func (v *vacancies) begin(line string) { v.lines[line] = &vacancy{since: v.w.Now()} }

// describe returns the state of every participant of a line.
func (v *vacancies) describe(line string) string {
	var all []string
	v.eachParticipant(func(u *user) {
		if u.line != line {
			return
		}
		what := "not able"
		if from, able := v.able[u]; able {
			what = "able since " + time.Duration(from).String()
		}
		all = append(all, fmt.Sprintf("%s is %q, %s", u.name(), u.c.Engine().State(u.id), what))
	})
	return strings.Join(all, "; ")
}

// eachParticipant calls a function with every handle that queues.
func (v *vacancies) eachParticipant(do func(*user)) {
	for _, c := range v.w.clients {
		for _, u := range c.users {
			if u.queues() {
				do(u)
			}
		}
	}
}

// noteAbilities notes who is able, and returns the lines. A participant that is not able
// any more was touched by a fault, or its handle does not want a place any more.
func (v *vacancies) noteAbilities() (lines []string) {
	serves := v.w.ens.Serves()
	v.eachParticipant(func(u *user) {
		if !slices.Contains(lines, u.line) {
			lines = append(lines, u.line)
			if v.lines[u.line] == nil {
				v.begin(u.line)
			}
		}
		_, was := v.able[u]
		is := serves && v.isAble(u)
		switch {
		case is && !was:
			v.able[u] = v.w.Now()
		case was && !is:
			delete(v.able, u)
			v.begin(u.line)
		}
	})
	return lines
}

// wanting are the states of a participant that wants to lead or hold. One that pauses without
// a place after work that failed or returned at once does not: the work is the reason.
var wanting = []engine.State{"enrolling", "probing", "listing", "verifying", "waiting", "leading",
	"pausing", "suspended"}

// isAble reports whether a participant is willing, and nothing hinders its process.
func (v *vacancies) isAble(u *user) bool { return v.isWilling(u) && u.c.Unhindered() }

// isWilling reports whether a participant wants to lead and may do what it takes.
func (v *vacancies) isWilling(u *user) bool {
	c, state := u.c, u.c.Engine().State(u.id)
	rests := state == "pausing" && u.hasWorked && !v.hasNode(u)
	wants := slices.Contains(wanting, state) && !rests && !u.closing && !u.hasTokenFloor && !u.call.gaveUp
	return wants && !u.sick && !c.leaving && !c.sessionEnds && !u.stormed && v.hasRights(u)
}

// hasRights reports whether a participant may do all that it has to do in its line.
func (v *vacancies) hasRights(u *user) bool {
	tree, who := v.w.ens.Committed(), []zkmem.Auth{u.c.Identity()}
	for _, right := range []int32{zkmem.PermRead, zkmem.PermCreate} {
		if tree.Exists(u.dir) && tree.Allowed(u.dir, right, who) != nil {
			return false
		}
	}
	return v.mayDelete(u) && (!v.hasNode(u) || tree.Allowed(v.own[u], zkmem.PermRead, who) == nil)
}

// mayDelete reports whether a participant may delete nodes in its line.
func (v *vacancies) mayDelete(u *user) bool {
	tree := v.w.ens.Committed()
	return !tree.Exists(u.dir) || tree.Allowed(u.dir, zkmem.PermDelete, []zkmem.Auth{u.c.Identity()}) == nil
}

// hasNode reports whether the node that a participant created last exists.
func (v *vacancies) hasNode(u *user) bool {
	return v.own[u] != "" && v.w.ens.Committed().Exists(v.own[u])
}

// isExcused reports whether a line has a leader, is kept by work that has not returned, is
// blocked by a node that no participant's session will delete, or by a participant that is
// stuck while something depends on its session.
func (v *vacancies) isExcused(line string) bool {
	k := v.w.checks
	if slices.ContainsFunc(k.beliefs, func(b *belief) bool { return b.u.line == line && b.u.c.believes(b) }) ||
		v.isUnheard(line) {
		return true
	}
	excused, seen := false, false
	v.eachParticipant(func(u *user) {
		if u.line != line || excused {
			return
		}
		excused = len(u.works) > 0 && !u.c.Dead() && v.w.nodes(u) > 0 || v.isStuck(u) && u.c.needsSession()
		if !seen {
			seen = true
			excused = excused || v.isBlocked(u)
		}
	})
	return excused
}

// isBlocked reports whether the line of a participant has a persistent node, one that came
// back with a backup, or a number near the counter's end.
func (v *vacancies) isBlocked(u *user) bool {
	tree := v.w.ens.Committed()
	if tree.Sequence(u.dir) > 1<<30 {
		return true
	}
	line, _ := machines.Line(v.w.ens.Children(u.dir), u.role.labels()...)
	return slices.ContainsFunc(line, func(p machines.Place) bool {
		path := u.dir + "/" + p.Name
		_, stat, err := tree.Get(path)
		return err == nil && stat.EphemeralOwner == 0 || v.w.checks.revived[path]
	})
}

// touched is called when a fault has touched a participant, now.
func (v *vacancies) touched(u *user) {
	if _, able := v.able[u]; able {
		v.begin(u.line)
	}
}

// clientTouched is called when a fault has touched a process or its connection, now.
func (v *vacancies) clientTouched(c *client) {
	for _, u := range c.users {
		v.touched(u)
	}
}

// believed is called when somebody begins to believe, or ends.
func (v *vacancies) believed(u *user) { v.begin(u.line) }

// posting sees what the executor tells a process: the end of a connection or a session, and
// a request that a server refused for its load, are faults.
func (v *vacancies) posting(c *client, ev events.Event) {
	switch {
	case ev.Kind == events.ConnectionSuspended, ev.Kind == events.ConnectionLost, ev.Code == events.Throttled:
		v.clientTouched(c)
	}
}

// dataReplaced touches everybody.
func (v *vacancies) dataReplaced() { v.eachParticipant(v.touched) }

// committed notes the nodes of participants, and what an operator does to them.
func (v *vacancies) committed(p *world.Proposal) {
	v.extended(p)
	gone := deletions(p.Txn)
	for _, path := range creations(p.Txn) {
		switch {
		case p.Operator:
			v.pathTouched(path)
		case p.Origin != nil && p.Server == nil: // carried out late
			v.pathTouched(path)
		case p.Origin != nil && p.Origin.Conn != nil:
			c := v.w.program(p.Origin.Conn.Client())
			// no parent of its line
			if u := c.user(p.Origin.ID); u != nil && u.queues() && strings.HasPrefix(path, u.dir+"/") {
				v.places[path], v.own[u] = u, path
				v.stormOn(u, path)
			}
		}
	}
	for _, path := range gone {
		if p.Operator {
			v.pathTouched(path)
			if u := v.places[path]; u != nil && v.own[u] == path { // not what an earlier session left behind
				v.lost(u, path)
			}
		}
		v.noteUntold(path)
		delete(v.places, path)
		delete(v.hidden, path)
	}
	switch path := p.Txn.Path; p.Txn.Code {
	case zkmem.OpSetSequence:
		v.pathTouched(path)
	case zkmem.OpSetData:
		v.noteUntold(path)
	case zkmem.OpSetACL:
		v.hidden[path] = !world.Readable(p.Txn.ACL, zkmem.Auth{})
	}
}

// extended begins the bound of a line again when a request of a participant comes that was
// hindered at the last look, as if it was sent between two pauses: its session, and with it its
// place, lasts for a timeout from here on.
func (v *vacancies) extended(p *world.Proposal) {
	if p.Operator || p.Origin == nil || p.Origin.Conn == nil {
		return
	}
	for _, u := range v.w.program(p.Origin.Conn.Client()).users {
		if _, able := v.able[u]; !able && u.queues() && v.lines[u.line] != nil && v.hasNode(u) && v.isWilling(u) {
			v.begin(u.line)
		}
	}
}

// noteUntold notes a change of a node that not everybody may read: servers do not tell of
// it, and its watchers wait for an end that they will not hear of.
func (v *vacancies) noteUntold(path string) {
	if !v.hidden[path] {
		return
	}
	v.eachParticipant(func(u *user) {
		if dir, _ := split(path); u.dir == dir || u.dir == path {
			v.untold[u.line] = true
		}
	})
}

// pathTouched touches the participant that a node belongs to; for another node, all in its
// directory.
func (v *vacancies) pathTouched(path string) {
	if u := v.places[path]; u != nil {
		v.touched(u)
		return
	}
	dir, _ := split(path)
	v.eachParticipant(func(u *user) {
		if u.dir == path || u.dir == dir {
			v.touched(u)
		}
	})
}

// isUnheard reports whether a line is excused because the product does not recover from a
// hidden node's end: see vacancyFault.
func (v *vacancies) isUnheard(line string) bool {
	f, _ := vacancyFaultNamed(hiddenInLine)
	return v.untold[line] && !f.recovers && !v.w.has(hiddenInLine)
}

// healed ends what lasts: in the healed world every process connects again.
func (v *vacancies) healed() {
	clear(v.untold)
	v.eachParticipant(func(u *user) { u.stormed = false })
}
