package incumbent

import "github.com/incumbent-go/incumbent/internal/optimizations"

// Optimizations are ways of working that make the library faster and change nothing else. In
// Config.Disable a true field turns one off, to find out whether it is the cause of a fault.
type Optimizations struct {
	// OwnFrames: requests are encoded by this library, and one goroutine for each connection
	// writes all that waits with one write. Without it go-zookeeper encodes and writes each
	// request, and each client keeps a buffer of MaxRequest.
	OwnFrames bool
	// IdleSyncs: a client that nobody needs goes on to hear the ensemble's leader for twenty
	// session timeouts, by a sync of two small packets four times in each. So a term that
	// begins within that time begins at once. Without them, and later, it waits for a tick.
	IdleSyncs bool
	// OneFlight: a participant whose name has a GUID lists the line right behind the create of
	// its own node, leads if it is first there, and then reads the node. So a term, or a hold,
	// begins one round trip earlier. It is done once the client has read back a node of its own
	// in the same directory, with the right to do so.
	OneFlight bool
	// RecursiveWatches: a TreeCache of a whole tree sets one watch that lasts, and that reports
	// what happens to all nodes. Without it, and where a server knows no such watch (before
	// ZooKeeper 3.6), each node has two watches of its own. TreeCache says what differs for
	// nodes that the client may not read. Without OwnFrames there are none either.
	RecursiveWatches bool
}

// oneFlight reports whether participants may enrol in one flight.
func (c Config) oneFlight() bool {
	return !c.Disable.OneFlight && !optimizations.Off(optimizations.OneFlight)
}

// recursiveWatches reports whether tree caches may use a recursive watch.
func (c Config) recursiveWatches() bool {
	return !c.Disable.RecursiveWatches && !optimizations.Off(optimizations.RecursiveWatches)
}

// idleFor is for how many session timeouts after its last use, or its last connection, a
// client hears the leader.
const idleFor = 20
