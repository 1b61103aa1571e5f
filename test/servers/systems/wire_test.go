package systems

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/incumbent-go/incumbent/internal/jute"
)

// opcode is the number of an operation on the wire.
type opcode int32

// The operations that the package handles by themselves.
const (
	opPing         opcode = 11
	opMulti        opcode = 14
	opMultiRead    opcode = 22
	opSetWatches   opcode = 101
	opSetWatches2  opcode = 105
	opCloseSession opcode = -11
	opConnect      opcode = -1000 // our own number for the handshake, which has none
)

var opcodes = map[opcode]string{
	1: "create", 2: "delete", 3: "exists", 4: "getData", 5: "setData", 6: "getACL", 7: "setACL", 8: "getChildren",
	9: "sync", opPing: "ping", 12: "getChildren2", 13: "check", opMulti: "multi", 15: "create2", 16: "reconfig",
	17: "checkWatches", 18: "removeWatches", 19: "createContainer", 20: "deleteContainer", 21: "createTTL",
	opMultiRead: "multiRead", 100: "auth", opSetWatches: "setWatches", 102: "sasl", 103: "getEphemerals",
	104: "getAllChildrenNumber", opSetWatches2: "setWatches2", 106: "addWatch", 107: "whoAmI",
	opCloseSession: "closeSession", opConnect: "connect",
}

func (o opcode) String() string {
	if name := opcodes[o]; name != "" {
		return name
	}
	return fmt.Sprintf("operation %d", int32(o))
}

// Answers that are no codes of ZooKeeper.
const (
	noAnswer       = 1    // the server closed the connection instead
	sessionExpired = -112 // a handshake's answer is a timeout of 0
)

const maxFrame = 64 << 20

var errFrame = errors.New("a frame's length is out of bounds")

// readFrame reads a frame, and returns it with its length.
func readFrame(r io.Reader) ([]byte, error) {
	frame := make([]byte, jute.LengthSize)
	if _, err := io.ReadFull(r, frame); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(frame)
	if n > maxFrame {
		return nil, errFrame
	}
	frame = append(frame, make([]byte, n)...)
	_, err := io.ReadFull(r, frame[jute.LengthSize:])
	return frame, err
}

const statBytes = 68

// request is what the tap keeps of a request until its answer comes.
type request struct {
	xid   int32
	op    opcode
	parts []opcode // of a multi
}

func decodeRequest(frame []byte) request {
	d := &jute.Decoder{Rest: frame}
	r := request{xid: d.Int32(), op: opcode(d.Int32())}
	if r.op != opMulti && r.op != opMultiRead {
		return r
	}
	for !d.Bad {
		op, done := opcode(d.Int32()), d.Bool()
		d.Int32()
		if done || d.Bad {
			break
		}
		r.parts = append(r.parts, op)
		skipPart(d, op)
	}
	return r
}

// skipPart skips an operation of a multi.
func skipPart(d *jute.Decoder, op opcode) {
	d.Bytes() // the path
	switch op.String() {
	case "create", "create2", "createContainer", "createTTL":
		d.Bytes()
		for range d.Count(12) { // the access list
			d.Int32()
			d.Bytes()
			d.Bytes()
		}
		d.Int32()
		if op.String() == "createTTL" {
			d.Int64()
		}
	case "delete", "check":
		d.Int32()
	case "setData":
		d.Bytes()
		d.Int32()
	case "getData", "getChildren":
		d.Bool()
	}
}

// reply is the answer to a request.
type reply struct {
	xid  int32
	code int32
}

func decodeReply(frame []byte) (r reply, rest *jute.Decoder) {
	d := &jute.Decoder{Rest: frame}
	r.xid = d.Int32()
	d.Int64()
	r.code = d.Int32()
	return r, d
}

// decodeParts reads the results of a multi.
func decodeParts(d *jute.Decoder) (codes []int32) {
	for !d.Bad && len(d.Rest) > 0 {
		op, done, code := opcode(d.Int32()), d.Bool(), d.Int32()
		if done || d.Bad {
			break
		}
		if op == -1 { // an error
			code = d.Int32()
		} else {
			skipResult(d, op)
		}
		codes = append(codes, code)
	}
	return codes
}

// skipResult skips the result of an operation that was done.
func skipResult(d *jute.Decoder, op opcode) {
	switch op.String() {
	case "create":
		d.Bytes()
	case "create2", "createContainer", "createTTL", "getData":
		d.Bytes()
		d.Take(statBytes)
	case "setData":
		d.Take(statBytes)
	case "getChildren":
		d.Texts()
	}
}

// greeting is what a tap keeps of a server's answer to a handshake.
type greeting struct {
	session  int64 // 0 if the server has refused
	password []byte
}

func decodeGreeting(frame []byte) greeting {
	d := &jute.Decoder{Rest: frame}
	d.Int32()
	if timeout := d.Int32(); timeout <= 0 {
		return greeting{}
	}
	return greeting{d.Int64(), d.Bytes()}
}
