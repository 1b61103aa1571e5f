package chaos

import (
	"fmt"
	"os"
	"slices"

	"github.com/incumbent-go/incumbent/internal/why/txnlog"
)

// Transactions in ZooKeeper's log that make, write or end nodes.
const (
	txnCreate          = txnlog.Create
	txnDelete          = txnlog.Delete
	txnSetData         = txnlog.SetData
	txnCreate2         = txnlog.Create2
	txnDeleteContainer = txnlog.DeleteContainer
	txnCloseSession    = txnlog.CloseSession
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

// readTxnLog reads one file of a server's transaction log: what each transaction in it changed, by its zxid. It ends
// where the server had got to, which may be in the midst of a transaction that nobody was told of. A follower that
// comes back may be sent what it has, and write it once more.
func readTxnLog(file string) (map[int64][]txn, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	log, err := txnlog.Parse(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	all := map[int64][]txn{}
	for _, t := range log {
		var changes []txn
		for _, c := range t.Changes {
			changes = append(changes,
				txn{zxid: t.Zxid, session: t.Session, at: t.Time, kind: c.Kind, path: c.Path, data: c.Data,
					ephemeral: c.Ephemeral})
		}
		if err := add(all, t.Zxid, changes); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return all, nil
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
