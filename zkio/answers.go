package zkio

import (
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/jute"
)

// Stat is what ZooKeeper has about a node, apart from its data.
type Stat struct {
	Czxid, Mzxid   int64     // transactions that created the node, and that wrote its data last
	Ctime, Mtime   time.Time // by the ensemble's clock, in UTC
	Version        int32     // how often its data were written
	Cversion       int32     // how often children were created or deleted
	Aversion       int32     // how often its access list was changed
	EphemeralOwner int64     // ZooKeeper's id of the session that owns it; 0 for every other type of node
	DataLength     int32     // bytes
	NumChildren    int32
	Pzxid          int64 // transaction that created or deleted a child last
}

// Kept is the part of a reply that is for the user. Which fields are set depends on the
// request.
type Kept struct {
	Data     []byte
	Stat     *Stat      // of a multi, the Stat after its last "set"
	Children []string   // in no order; not to be changed
	Results  []OpResult // of a multi
	acl      []ACL      // of a getACL
}

// view returns the part that recipes use.
func (s *Stat) view() *events.Stat {
	return &events.Stat{Czxid: s.Czxid, Mzxid: s.Mzxid, EphemeralOwner: s.EphemeralOwner, Version: s.Version,
		NumChildren: s.NumChildren,
		Mtime:       s.Mtime.UnixMilli()}
}

// OpResult is the outcome of one operation of a multi.
type OpResult struct {
	Code events.Code
	Path string // of a create: the node's real path
	Stat *Stat  // of a set
}

// reply returns the event for an answer to this call, and the part for the user. ok is
// false if the body does not follow the protocol.
func (c *call) reply(to *coding, a answer) (e events.Event, kept Kept, ok bool) {
	e = c.event(code(a.code))
	e.Zxid = a.zxid
	switch {
	case a.tooLarge && writes(c.request):
		e.Code, e.Text = events.ServerError,
			"the reply is above the limit for one message, and cannot be read: see Config.MaxAnswer"
	case a.tooLarge:
		e.Code, e.Text = events.TooLarge, "the reply is above the limit for one message: see Config.MaxAnswer"
	case a.code == 0:
		kept = to.decode(c, &a.body, &e)
		if kept.Stat != nil {
			e.Stat = kept.Stat.view()
			if _, lists := c.request.(events.Children); lists {
				e.Stat.Pzxid = kept.Stat.Pzxid
			}
		}
	}
	return e, kept, !a.body.Bad
}

// writes reports whether a request changes nodes.
func writes(r events.Request) bool {
	switch r.(type) {
	case events.Create, events.Delete, events.Multi, setACL:
		return true
	}
	return false
}

// created returns the path of a node that a create has made. Another path than the one that was asked for does not
// follow the protocol.
func (a *coding) created(b *jute.Decoder, asked string) string {
	path := a.short(b.Text())
	b.Bad = b.Bad || !strings.HasPrefix(path, asked)
	return path
}

// decode reads the body of an answer to a call.
func (a *coding) decode(c *call, b *jute.Decoder, e *events.Event) (kept Kept) {
	switch r := c.request.(type) {
	case events.Create:
		if ops := r.Ops(); ops != nil {
			a.readBoth(b, e, ops)
			break
		}
		e.Path = a.created(b, r.Path)
	case events.Get:
		kept = Kept{Data: b.Bytes(), Stat: readStat(b)}
		if c.data {
			e.Data = kept.Data
		}
	case events.Exists:
		kept.Stat = readStat(b)
	case events.Children:
		e.Children = b.Texts()
		kept = Kept{Children: e.Children, Stat: readStat(b)}
	case getACL:
		kept.acl = readACL(b)
		kept.Stat = readStat(b)
	case setACL:
		kept.Stat = readStat(b)
	case events.Sync:
		b.Text()
	case events.Multi:
		kept = a.readMulti(b, e, r.Ops)
	}
	return kept
}

// readBoth reads the answer to the creation of two nodes. The event is as that of the second alone, or has the path of
// the one that was refused.
func (a *coding) readBoth(b *jute.Decoder, e *events.Event, ops []events.Op) {
	a.readMulti(b, e, ops)
	created := e.Children
	if e.Children = nil; e.Code == events.OK && len(created) == len(ops) {
		e.Path = created[len(created)-1]
	}
}

// readMulti reads the results, one for each operation, up to the closing header. The code of the whole is that of
// the operation that failed, and so is the path: the others have the code for "rolled
// back".
func (a *coding) readMulti(b *jute.Decoder, e *events.Event, ops []events.Op) Kept {
	var kept Kept
	failed := int32(0)
	for !b.Bad {
		op, done, _ := b.Int32(), b.Bool(), b.Int32()
		if done || b.Bad {
			break
		}
		var r OpResult
		switch op {
		case opCreate:
			r.Path = a.created(b, ops[min(len(kept.Results), len(ops)-1)].Path)
			e.Children = append(e.Children, r.Path)
		case opSetData:
			r.Stat = readStat(b)
			kept.Stat = r.Stat
		case opDelete, opCheck:
		case opError:
			number := b.Int32()
			r.Code, _ = code(number)
			if number != 0 && (failed == 0 || failed == runtimeInconsistency) {
				failed = number
				e.Path = ops[min(len(kept.Results), len(ops)-1)].Path
			}
		default:
			b.Bad = true
		}
		kept.Results = append(kept.Results, r)
	}
	b.Bad = b.Bad || len(kept.Results) != len(ops)
	if failed != 0 {
		kept.Stat = nil
		e.Code, e.Text = code(failed)
	}
	return kept
}
