//go:build !js

package zkmem

import "errors"

var errFrameLength = errors.New("zkmem: frame length out of bounds")

// request is a decoded request. bad reports that its body could not be decoded.
type request struct {
	xid   int32
	op    Op
	watch bool
	kind  WatchKind // removeWatches and checkWatches; 3 is any
	mode  WatchMode // addWatch
	since int64     // setWatches: the last zxid that the client has seen
	data  []string  // setWatches
	exist []string  // setWatches
	child []string  // setWatches
	stay  []string  // setWatches2: persistent watches
	deep  []string  // setWatches2: recursive watches
	auth  Auth      // auth: the scheme and what the client sends
	token string    // sasl
	bad   bool
	spare bool // it is bad, and uses up no zxid

	change change // reconfig
}

// decodeRequest reads a request as a release does. It returns false if not even the header is complete.
func decodeRequest(frame []byte, release Release) (request, bool) {
	d := &decoder{buf: frame}
	r := request{xid: d.int32()}
	r.op.Code = OpCode(d.int32())
	if d.bad {
		return request{}, false
	}
	r.body(d, release)
	r.bad = d.bad || d.null
	r.spare = r.usesNoZxid(d, release)
	return r, true
}

// usesNoZxid reports whether a real server refuses the request before it takes a zxid for it.
func (r *request) usesNoZxid(d *decoder, release Release) bool {
	switch {
	case release == Release38:
		return false
	case r.op.Code == OpMulti:
		return r.spare
	case r.op.Code == OpDeleteContainer:
		return r.bad
	}
	return d.bad
}

func (r *request) body(d *decoder, release Release) {
	switch r.op.Code {
	case OpExists, OpGetData, OpGetChildren, OpGetChildren2:
		r.op.Path, r.watch = d.text(), d.bool()
	case OpGetACL, OpSync, OpGetEphemerals, OpCountDescendants:
		r.op.Path = d.text()
	case OpCheckWatches:
		if release == Release38 {
			r.op.Path, r.kind = d.text(), WatchKind(d.int32())
			return
		}
		r.op.Path, r.kind = d.textOr(""), WatchKind(d.int32())
	case OpRemoveWatches:
		r.op.Path, r.kind = d.textOr(""), WatchKind(d.int32())
	case OpSetWatches:
		r.since, r.data, r.exist, r.child = d.int64(), d.texts(), d.texts(), d.texts()
	case OpSetWatches2:
		r.since, r.data, r.exist, r.child = d.int64(), d.texts(), d.texts(), d.texts()
		r.stay, r.deep = d.texts(), d.texts()
	case OpAddWatch:
		r.op.Path, r.mode = d.textOr(""), WatchMode(d.int32())
	case OpSASL:
		r.token = d.text()
	case OpAuth:
		d.int32()
		r.auth = Auth{Scheme: d.textOr(""), ID: d.textOr(nullID)}
	case OpCreateSession:
		d.int32()
	case OpReconfig:
		r.change = change{joining: d.textOr(nullID), leaving: d.textOr(nullID), members: d.textOr(nullID),
			version: d.int64()}
	case OpMulti, OpMultiRead:
		if r.op.Ops, r.spare = decodeMulti(d, r.op.Code == OpMultiRead, release); r.spare {
			d.bad = true
		}
		if len(r.op.Ops) > 0 {
			r.op.Path = r.op.Ops[0].Path
		}
	default:
		decodeWrite(&r.op, d)
	}
}

// decodeWrite reads the body of an operation that may be part of a multi, or of setACL.
func decodeWrite(op *Op, d *decoder) {
	switch op.Code {
	case OpCreate, OpCreate2, OpCreateContainer, OpCreateTTL:
		op.Path, op.Data, op.ACL, op.Mode = d.text(), d.bytes(), d.acls(), Mode(d.int32())
		if op.Code == OpCreateTTL {
			op.TTL = d.int64()
		}
	case OpDelete, OpCheck:
		op.Path, op.Version = d.text(), d.int32()
	case OpDeleteContainer:
		op.Path = d.text()
	case OpSetData:
		op.Path, op.Data, op.Version = d.text(), d.bytes(), d.int32()
	case OpSetACL:
		op.Path, op.ACL, op.Version = d.text(), d.acls(), d.int32()
	}
}

// decodeMulti reads operations that are all writes, or all reads. The watch flag of a read counts for nothing there.
// spare reports that it stopped at an operation which a real server of 3.9 fails to make, although it could read it.
func decodeMulti(d *decoder, reads bool, release Release) (ops []Op, spare bool) {
	for !d.bad {
		op := Op{Code: OpCode(d.int32())}
		done := d.bool()
		d.int32() // an error code, unused in requests
		if done || d.bad {
			return ops, false
		}
		switch op.Code {
		case OpGetData, OpGetChildren:
			op.Path = d.text()
			d.bool()
			d.bad = d.bad || !reads
		case OpCreate, OpCreate2, OpCreateContainer:
			decodeWrite(&op, d)
			d.bad = d.bad || reads || release != Release38 && (op.Mode < Persistent || op.Mode > SequentialTTL)
			if !d.bad && release != Release38 && (op.ACL == nil || timed(op)) {
				return ops, true
			}
			op.Code = createdInMulti(op, release)
		case OpCreateTTL, OpDelete, OpSetData, OpCheck:
			decodeWrite(&op, d)
			d.bad = d.bad || reads
		default:
			d.bad = true
		}
		ops = append(ops, op)
	}
	return ops, false
}

// createdInMulti returns the real operation of a create within a multi. There the mode decides; on 3.9 it decides only
// about containers.
func createdInMulti(op Op, release Release) OpCode {
	switch {
	case op.Mode == modeContainer:
		return OpCreateContainer
	case release == Release38:
		return OpCreate
	}
	return op.Code
}

// encodeResult appends the body of the reply to a write.
func encodeResult(e *encoder, r Result) {
	switch r.Code {
	case OpCreate:
		e.text(r.Path)
	case OpCreate2, OpCreateContainer, OpCreateTTL:
		e.text(r.Path)
		e.stat(r.Stat)
	case OpSetData, OpSetACL:
		e.stat(r.Stat)
	case OpMulti:
		for _, one := range r.Results {
			e.multiHeader(resultCode(one.Code), false, one.Err)
			if one.Code == OpError {
				e.int32(int32(one.Err))
			} else {
				encodeResult(e, one)
			}
		}
		e.multiHeader(OpError, true, -1)
	}
}

// multiHeader begins an operation of a multi, or ends it.
func (e *encoder) multiHeader(op OpCode, done bool, code Code) {
	e.int32(int32(op))
	e.bool(done)
	e.int32(int32(code))
}

// resultCode returns the name of an operation in a multi's reply: a container has the code of create2.
func resultCode(op OpCode) OpCode {
	if op == OpCreateContainer {
		return OpCreate2
	}
	return op
}

// handshake is a client's first frame.
type handshake struct {
	seen     int64
	timeout  int32
	session  int64
	password []byte
	readOnly bool // the client would accept a read-only server
	modern   bool // the client sent that flag, and expects one back
	keeper   bool // ClickHouse Keeper answers: without the flag, and with an empty password
}

func decodeHandshake(frame []byte) (handshake, bool) {
	d := &decoder{buf: frame}
	d.int32() // protocol version
	h := handshake{seen: d.int64(), timeout: d.int32(), session: d.int64(), password: d.bytes()}
	if d.bad {
		return handshake{}, false
	}
	if len(d.buf) > 0 {
		h.readOnly, h.modern = d.bool(), true
	}
	return h, true
}

func (h handshake) reply(timeout int32, session int64, password []byte, readOnly bool) []byte {
	if h.keeper {
		password = make([]byte, len(password))
	}
	e := newFrame()
	e.int32(0)
	e.int32(timeout)
	e.int64(session)
	e.bytes(password)
	if h.modern && !h.keeper {
		e.bool(readOnly)
	}
	return e.frame()
}
