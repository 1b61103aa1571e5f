package zkio

import (
	"encoding/binary"
	"strings"
	"unicode/utf8"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/jute"
)

// Operation codes of requests.
const (
	opCreate          int32 = 1
	opDelete          int32 = 2
	opExists          int32 = 3
	opGet             int32 = 4
	opSetData         int32 = 5
	opGetACL          int32 = 6
	opSetACL          int32 = 7
	opChildren        int32 = 12 // getChildren2: with the stat
	opCheck           int32 = 13
	opMulti           int32 = 14
	opCreateContainer int32 = 19
	opCreateTTL       int32 = 21
	opRemoveWatches   int32 = 18
	opAddWatch        int32 = 106
	opError           int32 = -1 // in the answer to a multi
)

// The mode of an addWatch that is persistent and recursive, and the type of a removeWatches
// that concerns watches of every kind.
const (
	modeRecursive    int32 = 1
	watchesOfAnyKind int32 = 3
)

// coding turns requests of machines into calls, calls into frames, and answers into events, as the settings say.
type coding struct {
	cfg     Config
	acl     []zk.ACL
	aclSize int // bytes of it in a request
}

func newCoding(cfg Config) coding {
	a := coding{cfg: cfg}
	a.acl, a.aclSize = wireACL(cfg.ACL), sizeOfACL(cfg.ACL)
	return a
}

// encode appends a call's request as a whole frame.
func (a *coding) encode(f frame, xid int32, c *call) frame {
	at := len(f)
	f = append(f, 0, 0, 0, 0).Int32(xid)
	switch r := c.request.(type) {
	case events.Create:
		if ops := r.Ops(); ops != nil {
			f = a.encodeMulti(f.Int32(opMulti), ops, c)
			break
		}
		f = a.encodeCreate(f.Int32(createOps[r.Mode]), r.Path, r.Data, r.Mode, c.list(0))
		if createOps[r.Mode] == opCreateTTL {
			f = f.Int64(r.TTL.Milliseconds())
		}
	case events.Delete:
		f = f.Int32(opDelete).Text(a.full(r.Path)).Int32(-1)
	case events.Get:
		f = f.Int32(opGet).Text(a.full(r.Path)).Bool(c.watch != noWatch)
	case events.Exists:
		f = f.Int32(opExists).Text(a.full(r.Path)).Bool(c.watch != noWatch)
	case events.Children:
		f = f.Int32(opChildren).Text(a.full(r.Path)).Bool(c.watch != noWatch)
	case events.AddWatch:
		f = f.Int32(opAddWatch).Text(a.full(r.Path)).Int32(modeRecursive)
	case getACL:
		f = f.Int32(opGetACL).Text(a.full(r.path))
	case setACL:
		f = encodeACL(f.Int32(opSetACL).Text(a.full(r.path)), wireACL(r.list)).Int32(r.version)
	case removeWatches:
		f = f.Int32(opRemoveWatches).Text(a.full(r.path)).Int32(watchesOfAnyKind)
	case events.Sync:
		f = f.Int32(opSync).Text(a.full(r.Path))
	case events.Multi:
		f = a.encodeMulti(f.Int32(opMulti), r.Ops, c)
	}
	binary.BigEndian.PutUint32(f[at:], uint32(len(f)-at-jute.LengthSize))
	return f
}

// createOps has the request that creates a node of a mode. All others are an opCreate.
var createOps = map[events.Mode]int32{
	events.Persistent: opCreate, events.PersistentSequential: opCreate, events.Ephemeral: opCreate,
	events.EphemeralSequential: opCreate,
	events.Container:           opCreateContainer, events.PersistentTTL: opCreateTTL,
	events.PersistentSequentialTTL: opCreateTTL,
}

func (a *coding) encodeCreate(f frame, path string, data []byte, mode events.Mode, access []ACL) frame {
	return encodeACL(f.Text(a.full(path)).Bytes(data), a.access(access)).Int32(modes[mode])
}

// encodeMulti appends the operations, each behind its header, and the header that ends them.
func (a *coding) encodeMulti(f frame, ops []events.Op, c *call) frame {
	for i, op := range ops {
		f = f.Int32(verbs[op.Verb]).Bool(false).Int32(-1)
		switch op.Verb {
		case "check", "delete":
			f = f.Text(a.full(op.Path)).Int32(op.Version)
		case "set":
			f = f.Text(a.full(op.Path)).Bytes(op.Data).Int32(op.Version)
		case "create":
			f = a.encodeCreate(f, op.Path, op.Data, op.Mode, c.list(i))
		}
	}
	return f.Int32(-1).Bool(true).Int32(-1)
}

// verbs has the operations that a multi may have.
var verbs = map[string]int32{"check": opCheck, "delete": opDelete, "set": opSetData, "create": opCreate}

// validPath reports whether a server takes a path, by the rules of go-zookeeper and of
// ZooKeeper's PathUtils. The path of a sequential node may end with a slash: the number
// follows.
func validPath(path string, sequential bool) bool {
	if !strings.HasPrefix(path, "/") {
		return false
	}
	if path == "/" {
		return true
	}
	for rest, last := path[1:], false; !last; {
		var name string
		name, rest, last = strings.Cut(rest, "/")
		last = !last
		if name == "." || name == ".." || name == "" && !(last && sequential) {
			return false
		}
	}
	return strings.IndexFunc(path, forbidden) < 0
}

// forbidden reports whether a path may not have a character: control characters, surrogates,
// those for private use, and a character that is not UTF-8.
func forbidden(r rune) bool {
	return r <= 0x1f || r >= 0x7f && r <= 0x9f || r >= 0xd800 && r <= 0xf8ff || r >= 0xfff0 && r < 0xffff ||
		r == utf8.RuneError
}

// removeWatches removes all watches of the connection on a path.
type removeWatches struct {
	events.Call
	path string
}

func (r removeWatches) String() string { return "remove watches " + r.path }

// AppendTo appends the written form.
func (r removeWatches) AppendTo(b []byte) []byte { return append(b, r.String()...) }
