package wire

import (
	"encoding/binary"
	"strconv"
)

// Numbers of ZooKeeper's protocol (ZooDefs.OpCode, release 3.8).
const (
	opSync       = 9
	opPing       = 11
	opSetWatches = 101
	opAuth       = 100
	opSASL       = 102
	opClose      = -11
	opReconnect  = 0 // the first frame of a connection, which has no number
)

// reads are the operations that a server answers without the ensemble.
var reads = map[int]bool{opPing: true, opSetWatches: true, opAuth: true, opSASL: true,
	3: true, 4: true, 8: true, 12: true}

// opNames are the names of operations in ZooDefs.OpCode.
var opNames = map[int]string{opReconnect: "connect", 1: "create", 2: "delete", 3: "exists", 4: "getData", 5: "setData",
	8: "getChildren", opSync: "sync", opPing: "ping",
	12: "getChildren2", 13: "check", 14: "multi", 15: "create2", 19: "createContainer", opAuth: "auth",
	opSetWatches: "setWatches", opClose: "closeSession", opSASL: "sasl"}

// what says what a frame is: the operation and the path of a request, or what a server sends.
func what(up bool, frame []byte, first bool) string {
	if up {
		op := opOf(frame, first)
		switch name := opNames[op]; {
		case name == "":
			return "to the server (operation " + strconv.Itoa(op) + ")"
		case op == opReconnect, op == opPing, op == 14, op == opAuth, op == opSASL, op == opSetWatches, op == opClose:
			return "to the server (" + name + ")"
		default:
			return "to the server (" + name + " " + stringAt(frame, 12) + ")"
		}
	}
	if first || len(frame) < 20 {
		return "to the client (the answer to connect)"
	}
	switch xid := int32(binary.BigEndian.Uint32(frame[4:])); xid {
	case -1:
		return "to the client (a watch of " + stringAt(frame, 28) + ")"
	case -2:
		return "to the client (the answer to a ping)"
	case -8:
		return "to the client (the answer to setWatches)"
	default:
		return "to the client (reply " + strconv.Itoa(int(xid)) + ")"
	}
}

// stringAt returns the string at an offset of a frame, "" if there is none.
func stringAt(frame []byte, at int) string {
	if len(frame) < at+4 {
		return ""
	}
	size := int(int32(binary.BigEndian.Uint32(frame[at:])))
	if size < 0 || len(frame) < at+4+size {
		return ""
	}
	return string(frame[at+4 : at+4+size])
}

// needsEnsemble reports whether a server that is cut off from its ensemble cannot answer.
func needsEnsemble(op int) bool { return !reads[op] }

// frames takes whole frames off the front of a buffer.
func frames(buf []byte) (whole [][]byte, rest []byte) {
	for len(buf) >= 4 {
		size := 4 + int(binary.BigEndian.Uint32(buf))
		if len(buf) < size {
			break
		}
		whole = append(whole, buf[:size:size])
		buf = buf[size:]
	}
	return whole, buf
}

// opOf returns what a frame of a client asks for. The first one of a connection is the handshake.
func opOf(frame []byte, first bool) int {
	if first || len(frame) < 12 {
		return opReconnect
	}
	return int(int32(binary.BigEndian.Uint32(frame[8:])))
}

// handshakeOf returns what a connect request claims: the last zxid seen, and the session.
func handshakeOf(frame []byte) (seen, session int64) {
	if len(frame) < 28 {
		return 0, 0
	}
	return int64(binary.BigEndian.Uint64(frame[8:])), int64(binary.BigEndian.Uint64(frame[20:]))
}

// sessionOf returns the session of a connect response; 0 says that it has expired.
func sessionOf(frame []byte) int64 {
	if len(frame) < 20 {
		return 0
	}
	return int64(binary.BigEndian.Uint64(frame[12:]))
}

// zxidOf returns the zxid of a reply, and whether the frame is one: a watch event or a ping's answer is none.
func zxidOf(frame []byte) (zxid int64, reply bool) {
	if len(frame) < 20 {
		return 0, false
	}
	xid := int32(binary.BigEndian.Uint32(frame[4:]))
	return int64(binary.BigEndian.Uint64(frame[8:])), xid > 0
}

// watchesOf returns the paths of a setWatches request.
func watchesOf(frame []byte) (paths []string) {
	b := frame[20:] // the length, the header and the zxid
	for range 3 {
		if len(b) < 4 {
			return paths
		}
		n := int32(binary.BigEndian.Uint32(b))
		b = b[4:]
		for range n {
			if len(b) < 4 {
				return paths
			}
			size := int(binary.BigEndian.Uint32(b))
			if len(b) < 4+size {
				return paths
			}
			paths = append(paths, string(b[4:4+size]))
			b = b[4+size:]
		}
	}
	return paths
}
