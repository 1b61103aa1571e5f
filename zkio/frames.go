package zkio

import (
	"encoding/binary"
	"time"
)

// Operation codes and reserved request numbers (xids) of ZooKeeper's protocol.
const (
	opSync       int32 = 9
	opPing       int32 = 11
	opAuth       int32 = 100
	opSASL       int32 = 102
	opSetWatches int32 = 101
	opClose      int32 = -11

	xidWatchEvent int32 = -1
	xidPing       int32 = -2
	xidAuth       int32 = -4
	xidSetWatches int32 = -8
	xidNone       int32 = -1000 // of no request
)

const (
	lengthSize = 4  // every frame begins with its length
	headerSize = 16 // of an answer: xid, zxid, code
)

// answer is one frame from the server, after the handshake.
type answer struct {
	xid      int32
	zxid     int64
	code     int32
	body     body
	tooLarge bool // the body was above the limit and was skipped
}

func parseAnswer(header []byte) answer {
	return answer{
		xid:  int32(binary.BigEndian.Uint32(header)),
		zxid: int64(binary.BigEndian.Uint64(header[4:])),
		code: int32(binary.BigEndian.Uint32(header[12:])),
	}
}

// stub is what zk.Conn gets of an answer: that it came. The zxid is zero (zk.Conn stores it
// without a lock) and the code is an error, so that it does not decode the body, which it
// does not get.
func stub(xid int32) []byte {
	b := make([]byte, 0, lengthSize+headerSize)
	b = binary.BigEndian.AppendUint32(b, headerSize)
	b = binary.BigEndian.AppendUint32(b, uint32(xid))
	b = binary.BigEndian.AppendUint64(b, 0)
	code := int32(-1)
	if xid == xidPing {
		code = 0
	}
	return binary.BigEndian.AppendUint32(b, uint32(code))
}

// body reads ZooKeeper's encoding from the front. If a length does not fit, bad is set, and
// all further reads return zero.
type body struct {
	rest []byte
	bad  bool
}

func (b *body) take(n int) []byte {
	if b.bad || n < 0 || n > len(b.rest) {
		b.bad = true
		return nil
	}
	taken := b.rest[:n]
	b.rest = b.rest[n:]
	return taken
}

func (b *body) int32() int32 {
	if raw := b.take(4); raw != nil {
		return int32(binary.BigEndian.Uint32(raw))
	}
	return 0
}

func (b *body) int64() int64 {
	if raw := b.take(8); raw != nil {
		return int64(binary.BigEndian.Uint64(raw))
	}
	return 0
}

func (b *body) bool() bool {
	raw := b.take(1)
	return raw != nil && raw[0] != 0
}

// bytes returns a copy; nil is ZooKeeper's null.
func (b *body) bytes() []byte {
	n := b.int32()
	if n == -1 || b.bad {
		return nil
	}
	return append([]byte{}, b.take(int(n))...)
}

// string reads null as the empty string.
func (b *body) string() string { return string(b.take(max(int(b.int32()), 0))) }

func (b *body) strings() []string {
	n := int(b.int32())
	if n == -1 {
		return nil
	}
	if n < 0 || n > len(b.rest)/4 { // each takes at least four bytes
		b.bad = true
		return nil
	}
	list := make([]string, n)
	for i := range list {
		list[i] = b.string()
	}
	return list
}

func (b *body) stat() *Stat {
	return &Stat{
		Czxid: b.int64(), Mzxid: b.int64(), Ctime: b.time(), Mtime: b.time(),
		Version: b.int32(), Cversion: b.int32(), Aversion: b.int32(),
		EphemeralOwner: b.int64(), DataLength: b.int32(), NumChildren: b.int32(), Pzxid: b.int64(),
	}
}

func (b *body) time() time.Time { return time.UnixMilli(b.int64()).UTC() }

// frame encodes requests.
type frame []byte

func newFrame(xid, op int32) frame {
	return make(frame, lengthSize, 128).int32(xid).int32(op)
}

func (f frame) int32(v int32) frame { return binary.BigEndian.AppendUint32(f, uint32(v)) }
func (f frame) int64(v int64) frame { return binary.BigEndian.AppendUint64(f, uint64(v)) }

func (f frame) string(v string) frame { return append(f.int32(int32(len(v))), v...) }

func (f frame) bool(v bool) frame {
	if v {
		return append(f, 1)
	}
	return append(f, 0)
}

// bytes encodes data; nil has length 0, and is not ZooKeeper's null. Curator writes length 0 as well, and programs in
// Java take a node's data for an object without a look.
func (f frame) bytes(v []byte) frame { return append(f.int32(int32(len(v))), v...) }

func (f frame) strings(list []string) frame {
	f = f.int32(int32(len(list)))
	for _, s := range list {
		f = f.bytes([]byte(s))
	}
	return f
}

// finish sets the length.
func (f frame) finish() []byte {
	binary.BigEndian.PutUint32(f, uint32(len(f)-lengthSize))
	return f
}

// AuthFrame returns the request that presents a credential, with its length: for programs that ask a server themselves.
func AuthFrame(a Auth) []byte {
	return newFrame(xidAuth, opAuth).int32(0).bytes([]byte(a.Scheme)).bytes([]byte(a.credentials())).finish()
}

func setWatchesFrame(since int64, w setWatchesBatch) []byte {
	return newFrame(xidSetWatches, opSetWatches).int64(since).
		strings(w.data).strings(w.exist).strings(w.child).finish()
}

// setWatchesBatch is one batch of paths for a setWatches request.
type setWatchesBatch struct{ data, exist, child []string }
