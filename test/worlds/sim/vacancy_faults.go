package sim

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// vacancyFault is a fault behind which a line may stay without a leader although an able
// participant is in it. It has worlds of its own, so that those of other seeds stay.
type vacancyFault struct {
	fault
	recovers bool        // the product recovers in time, so that TestVacancyWorlds runs the worlds
	shape    func(*Plan) // what the worlds need besides; nil if nothing
}

var vacancyFaults []vacancyFault

func init() {
	read, readAndDelete := zkmem.PermRead, zkmem.PermRead|zkmem.PermDelete
	vacancyFaults = []vacancyFault{
		{fault: fault{name: notListing, fire: func(w *harness, d *rand.Rand) bool { return w.refuseOne(d, read) }},
			recovers: true},
		{fault: fault{name: notDeleting, fire: func(w *harness, d *rand.Rand) bool {
			return w.refuseOne(d, readAndDelete)
		}}, recovers: true},
		{fault: fault{name: "one client may not read its own node", fire: (*harness).hideFromOwner}, recovers: true},
		{fault: fault{name: "deletion storm", fire: (*harness).storm}, recovers: true},
		{fault: fault{name: hiddenInLine, fire: (*harness).hideWaiting}, recovers: true, shape: func(p *Plan) {
			p.Clients = max(p.Clients, 5)
		}},
		{fault: fault{name: refusedHere, fire: (*harness).refuseOnConnections}, recovers: true},
		{fault: fault{name: refusedEverywhere, fire: (*harness).refuseEverywhere}, recovers: true},
		{fault: fault{name: slowSpell, fire: (*harness).slowSpell}, recovers: true, shape: shapeSlowSpells},
	}
}

const (
	notListing   = "one client may not list"
	notDeleting  = "one client may not list or delete"
	hiddenInLine = "a waiting node is hidden, then deleted"
	slowSpell    = "slow spell"

	refusedHere       = "transactions are refused on the present connections"
	refusedEverywhere = "one client's transactions are refused"

	defaultRetry = "bounded/-1/250ms/30s" // the product's
)

// vacancyFaultNamed returns the fault of this name.
func vacancyFaultNamed(name string) (vacancyFault, bool) {
	i := slices.IndexFunc(vacancyFaults, func(f vacancyFault) bool { return f.name == name })
	if i < 0 {
		return vacancyFault{}, false
	}
	return vacancyFaults[i], true
}

// VacancyWorlds returns a plant without a bug for each of these faults. It shapes worlds that
// last for twenty session timeouts, in which the fault happens three times, and a quarter
// of the other faults.
func VacancyWorlds() (all []Plant) {
	for _, f := range vacancyFaults {
		all = append(all, Plant{Name: "none: " + f.name, Shape: f.shapeWorld})
	}
	return all
}

func (f vacancyFault) shapeWorld(p *Plan) {
	d := world.NewDice(p.Seed, "vacancies")
	p.Length = 20 * p.Timeout
	p.Clients = max(p.Clients, 3)
	if f.shape != nil {
		f.shape(p)
	}
	p.Faults = slices.DeleteFunc(p.Faults, func(Rate) bool { return !world.OneIn(d, 4) })
	p.often(3, f.name)
}

// shapeSlowSpells makes worlds with the product's own retry policy, and of three or four ticks
// a session: with a longer one, heartbeats are a sync, which no slow commit delays.
func shapeSlowSpells(p *Plan) {
	p.Tick = min(p.Tick, time.Second)
	p.Timeout, p.Length = time.Duration(3+p.Seed%2)*p.Tick, 4*time.Minute
	p.Retry = defaultRetry
}

// anyInLine returns a random participant that has a node in a line with others, nil if the
// dice find none.
func (w *harness) anyInLine(d *rand.Rand) *user {
	path := w.anyPlace(d)
	u := w.vacancies.places[path]
	if u == nil || u.c.Dead() || !w.ens.Committed().Exists(path) {
		return nil
	}
	return u
}

// aclWithout returns an access list that gives everybody all rights, but not these ones to
// those who are left out.
func (w *harness) aclWithout(rights int32, leftOut func(*client) bool) []zkmem.ACL {
	acl := []zkmem.ACL{{Perms: zkmem.PermAll &^ rights, Scheme: "world", ID: "anyone"}}
	for _, c := range w.clients {
		if !leftOut(c) {
			acl = append(acl, zkmem.ACL{Perms: zkmem.PermAll, Scheme: c.Identity().Scheme, ID: c.Identity().ID})
		}
	}
	return acl
}

// setACL has an operator set an access list.
func (w *harness) setACL(path string, acl []zkmem.ACL) {
	w.checks.othersChanged = true
	w.ens.Operate(zkmem.Op{Code: zkmem.OpSetACL, Path: path, Version: zkmem.AnyVersion, ACL: acl})
}

// refuseOne takes rights in a line away from one client, for a while or for good. The head
// goes then, so that the others move up.
func (w *harness) refuseOne(d *rand.Rand, rights int32) bool {
	u := w.anyInLine(d)
	if u == nil {
		return false
	}
	w.setACL(u.dir, w.aclWithout(rights, func(c *client) bool { return c == u.c }))
	if world.OneIn(d, 2) {
		w.After(world.Between(d, 2*w.Timeout, 6*w.Timeout), func() { w.giveAccess(u.dir) })
	}
	w.deleteHeadLater(d, u)
	return true
}

// deleteHeadLater has an operator delete the first node of a participant's line within a
// session timeout.
func (w *harness) deleteHeadLater(d *rand.Rand, u *user) {
	w.After(w.Tick+world.Between(d, 0, w.Timeout), func() {
		if line, _ := machines.Line(w.ens.Children(u.dir), u.role.labels()...); len(line) > 0 && !w.healed {
			w.operatorFault(zkmem.Op{Code: zkmem.OpDelete, Path: u.dir + "/" + line[0].Name, Version: zkmem.AnyVersion})
		}
	})
}

// hideFromOwner takes the right to read a node away from its own client, for good.
func (w *harness) hideFromOwner(d *rand.Rand) bool {
	u := w.anyInLine(d)
	if u == nil {
		return false
	}
	w.setACL(w.vacancies.own[u], w.aclWithout(zkmem.PermRead, func(c *client) bool { return c == u.c }))
	return true
}

// storm has an operator delete every place that one participant, or every one of a line,
// has or creates, for a while.
func (w *harness) storm(d *rand.Rand) bool {
	one := w.anyInLine(d)
	if one == nil {
		return false
	}
	all := world.OneIn(d, 3)
	w.vacancies.eachParticipant(func(u *user) {
		if u == one || all && u.line == one.line {
			u.stormed = true
			w.deleteOf(u)
		}
	})
	w.After(world.Between(d, 2*time.Second, 5*w.Timeout), func() {
		w.vacancies.eachParticipant(func(u *user) {
			if u.line == one.line {
				u.stormed = false
			}
		})
	})
	return true
}

// hideWaiting has an operator hide a node that is second or third in line from all other
// clients, and delete it then: the one behind it gets no event. Then the head goes.
func (w *harness) hideWaiting(d *rand.Rand) bool {
	head := w.anyInLine(d)
	if head == nil {
		return false
	}
	line, _ := machines.Line(w.ens.Children(head.dir), head.role.labels()...)
	if len(line) < 3 {
		return false
	}
	hidden := head.dir + "/" + line[1+d.IntN(min(len(line)-2, 2))].Name
	owner := w.vacancies.places[hidden]
	if owner == nil {
		return false
	}
	w.setACL(hidden, w.aclWithout(zkmem.PermRead, func(c *client) bool { return c != owner.c }))
	w.After(world.Between(d, 0, w.Tick), func() {
		if !w.healed {
			w.ens.Operate(zkmem.Op{Code: zkmem.OpDelete, Path: hidden, Version: zkmem.AnyVersion})
		}
	})
	w.deleteHeadLater(d, head)
	return true
}

// slowSpell makes every commit take longer than belief lasts, for ten seconds to a minute.
func (w *harness) slowSpell(d *rand.Rand) bool {
	w.ens.SlowCommits(w.Timeout*11/20, w.Timeout*13/20, world.Between(d, 10*time.Second, time.Minute))
	return true
}

// losses are the moments at which others deleted a machine's places, of the last 2 T. T is the shortest timeout
// that its sessions were granted meanwhile: the machine's pauses are parts of it.
type losses struct {
	machine events.ID
	timeout time.Duration
	at      []int64
}

// maxLosses is how many places a machine may lose to others within 2 T. After the third it waits for
// at least T/2, and after each further one for at least T: at most five fit, and one more whose
// deletion came late.
const maxLosses = 6

// lost is called when an operator has deleted a participant's place.
func (v *vacancies) lost(u *user, path string) {
	if u.c.Engine().State(u.id) == "leaving" { // it gives the place up itself
		return
	}
	if u.losses.machine != u.id {
		u.losses = losses{machine: u.id, timeout: v.w.Timeout}
	}
	if granted := u.c.ShortestTimeout(); granted > 0 {
		u.losses.timeout = min(u.losses.timeout, granted)
	}
	now, span := v.w.Now(), 2*u.losses.timeout
	u.losses.at = append(slices.DeleteFunc(u.losses.at, func(at int64) bool { return now-at > int64(span) }), now)
	if n := len(u.losses.at); n > maxLosses {
		v.w.checks.fail("lost places are paced", "%s created and lost %d places within %s, the last one %s; at most %d",
			u.name(), n, span, path, maxLosses)
	}
}

// stormOn deletes a place that was created in a deletion storm.
func (v *vacancies) stormOn(u *user, path string) {
	if u.stormed && !v.w.healed {
		v.w.After(shortly(v.w.Dice("deletion storm")), func() {
			v.w.operatorFault(zkmem.Op{Code: zkmem.OpDelete, Path: path, Version: zkmem.AnyVersion})
		})
	}
}

// slowSpells is about leadership after the ensemble was slower than belief lasts.
type slowSpells struct {
	slow bool
	over int64            // when the last one ended; 0 for none yet
	head map[string]place // line → who is first in line, since when
}

type place struct {
	path  string
	since int64
}

// look checks that the first in line leads within T/2 and a few ticks after the ensemble is
// fast again: the head pauses for at most T/4, and the confirmation after that may come
// while ZooKeeper's leader settles. Only worlds with the fault are asked.
func (s *slowSpells) look(v *vacancies) {
	w := v.w
	if !w.has(slowSpell) || w.healed {
		return
	}
	serves := w.ens.Serves()
	if s.slow && serves {
		s.over = w.Now()
	}
	s.slow = !serves
	if s.over == 0 || s.slow {
		return
	}
	v.eachParticipant(func(u *user) {
		from, able := v.able[u]
		if !able || !u.c.Attached() || v.untold[u.line] || !v.isHead(u) {
			return
		}
		vacant := time.Duration(w.Now() -
			max(from, s.over, v.lines[u.line].since, s.headSince(u.line, v.own[u], w.Now())))
		if most := w.Timeout/2 + 2*w.Tick; vacant > most && w.checks.clean() {
			w.checks.fail("the head leads after a slow spell",
				"nobody has led %s for %s after the ensemble was fast again, and %s is first and able; at most %s: %s",
				u.line, vacant, u.name(), most, v.describe(u.line))
		}
	})
}

// headSince returns since when a node is the first of its line.
func (s *slowSpells) headSince(line, path string, now int64) int64 {
	if s.head == nil {
		s.head = map[string]place{}
	}
	if s.head[line].path != path {
		s.head[line] = place{path, now}
	}
	return s.head[line].since
}

// isHead reports whether a participant's node is the first of its line.
func (v *vacancies) isHead(u *user) bool {
	line, _ := machines.Line(v.w.ens.Children(u.dir), u.role.labels()...)
	return len(line) > 0 && u.dir+"/"+line[0].Name == v.own[u]
}

// unservedCodes are codes that are not the client's fault: SYSTEMERROR, SESSIONMOVED, REQUESTTIMEOUT, THROTTLEDOP,
// and one without a name.
var unservedCodes = []zkmem.Code{zkmem.SystemError, -122, -127, -99, zkmem.SessionMoved}

// refuseOnConnections has servers refuse the transactions of all clients, by one code, on their present connections.
func (w *harness) refuseOnConnections(d *rand.Rand) bool {
	code := unservedCodes[d.IntN(len(unservedCodes))]
	for _, c := range w.clients {
		if !c.Dead() {
			c.RefuseMultis(code, time.Hour)
			w.vacancies.clientTouched(c)
		}
	}
	return true
}

// refuseEverywhere has all servers refuse the transactions of a client that is in a line, for a while. A session has
// not
// moved away from all of them. The head goes then, so that the others move up.
func (w *harness) refuseEverywhere(d *rand.Rand) bool {
	u := w.anyInLine(d)
	if u == nil {
		return false
	}
	u.c.RefuseMultisEverywhere(unservedCodes[d.IntN(len(unservedCodes)-1)], world.Between(d, 4*w.Timeout, 8*w.Timeout))
	w.deleteHeadLater(d, u)
	return true
}
