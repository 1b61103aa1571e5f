package doctor

import (
	"errors"

	"github.com/incumbent-go/incumbent/internal/jute"
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
	opPing            = 11
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
	xidPing  = -2
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

// about begins the body of a request about a node.
func about(node string) jute.Frame { return jute.Frame{}.Text(node) }

// root is the body of a read of the root that asks for no watch.
func root() jute.Frame { return about("/").Bool(false) }

// part begins an operation of a multi.
func part(f jute.Frame, op int32) jute.Frame { return f.Int32(op).Bool(false).Int32(-1) }

// end ends a multi.
func end(f jute.Frame) jute.Frame { return f.Int32(-1).Bool(true).Int32(-1) }

var errMalformed = errors.New("the answer is not one of ZooKeeper's protocol")

// stat is a node's Stat.
type stat struct {
	czxid, mzxid, ctime, mtime int64
	version, cversion          int32
	owner                      int64
	bytes, children            int32
}

func readStat(b *jute.Decoder) stat {
	s := stat{czxid: b.Int64(), mzxid: b.Int64(), ctime: b.Int64(), mtime: b.Int64(), version: b.Int32(),
		cversion: b.Int32()}
	b.Int32() // aversion
	s.owner, s.bytes, s.children = b.Int64(), b.Int32(), b.Int32()
	b.Int64() // pzxid
	return s
}

// entry is one entry of an access list.
type entry struct {
	perms      int32
	scheme, id string
}

func readEntries(b *jute.Decoder) (all []entry) {
	for range b.Count(12) {
		all = append(all, entry{b.Int32(), b.Text(), b.Text()})
	}
	return all
}
