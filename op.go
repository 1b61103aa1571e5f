package incumbent

import (
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio"
)

// Stat is what ZooKeeper has about a node, apart from its data.
type Stat struct {
	Czxid, Mzxid   int64     // transactions that created the node, and that wrote its data last
	Ctime, Mtime   time.Time // when those were, by the ensemble's clock, in UTC
	Version        int32     // how often its data were written
	Cversion       int32     // how often children were created or deleted
	Aversion       int32     // how often its access list was changed
	EphemeralOwner int64     // ZooKeeper's id of the session that owns it; 0 for every other type of node
	DataLength     int32     // bytes
	NumChildren    int32
	Pzxid          int64 // transaction that created or deleted a child last
}

// Node is the result of a read of a node.
type Node struct {
	Data []byte // foreign bytes, as a rule: escape them before showing them
	Stat Stat
}

// sequential are the modes that add a number to the name.
var sequential = map[events.Mode]bool{
	events.PersistentSequential: true, events.EphemeralSequential: true, events.PersistentSequentialTTL: true,
}

// Op is one operation of Client.Multi or Leadership.Write: SetData, CreateNode, DeleteNode
// and CheckVersion return one.
type Op struct {
	Verb    string      // "set", "create", "delete" or "check"
	Path    string      // the node
	Mode    events.Mode // create: the type of node, as in CreateNode
	Data    []byte      // set, create
	Version int32       // set, delete, check: the version that the node must have, or AnyVersion
}

// OpResult is the outcome of one operation of Client.Multi or Leadership.Write.
type OpResult struct {
	Code events.Code // why it was refused, in ZooKeeper's words; empty if it was not
	Path string      // create: the node's real path
	Stat *Stat       // set: the node's new Stat
}

// AnyVersion makes an operation apply to a node of any version. ZooKeeper counts on after 2147483647 at -2147483648, so
// a node that is written often enough has this version itself for one write: no operation alone can depend on that.
const AnyVersion int32 = -1

// SetData replaces a node's data if the node has this version.
func SetData(path string, data []byte, version int32) Op {
	return Op{Verb: "set", Path: path, Data: data, Version: version}
}

// CreateNode creates a persistent node, with the access list of Config.ACL.
func CreateNode(path string, data []byte) Op {
	return Op{Verb: "create", Path: path, Mode: events.Persistent, Data: data}
}

// DeleteNode deletes a node if it has this version.
func DeleteNode(path string, version int32) Op {
	return Op{Verb: "delete", Path: path, Version: version}
}

// CheckVersion makes the whole write depend on a node's version.
func CheckVersion(path string, version int32) Op {
	return Op{Verb: "check", Path: path, Version: version}
}

// event returns the operation as machines and zkio have it.
func (o Op) event() events.Op {
	return events.Op{Verb: o.Verb, Path: o.Path, Mode: o.Mode, Data: o.Data, Version: o.Version}
}

func opEvents(ops []Op) []events.Op {
	all := make([]events.Op, len(ops))
	for i, op := range ops {
		all[i] = op.event()
	}
	return all
}

// opResults returns results as users see them; nil if there are none.
func opResults(results []zkio.OpResult) []OpResult {
	if results == nil {
		return nil
	}
	all := make([]OpResult, len(results))
	for i, r := range results {
		all[i] = OpResult{r.Code, r.Path, (*Stat)(r.Stat)}
	}
	return all
}
