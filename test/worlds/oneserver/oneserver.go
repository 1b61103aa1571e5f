// Package oneserver is an ensemble of one server that only stores: zkmem's tree,
// asked in the words of machines. It has no connection, clock or watch. Its
// users decide what is late or lost: test/worlds/small goes through every such order, the
// random walks of machines draw one.
package oneserver

import (
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// Server is one state of the server. It is a value: a copy is a fork, and no change
// of one shows in the other.
type Server struct{ tree *zkmem.Tree }

// New returns a server without nodes or sessions, whose next transaction is the one
// after zxid.
func New(zxid int64) Server {
	s := Server{zkmem.NewTree()}
	s.apply(zkmem.Txn{Zxid: zxid, Code: zkmem.OpError})
	return s
}

// Zxid returns the number of the last transaction.
func (s Server) Zxid() int64 { return s.tree.Zxid() }

// Open makes a session. No transaction is counted for it.
func (s *Server) Open(session int64) {
	s.apply(zkmem.Txn{Zxid: s.Zxid(), Session: session, Code: zkmem.OpCreateSession})
}

// End ends a session: its nodes go in one transaction.
func (s *Server) End(session int64) []zkmem.Event {
	_, told := s.write(zkmem.Caller{Session: session}, zkmem.Op{Code: zkmem.OpCloseSession})
	return told
}

// Sessions returns the sessions that have not ended.
func (s Server) Sessions() []int64 { return s.tree.Sessions() }

// Do carries out a session's request. It returns the reply, of which the machine's
// side has to be added, and what watches are told of. A request that is refused
// changes nothing and is not counted as a transaction.
func (s *Server) Do(session int64, r events.Request) (events.Event, []zkmem.Event) {
	switch r := r.(type) {
	case events.Get:
		return s.stat(r.Path, r.Data), nil
	case events.Exists:
		return s.stat(r.Path, false), nil
	case events.Children:
		names, stat, err := s.tree.Children(r.Path)
		ev := events.Event{Code: code(err), Children: slices.Clone(names)}
		if err == nil {
			ev.Stat = view(stat)
			ev.Stat.Pzxid = stat.Pzxid
		}
		return ev, nil
	case events.Sync:
		return events.Event{Zxid: s.Zxid()}, nil
	}
	result, told := s.write(zkmem.Caller{Session: session}, operation(r))
	if result.Err != zkmem.OK {
		return events.Event{Code: code(result.Err), Path: atFault(r, result)}, nil
	}
	ev := events.Event{Zxid: s.Zxid()}
	switch r.(type) {
	case events.Create:
		ev.Path = result.Path
		for _, sub := range result.Results {
			ev.Path = sub.Path
		}
	case events.Multi:
		for _, sub := range result.Results {
			if sub.Code == zkmem.OpCreate {
				ev.Children = append(ev.Children, sub.Path)
			}
		}
	}
	return ev, told
}

// Operate carries out what an operator does.
func (s *Server) Operate(op zkmem.Op) []zkmem.Event {
	_, told := s.write(zkmem.Operator(), op)
	return told
}

// Put makes a node, of a session if owner is one, and returns its path.
func (s *Server) Put(path string, mode zkmem.Mode, owner int64) (string, []zkmem.Event) {
	who := zkmem.Operator()
	if owner != 0 {
		who.Session = owner
	}
	result, told := s.write(who, zkmem.Op{Code: zkmem.OpCreate, Path: path, Mode: mode, ACL: zkmem.OpenACL()})
	return result.Path, told
}

// Set changes a node's data.
func (s *Server) Set(path string) []zkmem.Event {
	return s.Operate(zkmem.Op{Code: zkmem.OpSetData, Path: path, Version: zkmem.AnyVersion})
}

// Delete deletes a node that has no children.
func (s *Server) Delete(path string) []zkmem.Event {
	return s.Operate(zkmem.Op{Code: zkmem.OpDelete, Path: path, Version: zkmem.AnyVersion})
}

// Stat returns a node's, nil where there is none.
func (s Server) Stat(path string) *events.Stat { return s.stat(path, false).Stat }

// Data returns a node's data.
func (s Server) Data(path string) []byte {
	data, _, _ := s.tree.Get(path)
	return data
}

// Children returns the names of a node's children, sorted.
func (s Server) Children(path string) []string {
	names, _, _ := s.tree.Children(path)
	return slices.Clone(names)
}

// Paths returns all nodes but ZooKeeper's own, sorted.
func (s Server) Paths() []string { return s.below("/", nil) }

func (s Server) below(dir string, all []string) []string {
	for _, name := range s.Children(dir) {
		if path := strings.TrimSuffix(dir, "/") + "/" + name; path != "/zookeeper" {
			all = s.below(path, append(all, path))
		}
	}
	return all
}

func view(s zkmem.Stat) *events.Stat {
	return &events.Stat{Czxid: s.Czxid, Mzxid: s.Mzxid, EphemeralOwner: s.EphemeralOwner, Version: s.Version,
		NumChildren: s.NumChildren}
}

func (s Server) stat(path string, data bool) events.Event {
	bytes, stat, err := s.tree.Get(path)
	if err != nil {
		return events.Event{Code: code(err)}
	}
	ev := events.Event{Stat: view(stat)}
	if data {
		ev.Data = bytes
	}
	return ev
}

// write carries out an operation, unless it is refused.
func (s *Server) write(who zkmem.Caller, op zkmem.Op) (zkmem.Result, []zkmem.Event) {
	txn := s.tree.Prepare(who, op, s.Zxid()+1, 0)
	refused := txn.Code == zkmem.OpError ||
		slices.ContainsFunc(txn.Ops, func(sub zkmem.Txn) bool { return sub.Code == zkmem.OpError })
	if refused {
		return s.tree.Clone().Apply(txn)
	}
	return s.apply(txn)
}

// apply makes a new tree: copies of the server have the old one.
func (s *Server) apply(txn zkmem.Txn) (zkmem.Result, []zkmem.Event) {
	s.tree = s.tree.Clone()
	return s.tree.Apply(txn)
}

var modes = map[events.Mode]zkmem.Mode{events.Ephemeral: zkmem.Ephemeral,
	events.EphemeralSequential:  zkmem.EphemeralSequential,
	events.PersistentSequential: zkmem.PersistentSequential}

var verbs = map[string]zkmem.OpCode{"check": zkmem.OpCheck, "delete": zkmem.OpDelete, "set": zkmem.OpSetData,
	"create": zkmem.OpCreate}

// operation returns a request that writes, as the tree takes it.
func operation(r events.Request) zkmem.Op {
	switch r := r.(type) {
	case events.Create:
		if ops := r.Ops(); ops != nil {
			return operation(events.Multi{Ops: ops})
		}
		op := zkmem.Op{Code: zkmem.OpCreate, Path: r.Path, Data: r.Data, Mode: modes[r.Mode], ACL: zkmem.OpenACL()}
		if r.Mode == events.Container {
			op.Code = zkmem.OpCreateContainer
		}
		return op
	case events.Delete:
		return zkmem.Op{Code: zkmem.OpDelete, Path: r.Path, Version: zkmem.AnyVersion}
	case events.Multi:
		op := zkmem.Op{Code: zkmem.OpMulti}
		for _, sub := range r.Ops {
			op.Ops = append(op.Ops,
				zkmem.Op{Code: verbs[sub.Verb], Path: sub.Path, Data: sub.Data, Mode: modes[sub.Mode],
					Version: sub.Version, ACL: zkmem.OpenACL()})
		}
		return op
	}
	return zkmem.Op{}
}

// atFault returns the path of the operation for which a multi was refused.
func atFault(r events.Request, result zkmem.Result) string {
	multi, _ := r.(events.Multi)
	if create, is := r.(events.Create); is {
		multi.Ops = create.Ops()
	}
	for i, sub := range result.Results {
		if sub.Err == result.Err {
			return multi.Ops[i].Path
		}
	}
	return ""
}

var codes = map[zkmem.Code]events.Code{zkmem.NoNode: events.NoNode, zkmem.NodeExists: events.NodeExists,
	zkmem.BadVersion: events.BadVersion,
	zkmem.NotEmpty:   events.NotEmpty, zkmem.SessionExpired: events.SessionExpired,
	zkmem.BadArguments:            events.BadArguments,
	zkmem.NoChildrenForEphemerals: events.NoChildrenOfEphemerals}

func code(err error) events.Code {
	why, _ := err.(zkmem.Code)
	if why == zkmem.OK {
		return events.OK
	}
	if known, ok := codes[why]; ok {
		return known
	}
	return events.ServerError
}

// Kind returns the watch event that tells of a change.
func Kind(t zkmem.EventType) events.Kind {
	switch t {
	case zkmem.NodeCreated:
		return events.WatchCreated
	case zkmem.NodeDeleted:
		return events.WatchDeleted
	case zkmem.NodeDataChanged:
		return events.WatchChanged
	}
	return events.WatchChildren
}
