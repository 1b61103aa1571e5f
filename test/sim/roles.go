package sim

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// role is a recipe's place in the simulation: what its program does with it, when
// it has come to rest, what can wake it, and which bugs are planted in it. Each
// has a file of its own, which its init adds to roles.
type role struct {
	recipe string       // its chart's name
	label  string       // what stands before the number of its places; "" where it has none
	shared string       // and before that of those who hold beside each other; "" where nobody does
	apart  bool         // it has worlds of its own: what is drawn for the others stays as it was
	home   string       // the directory of its own where it lives; "" is the lines that recipes share
	path   string       // what its handles in the home are about, where that is not the home itself
	rooms  []string     // the directories in its home that hold its nodes, where that is not the home itself
	keeps  []string     // the names of its nodes that are meant to outlive every session
	share  int          // how many of the handles in a line are of this role, of all shares
	named  bool         // who leads has a node of a fixed name
	plain  bool         // its names carry no GUID: nothing is written under its terms
	most   int          // how many handles a process opens in the home, at most; 0 is one
	beside bool         // several may hold at once
	abides bool         // it may outlast its session, and then ends with the client, whose door answers what is open
	brief  bool         // its work does not last
	calls  bool         // every call is a machine of its own: see user.call
	public bool         // anybody may delete what stands in its home, or its own checks say who may
	writes *writeChecks // of calls that write: see deed; nil where none does

	options func(u *user, d *rand.Rand) map[string]string // beside what every handle has; may be nil
	data    func(u *user, payload uint64) []byte          // what a request holds in the place of such a number; nil where none does
	keep    func(u *user, ev events.Event)                // takes what of an answer goes past the machine; may be nil
	act     func(u *user, n int)                          // one of twelve things, by a die, now and then; may be nil
	told    func(u *user, n events.Notify)                // what the program does at a notice; may be nil
	answers func(u *user, a events.Answer)                // and at the answer of a command; may be nil
	returns func(u *user, ev *events.Event)               // what the return of a piece of work says; may be nil
	cancel  func(u *user) bool                            // ends the context of a call; nil: of the await that was asked for last
	owns    func(u *user, data string) bool               // whether a node with these data is the handle's; nil: they are its name
	spot    func(u *user) string                          // the node that ambushes are about; nil: the newest with the handle's name as its data

	lasts func(w *harness, dir, name string) bool // whether a persistent node of its rooms is a program's; nil: see keeps

	healed    func(u *user)        // what the program does when the faults are over; may be nil
	tend      func(w *harness)     // and what an operator does then, again and again; may be nil
	unsettled func(u *user) string // what is missing to a settled world, beside rests; may be nil

	rests []engine.State                // where it may stay for ever in a healed world; nil: anywhere
	wakes map[engine.State]waking       // what can wake it, state by state; states that are left out need nothing
	sores map[engine.State][]stateFault // what strikes it more often than others, state by state

	plants []Plant
}

// roles are all of them, in the order of their files' names.
var roles []*role

func roleOf(recipe string) *role {
	for _, r := range roles {
		if r.recipe == recipe {
			return r
		}
	}
	return nil
}

// labels are those of the roles that queue, each once.
func labels() (all []string) {
	for _, r := range roles {
		if r.label != "" && !r.apart && !slices.Contains(all, r.label) {
			all = append(all, r.label)
		}
	}
	return all
}

// labels are what stands before the numbers of its line.
func (r *role) labels() []string {
	if r.shared == "" {
		return []string{r.label}
	}
	return []string{r.label, r.shared}
}

// line is what excludes each other in a directory: all of one label stand in one
// line, whichever recipe's they are.
func (r *role) line(dir string) string { return dir + " " + cmp.Or(r.label, r.recipe) }

// draw is a role for a handle in a shared line.
func drawRole(d *rand.Rand) *role {
	sum := 0
	for _, r := range roles {
		sum += r.share
	}
	n := d.IntN(sum)
	for _, r := range roles {
		if n -= r.share; n < 0 {
			return r
		}
	}
	return nil
}

// waking says whether something can still wake a machine that is owed so many
// answers and timers, and waits for so many watches.
type waking func(c *client, id events.ID, owed, watches int) bool

// needs is a state that needs so many answers or watches; without a connection
// the next one wakes it.
func needs(least int) waking {
	return func(c *client, _ events.ID, owed, watches int) bool { return !c.Attached() || owed+watches >= least }
}

// answered is a state that waits for an answer.
func answered(c *client, _ events.ID, owed, _ int) bool { return !c.Attached() || owed >= 1 }

// timed is a state that waits for a timer.
func timed(_ *client, _ events.ID, owed, _ int) bool { return owed >= 1 }

// working is a state that waits for work to return.
func working(c *client, id events.ID, _, _ int) bool { return len(c.user(id).works) > 0 }

// lineWakes are those of whoever stands in a line.
var lineWakes = map[engine.State]waking{
	"waiting": needs(2), "blocked": needs(2), // the own node and the predecessor, or what is asked about them
	"leading":   needs(1),
	"enrolling": answered, "listing": answered, "verifying": answered, "leaving": answered,
	"pausing": timed, "draining": working,
}

// lineRests are the states in which whoever stands in a line may stay.
var lineRests = []engine.State{"leading", "waiting", "idle", "closed", ""}
