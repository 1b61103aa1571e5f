package zkio

import (
	"encoding/binary"
	"time"

	"github.com/incumbent-go/incumbent/internal/jute"
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

const headerSize = 16 // of an answer: xid, zxid, code

// answer is one frame from the server, after the handshake.
type answer struct {
	xid      int32
	zxid     int64
	code     int32
	body     jute.Decoder
	tooLarge bool // the body was above the limit and was skipped
}

func parseAnswer(header []byte) answer {
	return answer{
		xid:  int32(binary.BigEndian.Uint32(header)),
		zxid: int64(binary.BigEndian.Uint64(header[4:])),
		code: int32(binary.BigEndian.Uint32(header[12:])),
	}
}

// stub is what the keeper gets of the answer to its close: that it came.
func stub(xid int32) []byte {
	return make(frame, jute.LengthSize).Int32(xid).Int64(0).Int32(0).Finish()
}

// readStat reads a node's Stat.
func readStat(b *jute.Decoder) *Stat {
	return &Stat{
		Czxid: b.Int64(), Mzxid: b.Int64(), Ctime: readTime(b), Mtime: readTime(b),
		Version: b.Int32(), Cversion: b.Int32(), Aversion: b.Int32(),
		EphemeralOwner: b.Int64(), DataLength: b.Int32(), NumChildren: b.Int32(), Pzxid: b.Int64(),
	}
}

func readTime(b *jute.Decoder) time.Time { return time.UnixMilli(b.Int64()).UTC() }

// frame is a request, or a batch of them.
type frame = jute.Frame

func newFrame(xid, op int32) frame { return jute.NewFrame().Int32(xid).Int32(op) }

// AuthFrame returns the request that presents a credential, with its length: for programs that ask a server themselves.
func AuthFrame(a Auth) []byte {
	return newFrame(xidAuth, opAuth).Int32(0).Bytes([]byte(a.Scheme)).Bytes([]byte(a.credentials())).Finish()
}

func setWatchesFrame(since int64, w setWatchesBatch) []byte {
	return newFrame(xidSetWatches, opSetWatches).Int64(since).
		Texts(w.data).Texts(w.exist).Texts(w.child).Finish()
}

// setWatchesBatch is one batch of paths for a setWatches request.
type setWatchesBatch struct{ data, exist, child []string }
