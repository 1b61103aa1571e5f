// Package sim runs the product's own engine and machines through seeded worlds
// that no test would think of: several clients, a modelled ensemble of three
// servers on zkmem's tree, faults of every kind, and one virtual clock.
//
//	world.go      the event heap and the dice: one seed, one order of events
//	plan.go       what a seed makes of a world: clients, timeouts, faults and their rates
//	ensemble.go   the leader, its proposals, elections; server.go, serve.go, tracker.go one server
//	wire.go       one TCP connection: delays, stalls, cuts
//	executor.go   zkio's guarantees and freedoms; handshake.go, calls.go, mirror.go its parts
//	client.go     one process: the loop, pauses, its clock; user.go what its program does
//	faults.go     what goes wrong; operator.go what people do to the nodes
//	checks.go     the invariants, held against the ensemble's committed history
//	phases.go     two phases: faults for safety, then healing and the demand for progress
//	coverage.go   every row and every fault must have fired in a long run
//	plants.go     bugs planted on purpose: the harness must be able to fail
//
// A world is reproduced by its seed alone: make sim SEED=n.
package sim
