package incumbent

import "github.com/incumbent-go/incumbent/internal/optimizations"

// Optimizations are ways of working that make the library faster and change nothing else. All
// are on by default. A true field of Config.Disable turns one off, to find out whether it is
// the cause of a fault.
type Optimizations struct {
	// OwnFrames: this library encodes the requests, and one goroutine for each connection
	// sends all that wait with one write. Without it go-zookeeper encodes and writes each
	// request, and each client keeps a buffer of MaxRequest bytes.
	OwnFrames bool
	// IdleSyncs: a client in which nothing leads, is next in line or writes sends a sync, two
	// small packets, four times in each session timeout. It does so for twenty session timeouts
	// after it was needed last. A term that begins in that time begins immediately. Without
	// IdleSyncs, and later, the term begins a tick later: 3 s, or Config.Tick.
	IdleSyncs bool
	// OneFlight: a participant whose node name has a GUID sends the listing of the line right
	// behind the create of its own node. It leads if it is first there, and then reads the node.
	// So a term, or a hold, begins one round trip earlier. A client does so once it has read a
	// node of its own in the same directory, because then it may read there.
	OneFlight bool
	// RecursiveWatches: a TreeCache of a whole tree sets one watch that lasts, and that reports
	// what happens to all nodes. Without it, and where a server knows no such watch (before
	// ZooKeeper 3.6), each node has two watches of its own. TreeCache says what differs for
	// nodes that the client may not read. OwnFrames turned off turns this off, too.
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
