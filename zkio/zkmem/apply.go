package zkmem

import "slices"

// EventType is the type of a change, by its number on the wire.
type EventType int32

// The events.
const (
	NodeCreated         EventType = 1
	NodeDeleted         EventType = 2
	NodeDataChanged     EventType = 3
	NodeChildrenChanged EventType = 4
)

// String returns the event's name.
func (e EventType) String() string {
	switch e {
	case NodeCreated:
		return "created"
	case NodeDeleted:
		return "deleted"
	case NodeDataChanged:
		return "dataChanged"
	case NodeChildrenChanged:
		return "childrenChanged"
	}
	return "unknown"
}

// Event is one change that may fire watches. A watcher that ACL does not let read gets no event, though its watch is
// spent: so do servers since 3.8.4 and 3.9.2, and Debian's.
type Event struct {
	Type EventType
	Path string
	ACL  []ACL
}

// Result is the outcome of a transaction.
type Result struct {
	Code    OpCode
	Err     Code
	Path    string
	Stat    Stat
	Results []Result // of a multi; Err is then the first failure
}

// Apply carries a transaction out and returns its outcome and the events, in the order in which watchers get them.
// Transactions must come in the order of their zxids, and none may be left out.
func (t *Tree) Apply(txn Txn) (Result, []Event) {
	t.zxid = max(t.zxid, txn.Zxid)
	var events []Event
	result := t.apply(txn, &events)
	return result, events
}

func (t *Tree) apply(txn Txn, events *[]Event) Result {
	r := Result{Code: txn.Code, Path: txn.Path}
	switch txn.Code {
	case OpCreate, OpCreate2, OpCreateContainer, OpCreateTTL:
		r.Stat, r.Err = t.create(txn, events)
	case OpDelete, OpDeleteContainer:
		r.Err = t.delete(txn.Path, txn.Zxid, events)
	case OpSetData, OpSetACL, OpSetSequence:
		r.Stat, r.Err = t.change(txn, events)
	case OpCreateSession:
		t.sessions[txn.Session] = txn.Version
	case OpCloseSession:
		for _, path := range txn.Ephemerals {
			t.delete(path, txn.Zxid, events)
		}
		delete(t.ephemerals, txn.Session)
		delete(t.sessions, txn.Session)
	case OpMulti:
		for _, sub := range txn.Ops {
			one := t.apply(sub, events)
			r.Results = append(r.Results, one)
			if r.Err == OK {
				r.Err = one.Err
			}
		}
	case OpError:
		r.Err = txn.Err
	}
	return r
}

func (t *Tree) create(txn Txn, events *[]Event) (Stat, Code) {
	parentPath, name, _ := split(txn.Path)
	parent := t.node(parentPath)
	if parent == nil {
		return Stat{}, NoNode
	}
	at, exists := slices.BinarySearch(parent.children, name)
	if exists {
		return Stat{}, NodeExists
	}
	parent.children = slices.Insert(parent.children, at, name)
	// The counter only rises: after its last value it sticks, as on ZooKeeper 3.8.
	if txn.Creates > parent.creates {
		parent.creates = txn.Creates
		parent.stat.Pzxid = txn.Zxid
	}
	n := &node{data: txn.Data, acl: txn.ACL, stat: Stat{
		Czxid: txn.Zxid, Mzxid: txn.Zxid, Pzxid: txn.Zxid, Ctime: txn.Time, Mtime: txn.Time, EphemeralOwner: txn.Owner,
	}}
	t.nodes[txn.Path] = n
	switch {
	case txn.Owner == 0:
	case !owned(txn.Owner):
		t.containers[txn.Path] = struct{}{}
	default:
		if t.ephemerals[txn.Owner] == nil {
			t.ephemerals[txn.Owner] = map[string]struct{}{}
		}
		t.ephemerals[txn.Owner][txn.Path] = struct{}{}
	}
	t.countCreated(txn.Path, parentPath, name, len(txn.Data))
	*events = append(*events, Event{NodeCreated, txn.Path, n.acl},
		Event{NodeChildrenChanged, orRoot(parentPath), parent.acl})
	return n.fullStat(), OK
}

func (t *Tree) delete(path string, zxid int64, events *[]Event) Code {
	n := t.nodes[path]
	if n == nil {
		return NoNode
	}
	parentPath, name, _ := split(path)
	parent := t.node(parentPath)
	if at, ok := slices.BinarySearch(parent.children, name); ok {
		parent.children = slices.Delete(parent.children, at, at+1)
	}
	if !t.keeper {
		parent.stat.Pzxid = max(parent.stat.Pzxid, zxid)
	}
	delete(t.nodes, path)
	switch owner := n.stat.EphemeralOwner; {
	case owner == 0:
	case !owned(owner):
		delete(t.containers, path)
	default:
		delete(t.ephemerals[owner], path)
		if len(t.ephemerals[owner]) == 0 {
			delete(t.ephemerals, owner)
		}
	}
	t.countQuota(path, -1, -len(n.data))
	*events = append(*events, Event{NodeDeleted, path, n.acl},
		Event{NodeChildrenChanged, orRoot(parentPath), parent.acl})
	return OK
}

func (t *Tree) change(txn Txn, events *[]Event) (Stat, Code) {
	n := t.node(txn.Path)
	if n == nil {
		return Stat{}, NoNode
	}
	switch txn.Code {
	case OpSetData:
		t.countQuota(txn.Path, 0, len(txn.Data)-len(n.data))
		n.data = txn.Data
		n.stat.Version, n.stat.Mzxid, n.stat.Mtime = txn.Version, txn.Zxid, txn.Time
		if parentPath, _, ok := split(txn.Path); ok && t.keeper {
			t.node(parentPath).writes++
		}
		*events = append(*events, Event{NodeDataChanged, txn.Path, n.acl})
	case OpSetACL:
		n.acl = txn.ACL
		n.stat.Aversion = txn.Version
	case OpSetSequence:
		n.creates = txn.Version
	}
	return n.fullStat(), OK
}

func orRoot(path string) string {
	if path == "" {
		return "/"
	}
	return path
}
