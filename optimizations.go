package incumbent

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
}

// idleFor is for how many session timeouts after its last use, or its last connection, a
// client hears the leader.
const idleFor = 20
