package chaos

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/adler32"
	"os"
	"slices"
)

// Transactions in ZooKeeper's log that make, write or end nodes, by their numbers in its ZooDefs.
const (
	txnCreate          = 1
	txnDelete          = 2
	txnSetData         = 5
	txnMulti           = 14
	txnCreate2         = 15
	txnCreateContainer = 19
	txnDeleteContainer = 20
	txnCreateTTL       = 21
	txnError           = -1
	txnCloseSession    = -11
)

// txn is one transaction that a server has on disk, or one part of a multi.
type txn struct {
	zxid, session int64
	at            int64 // milliseconds of the wall clock, when the ensemble's leader proposed it
	kind          int32
	path          string
	data          []byte
	ephemeral     bool
}

// reader reads Jute, ZooKeeper's encoding. After an error everything is zero.
type reader struct {
	b   []byte
	err error
}

func (r *reader) take(n int) []byte {
	if r.err == nil && (n < 0 || n > len(r.b)) {
		r.err = errors.New("the record ends early")
	}
	if r.err != nil {
		return nil
	}
	head := r.b[:n]
	r.b = r.b[n:]
	return head
}

func (r *reader) int() int32 {
	if b := r.take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (r *reader) long() int64 {
	if b := r.take(8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

func (r *reader) bool() bool {
	b := r.take(1)
	return len(b) == 1 && b[0] != 0
}

// buffer reads a length and as many bytes. It returns nil if the length is -1.
func (r *reader) buffer() []byte {
	if n := r.int(); n >= 0 {
		return r.take(int(n))
	}
	return nil
}

func (r *reader) string() string { return string(r.buffer()) }

func (r *reader) acl() {
	for n := r.int(); n > 0 && r.err == nil; n-- {
		r.int()
		r.buffer()
		r.buffer()
	}
}

// change reads what a transaction of this kind says of nodes; nothing for kinds that leave all nodes where they are.
func (r *reader) change(head txn, kind int32) (all []txn) {
	head.kind = kind
	failed := false
	switch kind {
	case txnCreate, txnCreate2:
		head.path, head.data = r.string(), r.buffer()
		r.acl()
		head.ephemeral = r.bool()
	case txnCreateContainer, txnCreateTTL, txnSetData: // all begin alike: CreateTTLTxn and SetDataTxn of zookeeper.jute, 3.8
		head.path, head.data = r.string(), r.buffer()
	case txnDelete, txnDeleteContainer:
		head.path = r.string()
	case txnCloseSession: // its list of paths is left unread: they are those of the session
	case txnMulti:
		for n := r.int(); n > 0 && r.err == nil; n-- {
			kind, part := r.int(), reader{b: r.buffer()}
			all = append(all, part.change(head, kind)...)
			if r.err == nil {
				r.err = part.err
			}
			failed = failed || kind == txnError
		}
		if failed { // the parts before the one that failed are in the log, and nothing of them is done: DataTree.processTxn, 3.8
			return nil
		}
		return all
	default:
		return nil
	}
	return []txn{head}
}

// readTxn reads one transaction, and the changes in it.
func readTxn(b []byte) (head txn, changes []txn, err error) {
	r := reader{b: b}
	head.session = r.long()
	r.int() // the request's number
	head.zxid, head.at, head.kind = r.long(), r.long(), r.int()
	changes = r.change(head, head.kind)
	return head, changes, r.err
}

// readTxnLog reads one file of a server's transaction log: what each transaction in it changed, by its zxid. It ends where
// the server had got to, which may be in the midst of a transaction that nobody was told of. A follower that comes back may
// be sent what it has, and write it once more.
func readTxnLog(file string) (map[int64][]txn, error) {
	const magic, version = 0x5a4b4c47, 2 // "ZKLG"
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	r := reader{b: b}
	if got, v := r.int(), r.int(); got != magic || v != version {
		if r.err != nil || got == 0 {
			return nil, nil // killed before it had begun
		}
		return nil, fmt.Errorf("%s is no transaction log: %#x, version %d", file, got, v)
	}
	r.long() // the database's number
	all := map[int64][]txn{}
	for {
		sum, body := r.long(), r.buffer()
		end := r.take(1)
		if r.err != nil || len(body) == 0 || end[0] != 'B' || sum != int64(adler32.Checksum(body)) {
			return all, nil
		}
		head, changes, err := readTxn(body)
		if err != nil {
			return nil, fmt.Errorf("%s, transaction %#x of kind %d: %w", file, head.zxid, head.kind, err)
		}
		if err := add(all, head.zxid, changes); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
}

// add adds a transaction to others. One that is there already must be the same.
func add(all map[int64][]txn, zxid int64, changes []txn) error {
	have, there := all[zxid]
	all[zxid] = changes
	same := func(a, b txn) bool {
		return a.path == b.path && a.kind == b.kind && a.at == b.at && a.session == b.session
	}
	if there && !slices.EqualFunc(have, changes, same) {
		return fmt.Errorf("transaction %#x is now %v, now %v", zxid, have, changes)
	}
	return nil
}
