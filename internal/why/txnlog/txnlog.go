// Package txnlog reads the transaction logs that ZooKeeper's servers keep, the files log.* in
// version-2 of their dataLogDir: which session created, changed and deleted which node, and when
// a session ended. It is pure: bytes in, transactions out. It may change in any release.
package txnlog

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash/adler32"
	"io"
	"slices"

	"github.com/incumbent-go/incumbent/internal/jute"
)

// Kind is a transaction's type, by its number in ZooKeeper's ZooDefs.
type Kind = int32

// Kinds of transactions that say something about nodes or sessions.
const (
	Create          Kind = 1
	Delete          Kind = 2
	SetData         Kind = 5
	Multi           Kind = 14
	Create2         Kind = 15
	CreateContainer Kind = 19
	DeleteContainer Kind = 20
	CreateTTL       Kind = 21
	Error           Kind = -1
	CreateSession   Kind = -10
	CloseSession    Kind = -11
)

// Txn is one transaction of a log.
type Txn struct {
	Zxid, Session int64
	// the client's number of the request; 0 for the server's own, as the end of a session that expired
	Cxid int32
	// milliseconds since 1970 by the clock of the ensemble's leader, when it proposed the transaction
	Time    int64
	Kind    Kind
	Timeout int32    // of CreateSession, in milliseconds
	Changes []Change // none for a transaction that changes no node, such as a multi of checks
}

// Change is what a transaction does to one node. That of CloseSession has no path: every node
// of the session ends.
type Change struct {
	Kind      Kind
	Path      string
	Data      []byte
	Ephemeral bool
}

// maxBody is how many bytes one transaction may have. A request has at most jute.maxbuffer, 1 MiB by default.
const maxBody = 64 << 20

// Parse is Read of what is in memory.
func Parse(b []byte) ([]Txn, error) { return Read(bytes.NewReader(b)) }

// Read reads one file. It ends without an error where the server had got to, which may be in
// the midst of a transaction; a file that a server had only begun has none. It reads no further
// than that, and keeps one transaction of at most 64 MiB in memory besides those that it returns. The error says
// which transaction cannot be read, or that the file is no transaction log, or is the reader's.
func Read(r io.Reader) ([]Txn, error) {
	const magic, version = 0x5a4b4c47, 2 // "ZKLG"
	head, err := readFull(r, 16)         // and the database's number
	if err != nil {
		return nil, err
	}
	d := jute.Decoder{Rest: head}
	if got, v := d.Int32(), d.Int32(); got != magic || v != version {
		if d.Bad || got == 0 {
			return nil, nil // killed before it had begun
		}
		return nil,
			fmt.Errorf("no transaction log: it begins with %#x, version %d; want %#x, version %d", uint32(got),
				v, magic, version)
	}
	var all []Txn
	for {
		head, err := readFull(r, 12)
		if err != nil {
			return nil, err
		}
		d := jute.Decoder{Rest: head}
		sum, n := d.Int64(), int(d.Int32())
		if d.Bad || n <= 0 || n > maxBody {
			return all, nil
		}
		body, err := readFull(r, n+1)
		if err != nil {
			return nil, err
		}
		if len(body) <= n || body[n] != 'B' || sum != int64(adler32.Checksum(body[:n])) {
			return all, nil
		}
		t, err := parse(body[:n])
		if err != nil {
			return nil, fmt.Errorf("transaction %#x of kind %d: %w", t.Zxid, t.Kind, err)
		}
		all = append(all, t)
	}
}

// readFull reads n bytes, or fewer if the file ends.
func readFull(r io.Reader, n int) ([]byte, error) {
	var b bytes.Buffer // grows with what there is, not with what a length claims
	_, err := io.CopyN(&b, r, int64(n))
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return b.Bytes(), err
}

// Equal reports whether two transactions are the same: a server may have written one twice, and
// every server writes each.
func (t Txn) Equal(o Txn) bool {
	return t.Zxid == o.Zxid && t.Session == o.Session && t.Time == o.Time && t.Kind == o.Kind &&
		slices.EqualFunc(t.Changes, o.Changes, func(a, b Change) bool { return a.Kind == b.Kind && a.Path == b.Path })
}

func parse(body []byte) (t Txn, err error) {
	d := jute.Decoder{Rest: body}
	t.Session, t.Cxid = d.Int64(), d.Int32()
	t.Zxid, t.Time, t.Kind = d.Int64(), d.Int64(), d.Int32()
	if t.Kind == CreateSession {
		t.Timeout = d.Int32()
	} else {
		t.Changes = changes(&d, t.Kind)
	}
	if d.Bad {
		return t, errors.New("the record ends early")
	}
	return t, nil
}

// changes reads what a transaction of this kind says of nodes; nothing for kinds that leave all
// nodes as they are.
func changes(d *jute.Decoder, kind Kind) []Change {
	c := Change{Kind: kind}
	switch kind {
	case Create, Create2:
		c.Path, c.Data = d.Text(), d.Bytes()
		skipACL(d)
		c.Ephemeral = d.Bool()
	case CreateContainer, CreateTTL, SetData: // all begin alike: CreateTTLTxn and SetDataTxn of zookeeper.jute, 3.8
		c.Path, c.Data = d.Text(), d.Bytes()
	case Delete, DeleteContainer:
		c.Path = d.Text()
	case CloseSession: // its list of paths, since 3.6, is left unread: they are those of the session
	case Multi:
		return parts(d)
	default:
		return nil
	}
	return []Change{c}
}

func skipACL(d *jute.Decoder) {
	for range d.Count(12) {
		d.Int32()
		d.Text()
		d.Text()
	}
}

// parts reads a multi. If one of its parts failed, those before it are in the log, and nothing
// of them is done: DataTree.processTxn, 3.8.
func parts(d *jute.Decoder) (all []Change) {
	failed := false
	for n := d.Int32(); n > 0 && !d.Bad; n-- {
		kind, part := d.Int32(), jute.Decoder{Rest: d.Bytes()}
		all = append(all, changes(&part, kind)...)
		d.Bad = d.Bad || part.Bad
		failed = failed || kind == Error
	}
	if failed {
		return nil
	}
	return all
}

// Merge returns the transactions of several servers in the order of their zxids, each once. Two
// that share a zxid and differ are an error: then one of the servers belongs to another
// ensemble, or has what the others undid.
func Merge(servers ...[]Txn) ([]Txn, error) {
	all := slices.Concat(servers...)
	slices.SortStableFunc(all, func(a, b Txn) int { return cmp.Compare(a.Zxid, b.Zxid) })
	kept := all[:0]
	for _, t := range all {
		if n := len(kept); n > 0 && kept[n-1].Zxid == t.Zxid {
			if !kept[n-1].Equal(t) {
				return nil,
					fmt.Errorf("two transactions have the zxid %#x: the logs are of different ensembles, or one "+
						"server has what the others undid", t.Zxid)
			}
			continue
		}
		kept = append(kept, t)
	}
	return kept, nil
}
