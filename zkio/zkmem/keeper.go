//go:build !js

package zkmem

import "time"

// Keeper returns the options of a server that answers as ClickHouse Keeper does, by its public sources and not by a
// live one. It has the operations of the releases before Keeper knew containers, nodes with a TTL and persistent
// watches; remove them from Unknown for a newer one. What differs from ZooKeeper:
//
//   - An operation that it does not know, alone or in a multi, ends the connection without an answer.
//   - A client that reconnects gets a new session. The old one times out. The last zxid that a client has seen counts
//     for nothing.
//   - The answer to a handshake is 36 bytes long: it has no flag for a read-only server, and its password is empty. A
//     server without a leader answers with protocol version 42 and session -1.
//   - The end of a session has no answer: the connection is closed.
//   - Cversion also counts the writes of children's data, and a deletion leaves Pzxid as it is.
//   - Session timeouts are from 10 to 100 s, and a session ends within half a second after its timeout.
//
// A Keeper whose leader is gone, or does not commit in time, answers ConnectionLoss (-4) or OperationTimeout (-7) with
// zxid 0, and may carry the write out later. For that an interceptor returns [Refuse] with the code. Its access lists,
// which leave out unknown schemes, are not imitated.
func Keeper() Options {
	o := Options{
		Keeper: true, NewSessionIDOnReattach: true, RefusalVersion: 42, Unknown: map[OpCode]Unknown{},
		Tick: 500 * time.Millisecond, MinSessionTimeout: 10 * time.Second, MaxSessionTimeout: 100 * time.Second,
	}
	for _, op := range []OpCode{
		OpCreate2, OpCreateContainer, OpDeleteContainer, OpCreateTTL, OpCheckWatches, OpRemoveWatches,
		OpSetWatches, OpSetWatches2,
		OpAddWatch, OpGetEphemerals, OpCountDescendants, OpWhoAmI, OpSASL,
	} {
		o.Unknown[op] = Unknown{Close: true}
	}
	return o
}

// asKeeper takes an answer away that Keeper does not give: to an operation that it does not know, and to the end of a
// session.
func (a *answer) asKeeper(op OpCode) {
	a.none = a.none || op == OpCloseSession || a.code == Unimplemented && a.last
}

// refusalZxid returns the zxid in an answer that an interceptor chose.
func (s *Server) refusalZxid(op OpCode) int64 {
	if s.opts.Keeper || op == OpAuth || op == OpSASL {
		return 0
	}
	return s.tree.Zxid()
}
