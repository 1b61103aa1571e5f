package sim

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// roles lists the recipes of the simulation. The order belongs to every world, since
// drawRole and openInOwnDirs go through it with dice: a new recipe moves the worlds
// of those behind it, unless it has separate worlds.
var roles = []*role{
	barrierRole, consumerRole, deletionRole, doubleBarrierRole, electionRole, gateRole, jobElectionRole,
	latchRole, membershipRole, mutexRole, nodeWatchRole, numberRole, observerRole, persistentRole, producerRole,
	readWriteRole, requestRole, selectorRole, semaphoreRole, treeCacheRole,
	jobDealerRole,  // behind the job election, whose recipe it shares
	plainMutexRole, // behind the mutex, whose recipe it shares
	jobWorkerRole, nodeElectionRole,
	workedDealerRole, // behind the job election, whose recipe it shares
	shardsRole,
}

// role is a recipe's part in the simulation. The file of the recipe has its value.
type role struct {
	recipe   string       // the name of its chart
	name     string       // "": the recipe's
	separate bool         // it has worlds of its own, and no part in those of the others
	share    int64        // its worlds are the shareth part of the others' number; 0 is all
	line     lineTraits   // how its nodes queue; zero if they do not
	dirs     dirTraits    // its own directories; zero if it queues in those that recipes share
	handles  handleTraits // how a process uses its handles
	program  program      // what a process does with a handle
	writes   *writeChecks // how a call that writes is checked; nil if no call writes
	states   stateTraits  // what its machines may wait for, state by state
	plants   []Plant      // the bugs that are planted in it
}

// lineTraits say how the nodes of a recipe queue, and what its leader may do.
type lineTraits struct {
	label     string // the label in the names of its nodes
	readers   string // the label of nodes that do not exclude each other; "" if all do
	share     int    // how many of the handles in shared directories have this role, of all shares
	fixedName bool   // the leader's node has a fixed name
	noGUID    bool   // the names carry no GUID, so that nothing is written under a term
	together  bool   // several may hold at once
}

// dirTraits say where a recipe has directories of its own.
type dirTraits struct {
	own    string   // its directory
	sub    []string // the directories below it that have the nodes; nil if own itself has them
	node   string   // the node that handles are about; "" if they are about the directory
	stays  []string // the names of nodes in own that outlive every session
	public bool     // every process may delete the nodes, or checks of the recipe say which may
}

// handleTraits say how a process uses the handles of a recipe.
type handleTraits struct {
	most            int  // how many a process opens in the own directory, at most; 0 is one
	outlivesSession bool // the machine may outlive its session, and then ends with the client
	shortWork       bool // its work takes less than half a tick
}

// stateTraits are about the states of a recipe's machines. The maps have the states
// as keys.
type stateTraits struct {
	final  []engine.State            // where a machine may stay in a healed world; nil is every state
	wakes  map[engine.State]waking   // what can wake a machine; a state that is missing needs nothing
	faults map[engine.State][]string // state faults that strike more often than others
}

// title returns the role's name.
func (r *role) title() string { return cmp.Or(r.name, r.recipe) }

// roleOf returns a recipe's role, the first of several; nil if it has none.
func roleOf(recipe string) *role {
	for _, r := range roles {
		if r.recipe == recipe {
			return r
		}
	}
	return nil
}

// labels returns the labels of the roles that queue in shared directories, each once.
func labels() (all []string) {
	for _, r := range roles {
		if r.line.label != "" && !r.separate && !slices.Contains(all, r.line.label) {
			all = append(all, r.line.label)
		}
	}
	return all
}

// labels returns the labels in the names of the role's nodes.
func (r *role) labels() []string {
	if r.line.readers == "" {
		return []string{r.line.label}
	}
	return []string{r.line.label, r.line.readers}
}

// lineIn returns the line that the role's nodes in a directory belong to: nodes of one
// label are in one line, whichever recipe they belong to.
func (r *role) lineIn(dir string) string { return dir + " " + cmp.Or(r.line.label, r.recipe) }

// drawRole returns the role of a handle in a shared directory.
func drawRole(d *rand.Rand) *role {
	sum := 0
	for _, r := range roles {
		sum += r.line.share
	}
	n := d.IntN(sum)
	for _, r := range roles {
		if n -= r.line.share; n < 0 {
			return r
		}
	}
	return nil
}

// waking reports whether something can still wake a machine. awaited is the number of
// replies and timers that it awaits, watches the number of its armed watches.
type waking func(c *client, id events.ID, awaited, watches int) bool

// needs returns the waking of a state that needs at least this number of replies and
// watches together. Without a connection, the next connection wakes it.
func needs(least int) waking {
	return func(c *client, _ events.ID, awaited, watches int) bool {
		return !c.Attached() || awaited+watches >= least
	}
}

// answered is the waking of a state that waits for a reply.
func answered(c *client, _ events.ID, awaited, _ int) bool { return !c.Attached() || awaited >= 1 }

// timed is the waking of a state that waits for a timer.
func timed(_ *client, _ events.ID, awaited, _ int) bool { return awaited >= 1 }

// working is the waking of a state that waits for work to return.
func working(c *client, id events.ID, _, _ int) bool { return len(c.user(id).works) > 0 }

// lineWakes wake the machines that queue.
var lineWakes = map[engine.State]waking{
	"waiting": needs(2), "blocked": needs(2), // the own node and the predecessor, or a request about them
	"leading":   needs(1),
	"enrolling": answered, "listing": answered, "verifying": answered, "leaving": answered,
	"pausing": timedOrSick, "draining": working,
}

// lineFinal are the states in which a machine that queues may stay.
var lineFinal = []engine.State{"leading", "waiting", "closed", ""}

// with returns wakes with more added.
func with(wakes, more map[engine.State]waking) map[engine.State]waking {
	all := maps.Clone(wakes)
	maps.Copy(all, more)
	return all
}
