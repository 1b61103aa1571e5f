//go:build !js

package zkmem

// Keeper returns the options of a server that answers as ClickHouse Keeper does, as far as public
// reports and sources say: it closes the connection, without an answer, at requests for containers,
// nodes with a TTL and persistent watches; a client that reconnects gets a new session; and a
// handshake that an interceptor refuses is answered with protocol version 42 and session -1. What it
// answers if a write was not seen to be committed in time (OperationTimeout, ConnectionLoss) is for
// an interceptor: [Refuse] with that code. Its way to count cversion is not imitated.
func Keeper() Options {
	closes := Unknown{Close: true}
	return Options{
		NewSessionIDOnReattach: true,
		RefusalVersion:         42,
		Unknown: map[OpCode]Unknown{
			OpCreateContainer: closes, OpDeleteContainer: closes, OpCreateTTL: closes,
			OpAddWatch: closes, OpSetWatches2: closes, OpGetEphemerals: closes, OpCountDescendants: closes, OpWhoAmI: closes,
		},
	}
}
