// Package wire plays seeded worlds with the real door, the real event loop and the real zkio. The simulation (package
// sim) models these three; here they run, against zkmem, over a network in memory, in virtual time.
//
//	go test ./test/worlds/wire         worlds, and some of the planted bugs
//	make wire SEED=7            one world: its story
//	make wire-plants            search for a world that finds each planted bug
//
// # A world
//
// Two or three clients have a latch in one line, a mutex, a persistent node, feeds of nodes and of children, a queue, a
// number, single requests, and sometimes more requests at once than may be pending. In some worlds the mutex is plain,
// or programs without this library share it, with names as go-zookeeper and its forks make them. In the storm, faults
// happen. In some worlds the clients are instances of a job, too (job.go): they deal its items and run them. In others
// they are in an election on one node, with fencing and guarded writes (nodeelection.go). In the
// calm that follows somebody has to lead, and each client has to show what the ensemble has. Then each connection is
// cut once more, and the clients close while somebody still asks. Nothing may be left.
//
// # Faults
//
// The network knows frames. The dice of (seed, client, connection, direction, number of the frame) say whether a frame
// passes, waits (for up to more than a session timeout), or ends its connection: before it, in the middle of it, after
// it. Each side notices that at a time of its own, so a server may have an old connection of a session and a new one,
// and frames of the old one may still arrive. Dials are refused, slow, or never answered. Servers are cut off from the
// ensemble: they answer reads and pings, and no writes. Clients are cut off from all servers. Some writes are
// answered by codes that say nothing about them, and carried out, or not, or later: see codes.go. An operator deletes
// places and watched directories, ends sessions, restarts the server. Loops and whole processes stand still. Some
// servers are too old for containers. In further worlds the server demands a login by SASL, and refuses some.
//
// One zkmem is behind three addresses. Sessions end as an ensemble's leader ends them, which knows of them only by the
// reports of servers that reach it: see reports.go.
//
// # What is checked
//
// By what the library tells its users, against what the server carried out (truth.go) and what the network saw
// (sightings.go): belief only within the life of the own node, one believer, tokens that grow, listeners in exact
// pairs, every call returns, a write is sent at most once and carried out if it was answered, nothing crosses sessions,
// an item is put once, an item of a job runs at one instance at a time and only the leader deals, a shard has one owner
// and moves after its work, feeds that show each change, no watch of a closed machine is armed again, somebody leads.
// Where clients record logs: the log replays, SentAt and Contact are true, lost replies come in order, a heartbeat
// waits for no other request. A goroutine that is left is a deadlock of the bubble.
//
// # What a seed determines
//
// The plan of the world, each throw of the dice, and the seeds of the machines. The order of goroutines that run at one
// instant is not determined. Delays are drawn to the nanosecond, so few instants are shared, but one step of a loop
// sends several frames. After such a race a connection has its frames in another order, they get other throws, and the
// rest of the story differs: two runs of a seed seldom tell the same one. A bug that the plan makes likely is found in
// both; one that needs a rare order may need -test.count=20.
//
// # What is not modelled
//
// Servers with different states: reads are as old as the network makes them, no older. The pause of an ensemble's
// leader, a wipe, a restore, TLS, credentials and more than one session timeout in a world. The simulation has those.
//
// # Planted bugs
//
// A plant is an edit of the product's own source, made by go test -overlay. testdata/plants.tsv has a world for each.
package wire
