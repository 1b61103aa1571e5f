package incumbent

// Optimizations are ways of working that make the library faster and change nothing else. In
// Config.Disable a true field turns one off, to find out whether it is the cause of a fault.
type Optimizations struct {
	// OwnFrames: requests are encoded by this library, and one goroutine for each connection
	// writes all that waits with one write. Without it go-zookeeper encodes and writes each
	// request, and each client keeps a buffer of MaxRequest.
	OwnFrames bool
}
