// Package world is a simulated world for the product's own engine and machines: an
// ensemble of three ZooKeeper servers on zkmem's tree, connections, client processes,
// and one virtual clock. A World is a function of its Script and its Observer: the same
// two give the same records, byte for byte. It starts no goroutine, reads no clock and
// has no state outside a World.
//
// This package is for the simulation and for tools, not for programs that elect a
// leader: it may change in any release, and no embedding program links it.
//
//	world.go      the heap of events; dice.go the dice
//	script.go     what a world is made of; action.go what is done to it; program.go what its clients run
//	observer.go   where checks, programs and planted bugs hook in
//	ensemble.go   the ensemble's leader, its proposals, elections; server.go, serve.go, tracker.go one server
//	freeze.go     frozen servers, and how sessions are reported to the ensemble's leader
//	conn.go       one TCP connection: delays, stalls, cuts; packet.go one request on it
//	executor.go   what zkio promises; handshake.go, watch_table.go, payloads.go its parts
//	client.go     one process: the loop, pauses, its clock; client_effects.go a step's effects
//	server_faults.go faults of servers; client_faults.go faults of processes and connections
//	inspect.go    what can be asked about all of them
//	served.go     what keeps a client from being served
//
// A World is not safe for concurrent use.
package world
