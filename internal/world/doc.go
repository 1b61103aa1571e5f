// Package world is a simulated world for the product's own engine and machines: an
// ensemble of three voting ZooKeeper servers on zkmem's tree, perhaps with observers, connections, client processes,
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
//	              who leads, what a quorum is, and what each server has applied, is in package quorum
//	freeze.go     frozen servers, and how sessions are reported to the ensemble's leader
//	disk.go       slow disks; rollover.go zxids that run out; reconfig.go servers that leave and join;
//	              reaper.go containers
//	standstill.go what follows when a server was frozen: it is cut off, or was given up
//	layout.go     special ensembles: limits of session timeouts, other ticks than clients assume
//	nonvoting.go  observers and observer masters
//	conn.go       one TCP connection: delays, stalls, cuts; and one request on it
//	executor.go   what zkio promises; handshake.go (and the end of a connection), watches.go its parts
//	client.go     one process: the loop, its clock; client_effects.go a step's effects, users' data
//	server_faults.go faults of servers; client_faults.go pauses and other faults of processes, faults of connections
//	inspect.go    what can be asked about all of them
//	served.go     what keeps a client from being served; answers that refuse, or say nothing
//
// What is modelled of the servers: their roles, elections, what commits and what survives a leader, the
// order of messages, lags, isolation, standstills of any server, the reports of sessions, the
// expiry, and the negotiation of session timeouts. What is not: the exchange of votes, snapshots and
// their size, local sessions, and the links between single servers. An
// isolated observer master stays connected to its observers. Unless Layout.Phases is set, the leader's
// pings keep step with the ticks of the expiry, so that sessions last half a tick longer than they have to.
//
// Not modelled of these: a slow disk delays the acknowledgement of a proposal and an election,
// but no snapshot, and a reconfiguration commits by the quorum before it alone. A fourth
// server never joins. No epoch is above 0x7fffffff: ZooKeeper compares zxids as signed
// numbers, so its own elections would fail first.
//
// A World is not safe for concurrent use.
package world
