package doctor

import (
	"encoding/binary"
	"errors"
)

// Operations of ZooKeeper's protocol that the doctor asks for.
const (
	opCreate          = 1
	opDelete          = 2
	opExists          = 3
	opGetData         = 4
	opSetData         = 5
	opGetACL          = 6
	opSync            = 9
	opGetChildren2    = 12
	opCheck           = 13
	opMulti           = 14
	opCreateContainer = 19
	opCreateTTL       = 21
	opSASL            = 102
	opAddWatch        = 106
	opClose           = -11
)

// Numbers of messages that are no requests.
const (
	xidWatch = -1
	xidAuth  = -4
)

// resultError is the type of an operation's result in the answer to a multi that failed.
const resultError = -1

// Codes of answers.
const (
	codeOK            = 0
	codeUnimplemented = -6
	codeNoNode        = -101
	codeNoAuth        = -102
	codeAuthFailed    = -115
	codeRequiresAuth  = -124
)

// frame is a message that is being written.
type frame struct{ b []byte }

func newFrame() *frame { return &frame{make([]byte, 4, 64)} }

func requestFrame(xid, op int32) *frame { return newFrame().int32(xid).int32(op) }

// root names the root, and asks for no watch.
func root(f *frame) { f.string("/").bool(false) }

func (f *frame) int32(v int32) *frame {
	f.b = binary.BigEndian.AppendUint32(f.b, uint32(v))
	return f
}

func (f *frame) int64(v int64) *frame {
	f.b = binary.BigEndian.AppendUint64(f.b, uint64(v))
	return f
}

func (f *frame) bool(v bool) *frame {
	b := byte(0)
	if v {
		b = 1
	}
	f.b = append(f.b, b)
	return f
}

func (f *frame) bytes(v []byte) *frame {
	f.int32(int32(len(v)))
	f.b = append(f.b, v...)
	return f
}

func (f *frame) string(v string) *frame { return f.bytes([]byte(v)) }

// header begins an operation of a multi, or ends the multi.
func (f *frame) header(op int32, last bool) *frame { return f.int32(op).bool(last).int32(-1) }

// finish writes the length before the message.
func (f *frame) finish() []byte {
	binary.BigEndian.PutUint32(f.b, uint32(len(f.b)-4))
	return f.b
}

var errMalformed = errors.New("the answer is not one of ZooKeeper's protocol")

// body is an answer that is being read. Bad is set once there are too few bytes; what is read then is zero.
type body struct {
	rest []byte
	bad  bool
}

func (b *body) take(n int) []byte {
	if b.bad || n < 0 || n > len(b.rest) {
		b.bad = true
		return nil
	}
	part := b.rest[:n]
	b.rest = b.rest[n:]
	return part
}

func (b *body) int32() int32 {
	if v := b.take(4); v != nil {
		return int32(binary.BigEndian.Uint32(v))
	}
	return 0
}

func (b *body) int64() int64 {
	if v := b.take(8); v != nil {
		return int64(binary.BigEndian.Uint64(v))
	}
	return 0
}

// bytes reads a buffer, which may be null.
func (b *body) bytes() []byte {
	n := b.int32()
	if n == -1 {
		return nil
	}
	return b.take(int(n))
}

func (b *body) string() string { return string(b.bytes()) }

// count reads how many elements follow, each of which takes at least so many bytes.
func (b *body) count(least int) int {
	n := int(b.int32())
	if n < 0 || n > len(b.rest)/least {
		b.bad = b.bad || n != -1
		return 0
	}
	return n
}

// stat is a node's Stat.
type stat struct {
	czxid, mzxid, ctime, mtime int64
	version, cversion          int32
	owner                      int64
	bytes, children            int32
}

func (b *body) stat() stat {
	s := stat{czxid: b.int64(), mzxid: b.int64(), ctime: b.int64(), mtime: b.int64(), version: b.int32(),
		cversion: b.int32()}
	b.int32() // aversion
	s.owner, s.bytes, s.children = b.int64(), b.int32(), b.int32()
	b.int64() // pzxid
	return s
}

// entry is one entry of an access list.
type entry struct {
	perms      int32
	scheme, id string
}

func (b *body) entries() (all []entry) {
	for range b.count(12) {
		all = append(all, entry{b.int32(), b.string(), b.string()})
	}
	return all
}
