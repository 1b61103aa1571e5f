package chaos

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// node is a participant's node as ZooKeeper had it: from the transaction that made it to the one that ended it.
type node struct {
	path, id string // the id is its data: every participant here puts its name there
	czxid    int64
	session  int64
	created  moment
	deleted  moment // never, where it is still there
	ended    int64  // the zxid of its deletion; forever, where it is still there
	expired  bool   // it ended with its session
}

// moment is an instant of the machine's monotonic clock, in nanoseconds, that is known to lie between two readings.
type moment struct{ earliest, latest int64 }

const forever = int64(1) << 62

var never = moment{forever, forever}

// readTruth returns the life of every ephemeral node below a path, by the transaction logs of all servers.
//
// Times are the leader's when it proposed the transaction: before it was committed, and before any client can have
// heard of it. A belief that ends before its node's deletion by this measure ended before it by any.
func readTruth(below string, servers [][]string, stamp func(ms int64) moment) ([]node, error) {
	history, err := readHistory(servers)
	if err != nil {
		return nil, err
	}
	return lives(below, history, stamp)
}

// readHistory merges the transaction logs of all servers into what was committed, in order. A transaction counts if
// more than half of the servers have it on disk: each that was committed has been written by so many before anybody
// heard of it, and what fewer have was undone, or is on one that was cut off.
func readHistory(servers [][]string) ([]txn, error) {
	have := map[int64]int{}
	history := map[int64][]txn{}
	for _, files := range servers {
		seen := map[int64]bool{}
		for _, file := range files {
			some, err := readTxnLog(file)
			if err != nil {
				return nil, err
			}
			for zxid, changes := range some {
				if !seen[zxid] {
					seen[zxid] = true
					have[zxid]++
				}
				if err := add(history, zxid, changes); err != nil {
					return nil, err
				}
			}
		}
	}
	var committed []int64
	for zxid, n := range have {
		if 2*n > len(servers) {
			committed = append(committed, zxid)
		}
	}
	slices.Sort(committed)
	var all []txn
	for _, zxid := range committed {
		all = append(all, history[zxid]...)
	}
	return all, nil
}

// lives follows the ephemeral nodes below a path through a history. Stamp carries the wall clock's milliseconds over to
// the monotonic clock.
func lives(below string, history []txn, stamp func(ms int64) moment) ([]node, error) {
	var all []node
	alive := map[string]int{} // by path, in all
	end := func(p string, t txn) {
		if i, there := alive[p]; there {
			all[i].deleted, all[i].ended, all[i].expired = stamp(t.at), t.zxid, t.kind == txnCloseSession
			delete(alive, p)
		}
	}
	for _, t := range history {
		switch t.kind {
		case txnCreate, txnCreate2:
			if !t.ephemeral || !strings.HasPrefix(t.path, below+"/") {
				continue
			}
			if _, twice := alive[t.path]; twice {
				return nil, fmt.Errorf("%s was made twice: the logs were not read right", t.path)
			}
			alive[t.path] = len(all)
			all = append(all,
				node{path: t.path, id: string(t.data), czxid: t.zxid, session: t.session, created: stamp(t.at),
					deleted: never, ended: forever})
		case txnDelete, txnDeleteContainer:
			end(t.path, t)
		case txnCloseSession:
			for p, i := range alive {
				if all[i].session == t.session {
					end(p, t)
				}
			}
		}
	}
	return all, nil
}

// line returns the directory that a node is in.
func (n node) line() string { return path.Dir(n.path) }

// at reports whether a node was there after the transaction with this zxid.
func (n node) at(zxid int64) bool { return n.czxid <= zxid && zxid < n.ended }

// blocks reports whether a node was there, for certain, when another client of its line began to believe.
func (n node) blocks(mine node, at int64) bool {
	return n.czxid < mine.czxid && n.line() == mine.line() && n.created.latest < at && n.deleted.earliest > at
}
