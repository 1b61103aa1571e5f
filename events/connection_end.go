package events

// ConnectionEnd is why a connection ended, or an attempt to connect failed: a code that programs
// compare. Event.Text has it in words.
type ConnectionEnd string

// Why connections end.
const (
	ConnectionEndClosed ConnectionEnd = "closed" // the server closed it
	ConnectionEndSilent ConnectionEnd = "silent" // nothing came for too long, in the handshake too
	// the server sent frames, but no answer to a request or a ping
	ConnectionEndUnanswered ConnectionEnd = "unanswered"
	ConnectionEndOwnPause   ConnectionEnd = "own-pause" // this process did not run for too long
	ConnectionEndProtocol   ConnectionEnd = "protocol"  // what came is not ZooKeeper's protocol
	// the server closed it in the handshake, is read-only, or lags behind what this session has seen
	ConnectionEndNotServing ConnectionEnd = "not-serving"
	ConnectionEndRefused    ConnectionEnd = "refused" // the ensemble refused the handshake, or a login is missing
	ConnectionEndSession    ConnectionEnd = "session" // this side ended it, together with its session
	ConnectionEndNetwork    ConnectionEnd = "network" // an error of the network: of a dial, a read, a write or TLS
)
