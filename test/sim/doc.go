// Package sim runs the product's own engine and machines through seeded worlds
// that no test would think of: several clients, a modelled ensemble of three
// servers on zkmem's tree, faults of every kind, and one virtual clock. The servers,
// the connections, the clients and the clock are of package world; here are programs,
// faults, checks and planted bugs, which hook in through its Observer.
//
//	harness.go    one world and what the simulation holds against it: the world's Observer
//	plan.go       what a seed makes of a world: clients, timeouts, faults and their rates
//	user.go       what a client's program does
//	roles.go      what a recipe brings: latch.go, selector.go, observer.go, mutex.go, barrier.go, gate.go,
//	              doublebarrier.go, persistent.go, membership.go
//	separate.go   worlds of one recipe alone: readwrite.go, semaphore.go, election.go, jobelection.go, and the
//	              raw operations: request.go, deletion.go, number.go, nodewatch.go; treecache.go, whose
//	              checks are in treecache_checks.go and bugs in treecache_planted.go
//	queue.go      the queue that producer.go and consumer.go share, in worlds of their own; queue_checks.go
//	              what is asked of it, planted_queue.go
//	writes.go     calls that write, from what was asked for to what was carried out; history.go a
//	              node, state by state
//	dirs.go       directories that recipes have for themselves; calls that are machines of their own
//	guarded.go    writes under a leadership, past the machines, as the door sends them
//	faults.go     what goes wrong; operator.go what people do to the nodes; state_faults.go what
//	              happens to a machine just when it enters a state; giveup.go a client that ends its session
//	checks.go     the promises, held against the ensemble's committed history; beliefs.go those of
//	              belief; promises.go, wakeups.go
//	phases.go     two phases: faults for safety, then healing and the demand for progress
//	coverage.go   every row, fault and ambush must have fired in a long run; goals.go which cannot
//	plants.go     bugs planted on purpose: the harness must be able to fail; planted*.go, tamper.go; search.go
//	              finds a world for each
//	many.go       a range of seeds, summed up; soak.go long runs that can be stopped; shrink.go failing
//	              worlds made small
//
// A world is reproduced by its seed alone: make sim SEED=n. With
// ARGS='-shrink' a failing one is made small first, ARGS='-plant NAME' puts a
// planted bug into it, and ARGS='-plant "none: RECIPE"' makes it one of a recipe's
// own.
//
// # How a recipe joins the simulation
//
// It brings one file of its name, mutex.go say, whose init appends a role:
//
//   - recipe and label: the chart's name, and what stands before the number of its
//     places. Faults, operators, the order of places and the search for nodes that
//     were left find them by the label.
//   - share, for recipes that queue in the directories that all share, or home, for
//     those that have a directory of their own (a label that another recipe uses as
//     well needs one).
//     Half of the worlds have one or two homes (Plan.Homes); in(home) shapes a
//     plant's worlds so that its home is lived in. keeps names what lasts there.
//   - apart, for a recipe that comes late: it has worlds of its own (TestSeparateWorlds),
//     and what is drawn for the others, their digests with it, stays as it was.
//   - rooms, where the nodes stand in directories below the home; beside, where
//     several may hold at once; lasts, where persistent nodes in them are programs'.
//   - abides, where a machine may outlast its session, so that it ends with the client;
//     brief, where its work takes no longer than half a tick.
//   - calls, where every call is a machine of its own: act begins one with u.begins,
//     and giveUp ends it. nothingOf asks, at the end of each, that nothing is left.
//   - named, where leadership is a node of a fixed name, told apart by versions; plain,
//     where names carry no GUID: nothing is written under such a term.
//   - spot: the node that ambushes and operators strike, where it does not carry the
//     handle's name as its data; owns: which of the nodes left there are its own.
//   - healed, tend and unsettled: what the program and an operator do once the faults
//     are over, and what is missing then to a settled world.
//   - options: what a handle is opened with, drawn by the dice that it is given.
//   - judge: of calls that write, which request is the write, and what must be so
//     when it is carried out and when it is told; writes.go asks the rest.
//   - public: where anybody may delete what stands in the home.
//   - data, keep: the door's part in what is the user's and reaches no machine.
//   - act and told: the program. act is called now and then with a number below
//     twelve; commands are sent with u.c.ask. told hears every notice: it begins work
//     with u.begin and has it return with u.stop.
//   - wakes: state by state, what can wake the machine there. A state that waits for
//     somebody and is left out is a wait for ever that nobody finds.
//   - sores: what strikes it more often than others, state by state: for rows that hardly
//     any world fires.
//   - rests: where it may stay in a healed world, nil for anywhere.
//   - plants: at least one bug for each thing that the recipe adds, with
//     mutate.Recipe where a guard or an action is to be wrong.
//
// Notices of leadership (events.Elected, Granted, Stopped) are checked already:
// checks.go asks that one believes at a time, that the leader is first in line and
// that its node is its own. A recipe that several may hold at once, or that promises
// something else, adds a field of its own to role, a method of checks in its file,
// and a call of it where users hear of notices (user.notice) or where the ensemble
// commits (checks.committed).
//
// Then: run TestWorlds -worlds 20000 (TestSeparateWorlds, where it is apart), which
// names every row of the chart that never fired, and make the dice kinder (state_faults.go) or, where no world can fire a row, say
// why in goals.go; make plants, because other dice find old bugs elsewhere; make
// golden, which writes the digests anew.
package sim
