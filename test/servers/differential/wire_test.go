package differential

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// enc writes ZooKeeper's encoding. It is this test's own, so that a mistake in zkmem's is not made twice.
type enc []byte

func (e enc) i32(v int32) enc { return binary.BigEndian.AppendUint32(e, uint32(v)) }
func (e enc) i64(v int64) enc { return binary.BigEndian.AppendUint64(e, uint64(v)) }
func (e enc) flag(v bool) enc {
	if v {
		return append(e, 1)
	}
	return append(e, 0)
}
func (e enc) str(v string) enc { return append(e.i32(int32(len(v))), v...) }
func (e enc) strs(list []string) enc {
	e = e.i32(int32(len(list)))
	for _, v := range list {
		e = e.str(v)
	}
	return e
}

type acl struct {
	perms      int32
	scheme, id string
}

// null stands for a string that is ZooKeeper's null.
const null = "\x00null"

func (e enc) acls(list []acl) enc {
	e = e.i32(int32(len(list)))
	for _, a := range list {
		e = e.i32(a.perms).strOrNull(a.scheme).strOrNull(a.id)
	}
	return e
}

func (e enc) strOrNull(v string) enc {
	if v == null {
		return e.i32(-1)
	}
	return e.str(v)
}

// dec reads it and tells it as text, with what differs from server to server taken out: zxids become distances from
// base, session ids become names, times become "t", and lists without an order are sorted.
type dec struct {
	buf   []byte
	base  int64
	owner func(int64) string
}

func (d *dec) take(n int) []byte {
	if n < 0 || n > len(d.buf) {
		panic(fmt.Sprintf("reply too short: want %d of %d bytes", n, len(d.buf)))
	}
	b := d.buf[:n]
	d.buf = d.buf[n:]
	return b
}

func (d *dec) i32() int32 { return int32(binary.BigEndian.Uint32(d.take(4))) }
func (d *dec) i64() int64 { return int64(binary.BigEndian.Uint64(d.take(8))) }

func (d *dec) str() string {
	n := d.i32()
	if n == -1 {
		return "null"
	}
	return fmt.Sprintf("%q", d.take(int(n)))
}

func (d *dec) strs() string {
	list := make([]string, max(0, d.i32()))
	for i := range list {
		list[i] = d.str()
	}
	slices.Sort(list)
	return fmt.Sprint(list)
}

func (d *dec) acls() string {
	list := make([]string, max(0, d.i32()))
	for i := range list {
		list[i] = fmt.Sprint(d.i32(), d.str(), d.str())
	}
	slices.Sort(list)
	return strings.Join(list, ",")
}

func (d *dec) zxid() int64 {
	if v := d.i64(); v > 0 {
		return v - d.base
	} else {
		return v
	}
}

func (d *dec) stat() string {
	czxid, mzxid := d.zxid(), d.zxid()
	ctime, mtime := d.i64(), d.i64()
	version, cversion, aversion := d.i32(), d.i32(), d.i32()
	owner := d.owner(d.i64())
	length, children := d.i32(), d.i32()
	return fmt.Sprintf("{c%d m%d p%d v%d cv%d av%d owner %s len %d children %d %s}",
		czxid, mzxid, d.zxid(), version, cversion, aversion, owner, length, children, order(ctime, mtime))
}

// body tells a reply's body.
func (d *dec) body(op int32) string {
	switch op {
	case opCreate, opSync:
		return d.str()
	case opCreate2, opCreateContainer, opCreateTTL:
		return d.str() + " " + d.stat()
	case opExists, opSetData, opSetACL:
		return d.stat()
	case opGetData, opReconfig:
		return d.str() + " " + d.stat()
	case opGetACL:
		return d.acls() + " " + d.stat()
	case opGetChildren, opGetEphemerals:
		return d.strs()
	case opGetChildren2:
		return d.strs() + " " + d.stat()
	case opCountDescendants:
		return fmt.Sprint(d.i32())
	case opMulti, opMultiRead:
		return d.multi()
	case opAddWatch:
		return fmt.Sprint(d.i32())
	case opWhoAmI:
		return d.identities()
	case opSASL:
		return d.str()
	}
	return ""
}

// identities tells what whoAmI returned, which has no order.
func (d *dec) identities() string {
	list := make([]string, max(0, d.i32()))
	for i := range list {
		list[i] = d.str() + " " + d.str()
	}
	slices.Sort(list)
	return fmt.Sprint(list)
}

func (d *dec) multi() string {
	var parts []string
	for {
		op, done, code := d.i32(), d.take(1)[0] != 0, d.i32()
		if done {
			return strings.Join(parts, "; ")
		}
		text := fmt.Sprintf("op %d code %d ", op, code)
		if op == opError {
			text += fmt.Sprint(d.i32())
		} else {
			text += d.body(op)
		}
		parts = append(parts, text)
	}
}

const (
	opError            = -1
	opCreateSession    = -10
	opCloseSession     = -11
	opCreate           = 1
	opDelete           = 2
	opExists           = 3
	opGetData          = 4
	opSetData          = 5
	opGetACL           = 6
	opSetACL           = 7
	opGetChildren      = 8
	opSync             = 9
	opPing             = 11
	opGetChildren2     = 12
	opCheck            = 13
	opMulti            = 14
	opCreate2          = 15
	opReconfig         = 16
	opCheckWatches     = 17
	opRemoveWatches    = 18
	opCreateContainer  = 19
	opDeleteContainer  = 20
	opCreateTTL        = 21
	opMultiRead        = 22
	opAuth             = 100
	opSetWatches       = 101
	opSASL             = 102
	opGetEphemerals    = 103
	opCountDescendants = 104
	opSetWatches2      = 105
	opAddWatch         = 106
	opWhoAmI           = 107
	opUnknown          = 77
)

// order returns all that can be compared of a node's two times.
func order(ctime, mtime int64) string {
	switch {
	case ctime == 0 && mtime == 0:
		return "never"
	case mtime < ctime:
		return "changed before it was made"
	}
	return "t"
}
