package sim

import (
	"runtime/debug"
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// Options say how a world runs.
type Options struct {
	Without []string // faults that are left out
	Plant   *Plant
	Keep    bool // keep the clients' records
	Story   bool // keep the world's story
	Plan    *Plan
}

// Result is what came of a run.
type Result struct {
	Plan    Plan
	Broken  []Violation
	Events  uint64        // steps of the engines
	Moments uint64        // events of the world
	Worst   time.Duration // the longest belief after a deletion by others
	Digest  uint64        // of all records: the same for the same seed
	Settled time.Duration // from the repair to a leader in every line
	Logs    [][]events.Record
	Story   []string
	Cover   *Coverage
	Struck  bool // the plan's strike has come
	Writes  int  // of the process that is struck, until then
}

// Run runs the world of a seed.
func Run(seed int64, o Options) (r Result) {
	plan := NewPlan(seed)
	switch {
	case o.Plan != nil:
		plan = *o.Plan
	case o.Plant != nil && o.Plant.Shape != nil:
		o.Plant.Shape(&plan)
	}
	plan.Without = append(plan.Without, o.Without...)
	w := newHarness(plan, o)
	defer func() { // so that a long run tells which world it was
		if p := recover(); p != nil {
			if wrongPlant(p) {
				panic(p) // it would pass for a bug that is found
			}
			w.checks.fail("no panic", "%v\n%s", p, debug.Stack())
			r = w.result(0)
		}
	}()
	for range w.Plan.Clients {
		w.addHandles(w.newClient())
	}
	w.createGuardedNodes()
	w.startFaults()
	w.vacancies.start()
	w.startScript()
	w.Until(int64(w.Length))
	var settled time.Duration
	if w.checks.clean() {
		settled = w.progress()
	}
	if w.checks.clean() {
		w.closeAndCheck()
	}
	return w.result(settled)
}

func (w *harness) result(settled time.Duration) Result {
	r := Result{
		Plan: w.Plan, Broken: w.checks.broken, Moments: w.Moments(), Worst: w.checks.worstBelief, Settled: settled,
		Story: w.story, Cover: w.cover, Struck: w.struck.has, Writes: w.struck.writes,
	}
	r.Cover.Faults[zxidsEnded] += uint64(w.ens.Rollovers())
	r.Digest = 14695981039346656037
	for _, c := range w.clients {
		r.Digest = (r.Digest ^ c.Digest()) * 1099511628211
		r.Logs = append(r.Logs, c.log)
	}
	r.Events = w.cover.Steps
	return r
}

// progress runs the second phase. Everything is repaired, and within a bound every line
// with participants has one leader, the others know their place, and nobody has two nodes.
func (w *harness) progress() time.Duration {
	begun := w.Now()
	w.repair()
	bound := w.healBound() + 30*time.Second // the longest back-off, of a machine that has to delete its node
	if w.queue != nil && w.checks.othersChanged {
		bound += 5 * time.Minute // what could not be read is read again after that
	}
	end := begun + int64(bound)
	for w.checks.clean() && w.Now() < end {
		w.Until(min(end, w.Now()+int64(w.Tick)))
		if w.checks.clean() && w.unsettled() == "" {
			return time.Duration(w.Now() - begun)
		}
		w.operate()
	}
	if stuck := w.unsettled(); w.checks.clean() && stuck != "" {
		w.checks.fail("progress", "%s after %s without faults", stuck, bound)
	}
	return time.Duration(w.Now() - begun)
}

// unsettled returns what a healed world still lacks, "" for nothing.
func (w *harness) unsettled() string {
	leaders, members := map[string]int{}, map[string]int{}
	var lines []string
	for _, c := range w.clients {
		if c.Dead() || c.leaving {
			continue
		}
		for _, u := range c.users {
			if !u.queues() && w.checks.deletedUnreadable[u.path] {
				continue
			}
			state := string(c.Engine().State(u.id))
			if !u.hasTokenFloor && u.role.states.final != nil &&
				!slices.Contains(u.role.states.final, engine.State(state)) {
				return u.name() + " is " + state
			}
			if why := u.role.program.unsettled(u); why != "" {
				return u.name() + " " + why
			}
			if !u.queues() {
				continue
			}
			if state == "leading" {
				leaders[u.line]++
			}
			if !u.hasTokenFloor && u.role.states.final != nil && (state == "leading" || state == "waiting") {
				members[u.line]++
				if !slices.Contains(lines, u.line) {
					lines = append(lines, u.line)
				}
			}
			if n := w.nodes(u); n > 1 {
				return u.name() + " has more than one node"
			}
		}
	}
	for _, line := range lines {
		if leaders[line] != 1 {
			return "no single leader of " + line
		}
	}
	return ""
}

// nodes counts the nodes of a participant that are committed, by the name in their data.
func (w *harness) nodes(u *user) (n int) {
	for _, name := range w.ens.Children(u.dir) {
		data, _, err := w.ens.Committed().Get(u.dir + "/" + name)
		_, fits := machines.ParsePlace(name, u.role.labels()...)
		if err == nil && fits && string(data) == u.name() {
			n++
		}
	}
	return n
}

// closeAndCheck closes everything and checks that nothing is left: no node, no watch,
// no timer, no machine, no command without an answer.
func (w *harness) closeAndCheck() {
	w.closing = true
	for _, c := range w.clients {
		if c.Dead() {
			continue
		}
		c.Run(c.closeHandles)
	}
	w.Until(w.Now() + int64(w.healBound()))
	w.closedLeftNothing()
	w.noForgottenWatch()
	for _, c := range w.clients {
		c.Run(c.closeSession)
	}
	w.Until(w.Now() + int64(w.Timeout+4*w.Tick+5*time.Second))
	if w.checks.clean() {
		w.nothingLeft()
	}
}

// closedLeftNothing checks that a closed handle has deleted its node, although its
// session goes on.
func (w *harness) closedLeftNothing() {
	for _, c := range w.clients {
		for _, u := range c.users {
			if state := c.Engine().State(u.id); u.role.handles.outlivesSession && state != "" &&
				!c.sessionEnds && !c.Dead() {
				w.checks.fail("a close ends", "%s is closed, and %s", u.name(), state)
			}
			if w.ens.Generation() == 0 && !c.Dead() && u.queues() && c.Engine().State(u.id) == "" && w.nodes(u) > 0 {
				w.checks.fail("nothing is left", "%s is closed, and its node is there", u.name())
			}
		}
	}
}

// noForgottenWatch checks that the servers have no watch that the processes do not
// know. All handles are closed: such a watch could never fire.
func (w *harness) noForgottenWatch() {
	known := map[int]int{}
	for _, c := range w.clients {
		if c.Dead() {
			return // what a dead process has left goes with its session
		}
		if c.Conn() != nil {
			known[c.Conn().Server().ID()] += c.Watches() + c.Conn().Unclaimed()
		}
	}
	for _, s := range w.ens.Servers() {
		if n := s.Watches(); n > known[s.ID()] { // fewer, if one was spent on a node that nobody may read
			w.checks.fail("no forgotten watch", "server %d: %d watches, and the processes know of %d", s.ID(),
				n, known[s.ID()])
		}
	}
}

func (w *harness) nothingLeft() {
	k := w.checks
	k.noItemLost()
	for _, c := range w.clients {
		if c.Dead() {
			continue
		}
		for _, id := range c.Engine().Machines() {
			if c.outlasts(id) {
				continue
			}
			k.fail("nothing is left", "client %d: %s is still %s (awaits %v)", c.ID(), id, c.Engine().State(id),
				c.Engine().Awaits(id))
		}
		if n := c.Timers(); n > 0 {
			k.fail("nothing is left", "client %d: %d timers run", c.ID(), n)
		}
		if open := slices.DeleteFunc(c.Unanswered(), c.outlasts); len(open) > 0 {
			k.fail("answers", "client %d: %d commands were never answered", c.ID(), len(open))
		}
	}
	k.noOrphansAtAll()
	for _, dir := range w.lines() {
		for _, name := range w.ens.Children(dir) {
			if _, stat, _ := w.ens.Committed().Get(dir + "/" + name); stat.EphemeralOwner != 0 {
				k.fail("nothing is left", "%s/%s of session %x is left", dir, name, stat.EphemeralOwner)
			}
		}
	}
	for _, s := range w.ens.Servers() {
		if n := s.Watches(); n > 0 {
			k.fail("nothing is left", "server %d: %d watches are left", s.ID(), n)
		}
	}
}
