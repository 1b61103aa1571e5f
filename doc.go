// Package incumbent elects leaders on ZooKeeper, deterministically: one
// goroutine for each client feeds replies, watches, connection events and timers
// into explicit state machines, so state changes never race; everything that
// happens can be recorded and replayed; every machine is drawn from the table
// that runs.
//
// These are the types to know:
//
//   - Client is one connection to an ensemble: Open, WaitConnected, Close.
//   - Latch waits in line until it leads, and leads until it is closed or loses
//     leadership. Curator's LeaderLatch.
//   - Selector runs a function while it leads, and gives leadership up when the
//     function returns. Curator's LeaderSelector.
//   - Election is a latch on plain names, "n_0000000007": the election of
//     ZooKeeper's recipes page, beside what others have written by hand.
//   - PersistentNode keeps an ephemeral node over sessions; Membership is one in a
//     group. Barrier, Gate and DoubleBarrier hold processes back. Client.Watch and Client.WatchMembers are change feeds.
//   - Client.Create, Get, Set, Exists, Children, Delete, Multi and Sync are
//     ZooKeeper's own operations, over the same session. Client.WatchNode and
//     Client.WatchChildren are feeds of one node; a TreeCache keeps a whole tree
//     in memory; a Deletion is a node that has to go.
//     SharedCount and AtomicLong are numbers in a node.
//   - Leadership is what either gives to the work: a context that ends with the
//     term, a token for stores, a check, a guarded write.
//
// # What is promised
//
// A participant believes that it leads only while its own node, owned by its own
// session, is first in line, and a request that the ensemble's quorum or leader
// processed was confirmed recently: Leadership.ValidUntil says until when. A
// follower that was cut off, or a deposed leader that goes on answering, cannot
// prolong belief. No term begins before the work of the last one has returned.
//
// # What is not
//
// A process that is paused believes for as long as it is paused: no library can
// help that. Hand Leadership.Token to every store that the work writes to, or
// write with Leadership.Write. Kerberos (SASL) is not supported.
//
// # Mistakes
//
// An option below zero is an error, which names it, unless the option says what below
// zero means. A nil context, a handle that no client made and a nil function to call
// are mistakes of the program: the call panics, and says which call it was and what to
// do. It is an error where something is made: Open with a nil context, a Selector or a
// Consumer with a nil function.
//
// # What it is not
//
// Not a ZooKeeper client library (go-zookeeper/zk is underneath), and not a lock
// service for many short critical sections.
package incumbent
