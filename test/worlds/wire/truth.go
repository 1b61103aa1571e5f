package wire

import (
	"strings"
	"sync"
	"time"

	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// truth is what the ensemble has carried out. The server calls it with each transaction, in order.
type truth struct {
	w *world

	mu        sync.Mutex
	committed map[int64]time.Time // by zxid
	nodes     map[string]*life    // that exist, by path
	lives     map[int64]*life     // all, by czxid; of a multi that creates several, the last
	created   map[string]int      // how often a path of onceDir was created
	items     map[string]int      // how often an item was put
	members   map[string]*life    // of shards, those that are gone, too
	owns      map[string]machines.ShardSet
	killed    map[int64]bool // sessions that an operator ended
}

// life is one node's.
type life struct {
	path     string
	czxid    int64
	owner    int64
	version  int32
	deleted  time.Time // zero: it exists
	byOthers bool      // it was deleted by an operator
	ended    bool      // it was deleted with its session
}

func newTruth(w *world) *truth {
	return &truth{w: w, committed: map[int64]time.Time{}, nodes: map[string]*life{}, lives: map[int64]*life{},
		created: map[string]int{}, items: map[string]int{},
		members: map[string]*life{}, owns: map[string]machines.ShardSet{}, killed: map[int64]bool{}}
}

// apply is called inside the server.
func (k *truth) apply(txn zkmem.Txn, r zkmem.Result) {
	k.mu.Lock()
	now := time.Now()
	k.committed[txn.Zxid] = now
	var gone []*life
	wrong := ""
	if txn.Code == zkmem.OpMulti {
		if r.Err == zkmem.OK {
			wrong = k.dealer(txn)
		}
		for i, op := range txn.Ops {
			op.Zxid, op.Session = txn.Zxid, txn.Session
			if i < len(r.Results) {
				gone = append(gone, k.one(op, r.Results[i], r.Err == zkmem.OK, now)...)
				if r.Err == zkmem.OK && wrong == "" {
					wrong = k.claimed(op)
				}
			}
		}
	} else {
		gone = k.one(txn, r, r.Err == zkmem.OK, now)
	}
	k.mu.Unlock()
	if wrong != "" {
		k.w.fail("a node is written only by who may", "%s", wrong)
	}
	for _, l := range gone {
		k.w.nodeGone(l)
	}
}

// one notes one operation, and returns the nodes that it deleted.
func (k *truth) one(txn zkmem.Txn, r zkmem.Result, ok bool, now time.Time) (gone []*life) {
	if !ok {
		return nil
	}
	switch txn.Code {
	case zkmem.OpCreate, zkmem.OpCreate2, zkmem.OpCreateContainer:
		l := &life{path: txn.Path, czxid: txn.Zxid, owner: txn.Owner}
		k.nodes[txn.Path], k.lives[txn.Zxid] = l, l
		k.noteMember(txn, l)
		switch {
		case strings.HasPrefix(txn.Path, queueDir+"/"):
			k.items[string(txn.Data)]++
		case strings.HasPrefix(txn.Path, onceDir+"/"):
			k.created[txn.Path]++
		}
	case zkmem.OpSetData:
		if l := k.nodes[txn.Path]; l != nil {
			l.version++
		}
	case zkmem.OpDelete, zkmem.OpDeleteContainer:
		gone = k.delete(gone, txn.Path, txn.Session == 0, now)
	case zkmem.OpCloseSession:
		for _, path := range txn.Ephemerals {
			if l := k.nodes[path]; l != nil {
				l.ended = true
			}
			gone = k.delete(gone, path, k.killed[txn.Session], now)
		}
	}
	return gone
}

func (k *truth) delete(gone []*life, path string, byOthers bool, now time.Time) []*life {
	l := k.nodes[path]
	if l == nil {
		return gone
	}
	delete(k.nodes, path)
	l.deleted, l.byOthers = now, byOthers
	return append(gone, l)
}

// commitOf returns when a transaction was carried out.
func (k *truth) commitOf(zxid int64) (time.Time, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	at, known := k.committed[zxid]
	return at, known
}

// lifeOf returns a copy of the life of the node with this czxid.
func (k *truth) lifeOf(czxid int64) (life, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if l := k.lives[czxid]; l != nil {
		return *l, true
	}
	return life{}, false
}

// nameOf returns the path of the node with this czxid, for the story.
func (k *truth) nameOf(czxid int64) string {
	if l, known := k.lifeOf(czxid); known {
		return l.path
	}
	return "a node that was never created"
}

// nodeAt returns a copy of the life of the node at a path now.
func (k *truth) nodeAt(path string) (life, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if l := k.nodes[path]; l != nil {
		return *l, true
	}
	return life{}, false
}

// creations returns how often a node was created at a path of onceDir.
func (k *truth) creations(path string) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.created[path]
}

// puts returns how often an item was put into the queue.
func (k *truth) puts(item string) (n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for data, times := range k.items {
		if strings.Contains(data, `"`+item+`"`) { // the codec's JSON, in Curator's envelope
			n += times
		}
	}
	return n
}

// kill notes that an operator is about to end a session.
func (k *truth) kill(session int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.killed[session] = true
}
