// Package sim runs the product's own engine and machines through seeded worlds: several
// clients, a modelled ensemble of three servers, faults of every kind, and one virtual
// clock. Package world has the servers, connections, clients and the clock. This package
// has the programs, faults, checks and planted bugs, and hooks in by world's Observer.
//
// # Running it
//
//	go test ./test/worlds/sim           thousands of worlds, the planted bugs, the digests
//	make sim SEED=7              one world: its story, and a log for each client
//	make soak N=1000000          a long run, from SEED on
//	make plants                  search for a world that finds each planted bug
//
// A seed gives the same world every time. ARGS='-shrink' makes a failing world smaller
// first. ARGS='-plant NAME' plants a bug, and ARGS='-plant "none: RECIPE"' makes it a
// separate world of one recipe. A world has two phases: faults, in which the checks hold
// every promise, then a healed world, in which every line has to get its leader. In both, no
// line is without a leader for longer than a bound while an able participant is in it.
//
// # Reading it
//
//	harness.go    one world: world's Observer; plan.go what a seed makes of it; phases.go its two phases
//	roles.go      the list of the recipes; program.go what a process does with a handle; user.go one handle
//	mutex.go ...  a file for each recipe: its role, its program, its own checks, its plants
//	dirs.go       recipes with directories of their own, and calls that have a machine each
//	queue.go      what producer.go and consumer.go share; queue_checks.go, queue_leftovers.go the checks of both
//	writes.go     calls that write: what was asked for, sent, carried out and answered; history.go a node's states
//	guardedwrites.go writes under a leadership, which no machine sends
//	faults.go     faults by the clock; state_faults.go faults just after a state was entered; operator.go people
//	checks.go     the promises; beliefs.go, promises.go, wakeups.go more of them
//	vacancies.go  no line is long without a leader; vacancy_faults.go faults that have worlds of their own for it
//	ensemble_faults.go what ensembles do without being broken; it has worlds of its own, too
//	server_worlds.go worlds of special ensembles: observers, limits of timeouts, other ticks, standstills
//	strikes.go    a fault at one write of one process, for package small
//	coverage.go   every row and fault has to fire in a long run; goals.go rows that cannot
//	plants.go     what a planted bug is; planted*.go, tamper.go; search.go finds a world for each
//	many.go       a range of seeds, summed up; shrink.go smaller worlds
//
// # Adding a recipe
//
// Write one file with a role, and put the role into the list in roles.go. A recipe that
// comes later sets separate: it has worlds of its own, so that the digests of the other
// worlds stay. The parts of a role:
//
//   - line: how the nodes queue. A recipe that queues in the directories that all share
//     needs a label and a share. Faults, operators and checks find its nodes by the label.
//   - dirs: its own directory, if it does not share one. Half of the worlds use one or two
//     such directories (Plan.OwnDirs); inDir shapes the worlds of a plant so.
//   - handles: how many a process opens, and what its machines may do at the end.
//   - program: a type that embeds handleProgram, or callProgram if each call has a
//     machine of its own, and has methods of its own where it differs. act is called from
//     time to time, and sends commands with u.c.Ask. noticed is called with each notice.
//     whenHealed, operate and unsettled are about the healed world.
//   - writes: for calls that write, which request is the write and what has to be true
//     when it is carried out and answered. writes.go checks the rest.
//   - states: final, where a machine may stay in a healed world; wakes, what can wake it
//     in each state (TestRoles names a state that waits and is missing: its wait could
//     never end, and no check would see it); faults, which state faults should strike
//     more often, for rows that hardly any world fires.
//   - plants: at least one bug for each thing that the recipe adds.
//
// The checks of leadership need nothing: at most one believes at a time, the leader is
// first in line, and its node is its own. A recipe that promises something else adds a
// method to checks, and calls it where users get notices (user.notice) or where the
// ensemble commits (checks.committed).
//
// Then run TestWorlds, or TestSeparateWorlds, with -worlds 20000. It names every row of
// the chart that never fired: make faults more likely, or say in goals.go why no world
// can fire the row. Then run "make plants", since other dice find old bugs in other
// worlds, and "make golden", which writes the digests.
//
// # Planted bugs
//
// A Plant is a bug that is put in on purpose: it shows that the checks can fail. It
// changes an event, an effect or a request on its way, or a guard or an action of a
// chart (mutate.Recipe). testdata/plants.tsv has a world for each: there it breaks the
// named promise, and without the plant the world breaks none.
package sim
