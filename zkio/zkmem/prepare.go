package zkmem

import "fmt"

// Mode is how a node is created.
type Mode int32

// The modes. OpCreateContainer creates a container, whatever its Mode is; the TTL modes need OpCreateTTL, and a tree
// that accepts them: Options.ExtendedTypes.
const (
	Persistent           Mode = 0
	Ephemeral            Mode = 1
	PersistentSequential Mode = 2
	EphemeralSequential  Mode = 3
	modeContainer        Mode = 4
	TTL                  Mode = 5
	SequentialTTL        Mode = 6
)

// AnyVersion as an Op's Version matches every node.
const AnyVersion int32 = -1

// Op is a request to change something.
type Op struct {
	Code    OpCode
	Path    string
	Data    []byte
	ACL     []ACL
	Mode    Mode
	Version int32 // the version expected by delete, setData, setACL and check; AnyVersion for any
	Number  int32 // createSession: the timeout in milliseconds; setSequence: the counter
	TTL     int64 // createTTL: milliseconds
	Ops     []Op  // of a multi
}

// Caller is the client of a request. Session 0 is an operator, not a client: it creates no ephemeral nodes.
type Caller struct {
	Session int64
	Auth    []Auth
}

// Operator returns a caller that may do everything.
func Operator() Caller { return Caller{Auth: []Auth{{Scheme: "super"}}} }

// Txn is a transaction: plain data, everything decided. A refused request makes one too, with Code OpError, because
// it uses up a zxid as in ZooKeeper.
type Txn struct {
	Zxid       int64
	Time       int64 // milliseconds since 1970
	Session    int64
	Code       OpCode
	Err        Code
	Path       string // with the sequence number
	Data       []byte
	ACL        []ACL
	Owner      int64 // of a created node
	Version    int32 // the new version; the timeout of createSession; the counter of setSequence
	Creates    int32 // the parent's new create counter
	Ephemerals []string
	Ops        []Txn
}

// Prepare checks a request and returns its transaction. It changes nothing. The caller chooses zxid, which must be
// greater than the tree's, and at (milliseconds since 1970).
func (t *Tree) Prepare(caller Caller, op Op, zxid, at int64) Txn {
	d := &draft{tree: t, caller: caller, zxid: zxid, at: at}
	if op.Code == OpMulti {
		return d.multi(op)
	}
	return d.one(op)
}

// draft is the tree as it would be after the operations prepared so far: those of one multi see each other.
type draft struct {
	tree     *Tree
	caller   Caller
	zxid, at int64
	changed  map[string]*record
}

// record is what later operations need to know of a node changed by earlier ones.
type record struct {
	gone                       bool
	version, aversion, creates int32
	owner                      int64
	children                   int
	acl                        []ACL
}

func (d *draft) get(path string) (record, bool) {
	if path == "" {
		path = "/"
	}
	if r, ok := d.changed[path]; ok {
		return *r, !r.gone
	}
	n := d.tree.nodes[path]
	if n == nil {
		return record{}, false
	}
	return record{
		version: n.stat.Version, aversion: n.stat.Aversion, creates: n.creates,
		owner: n.stat.EphemeralOwner, children: len(n.children), acl: n.acl,
	}, true
}

func (d *draft) put(path string, r record) {
	if path == "" {
		path = "/"
	}
	if d.changed == nil {
		d.changed = map[string]*record{}
	}
	d.changed[path] = &r
}

func (d *draft) txn(code OpCode) Txn {
	return Txn{Zxid: d.zxid, Time: d.at, Session: d.caller.Session, Code: code}
}

func (d *draft) refuse(why Code) Txn {
	txn := d.txn(OpError)
	txn.Err = why
	return txn
}

// multi prepares all operations or none. After a failure the operations before it report OK, those after it
// RuntimeInconsistency.
func (d *draft) multi(op Op) Txn {
	txn := d.txn(OpMulti)
	txn.Ops = make([]Txn, 0, len(op.Ops))
	failed := false
	for _, sub := range op.Ops {
		if failed {
			txn.Ops = append(txn.Ops, d.refuse(RuntimeInconsistency))
			continue
		}
		prepared := d.one(sub)
		if prepared.Err == MarshallingError { // by a null ID, which fails the whole multi
			return d.refuse(MarshallingError)
		}
		txn.Ops = append(txn.Ops, prepared)
		if prepared.Code == OpError {
			failed = true
			for i := range txn.Ops[:len(txn.Ops)-1] {
				txn.Ops[i] = d.refuse(OK)
			}
		}
	}
	return txn
}

func (d *draft) one(op Op) Txn {
	if _, known := d.tree.sessions[d.caller.Session]; !known && d.caller.Session != 0 && op.Code != OpCreateSession &&
		op.Code != OpCloseSession {
		return d.refuse(SessionExpired)
	}
	switch op.Code {
	case OpCreate, OpCreate2, OpCreateContainer, OpCreateTTL:
		return d.create(op)
	case OpDelete:
		return d.delete(op)
	case OpDeleteContainer:
		return d.deleteContainer(op)
	case OpSetData:
		return d.setData(op)
	case OpSetACL:
		return d.setACL(op)
	case OpCheck:
		return d.check(op)
	case OpCreateSession:
		txn := d.txn(OpCreateSession)
		txn.Version = op.Number
		return txn
	case OpCloseSession:
		txn := d.txn(OpCloseSession)
		txn.Ephemerals = d.tree.Ephemerals(d.caller.Session)
		return txn
	case OpSetSequence:
		return d.setSequence(op)
	}
	return d.refuse(Unimplemented)
}

func (d *draft) create(op Op) Txn {
	sequential := op.Mode == PersistentSequential || op.Mode == EphemeralSequential || op.Mode == SequentialTTL
	ephemeral := op.Mode == Ephemeral || op.Mode == EphemeralSequential
	switch {
	case op.Mode < Persistent || op.Mode > SequentialTTL:
		return d.refuse(BadArguments)
	case timed(op) && !d.tree.extended:
		return d.refuse(Unimplemented)
	case timed(op) && (op.TTL <= 0 || op.TTL > maxTTL), op.Code == OpCreateTTL && !timed(op):
		return d.refuse(BadArguments)
	case ephemeral && d.caller.Session == 0:
		return d.refuse(SessionExpired)
	}
	parentPath, _, ok := split(op.Path)
	if !ok {
		return d.refuse(BadArguments)
	}
	acl, code := settle(op.ACL, d.caller.Auth, d.tree.schemes)
	if code != OK {
		return d.refuse(code)
	}
	parent, ok := d.get(parentPath)
	if !ok {
		return d.refuse(NoNode)
	}
	if code := allowed(parent.acl, PermCreate, d.caller.Auth); code != OK {
		return d.refuse(code)
	}
	path := op.Path
	if sequential {
		path += fmt.Sprintf("%010d", parent.creates)
	}
	if !validPath(path) {
		return d.refuse(BadArguments)
	}
	if _, exists := d.get(path); exists {
		return d.refuse(NodeExists)
	}
	if owned(parent.owner) {
		return d.refuse(NoChildrenForEphemerals)
	}
	txn := d.txn(op.Code)
	txn.Path, txn.Data, txn.ACL = path, op.Data, acl
	switch {
	case op.Code == OpCreateContainer:
		txn.Owner = ContainerOwner
	case timed(op):
		txn.Owner = ttlOwner | op.TTL
	case ephemeral:
		txn.Owner = d.caller.Session
	}
	parent.creates++
	parent.children++
	txn.Creates = parent.creates
	d.put(parentPath, parent)
	d.put(path, record{owner: txn.Owner, acl: acl})
	return txn
}

func (d *draft) delete(op Op) Txn {
	parentPath, _, ok := split(op.Path)
	if !ok || ownPath(op.Path) {
		return d.refuse(BadArguments)
	}
	parent, ok := d.get(parentPath)
	if !ok {
		return d.refuse(NoNode)
	}
	if code := allowed(parent.acl, PermDelete, d.caller.Auth); code != OK {
		return d.refuse(code)
	}
	n, ok := d.get(op.Path)
	switch {
	case !ok:
		return d.refuse(NoNode)
	case op.Version != AnyVersion && op.Version != n.version:
		return d.refuse(BadVersion)
	case n.children > 0:
		return d.refuse(NotEmpty)
	}
	return d.remove(op, parentPath, parent)
}

func (d *draft) deleteContainer(op Op) Txn {
	parentPath, _, ok := split(op.Path)
	if !ok || ownPath(op.Path) {
		return d.refuse(BadArguments)
	}
	n, ok := d.get(op.Path)
	switch {
	case !ok:
		return d.refuse(NoNode)
	case n.children > 0:
		return d.refuse(NotEmpty)
	case owned(n.owner):
		return d.refuse(BadVersion)
	}
	parent, _ := d.get(parentPath)
	return d.remove(op, parentPath, parent)
}

func (d *draft) remove(op Op, parentPath string, parent record) Txn {
	txn := d.txn(op.Code)
	txn.Path = op.Path
	parent.children--
	d.put(parentPath, parent)
	d.put(op.Path, record{gone: true})
	return txn
}

// existing returns a node that the caller may access with perms.
func (d *draft) existing(path string, perms int32) (record, Code) {
	if !validPath(path) {
		return record{}, BadArguments
	}
	n, ok := d.get(path)
	if !ok {
		return record{}, NoNode
	}
	return n, allowed(n.acl, perms, d.caller.Auth)
}

func (d *draft) setData(op Op) Txn {
	n, code := d.existing(op.Path, PermWrite)
	switch {
	case code != OK:
		return d.refuse(code)
	case op.Version != AnyVersion && op.Version != n.version:
		return d.refuse(BadVersion)
	}
	n.version++
	d.put(op.Path, n)
	txn := d.txn(OpSetData)
	txn.Path, txn.Data, txn.Version = op.Path, op.Data, n.version
	return txn
}

func (d *draft) setACL(op Op) Txn {
	if !validPath(op.Path) {
		return d.refuse(BadArguments)
	}
	acl, code := settle(op.ACL, d.caller.Auth, d.tree.schemes)
	if code != OK {
		return d.refuse(code)
	}
	n, code := d.existing(op.Path, PermAdmin)
	switch {
	case code != OK:
		return d.refuse(code)
	case op.Version != AnyVersion && op.Version != n.aversion:
		return d.refuse(BadVersion)
	}
	n.aversion++
	n.acl = acl
	d.put(op.Path, n)
	txn := d.txn(OpSetACL)
	txn.Path, txn.ACL, txn.Version = op.Path, acl, n.aversion
	return txn
}

func (d *draft) check(op Op) Txn {
	n, code := d.existing(op.Path, PermRead)
	switch {
	case code != OK:
		return d.refuse(code)
	case op.Version != AnyVersion && op.Version != n.version:
		return d.refuse(BadVersion)
	}
	txn := d.txn(OpCheck)
	txn.Path = op.Path
	return txn
}

func (d *draft) setSequence(op Op) Txn {
	n, code := d.existing(op.Path, PermAdmin)
	if code != OK {
		return d.refuse(code)
	}
	n.creates = op.Number
	d.put(op.Path, n)
	txn := d.txn(OpSetSequence)
	txn.Path, txn.Version = op.Path, op.Number
	return txn
}
