package small

import (
	"cmp"
	"slices"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/test/worlds/oneserver"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// dir is the directory of the one line.
const dir = "/l"

// tree is what a ZooKeeper server shows of the line. It is a value: a copy stays as
// it is.
type tree struct {
	server oneserver.Server
	zxid   int64
	dir    bool
	nodes  []node // in order of creation
}

// node is one child of the directory.
type node struct {
	name         string
	czxid, mzxid int64
	owner        int64 // ZooKeeper's id of the session
	who          int   // which participant, as the data says
}

func newTree() tree { return tree{server: oneserver.New(1000), zxid: 1000} }

// changed takes the line down as the server has it now.
func (t *tree) changed(told []zkmem.Event) []zkmem.Event {
	t.zxid, t.dir, t.nodes = t.server.Zxid(), t.server.Stat(dir) != nil, nil
	for _, name := range t.server.Children(dir) {
		path := dir + "/" + name
		stat := t.server.Stat(path)
		t.nodes = append(t.nodes, node{name, stat.Czxid, stat.Mzxid, stat.EphemeralOwner, int(t.server.Data(path)[0] - 'A')})
	}
	slices.SortFunc(t.nodes, func(a, b node) int { return cmp.Compare(a.czxid, b.czxid) })
	return told
}

func (t *tree) find(path string) (node, bool) {
	for _, n := range t.nodes {
		if dir+"/"+n.name == path {
			return n, true
		}
	}
	return node{}, false
}

// do carries out a session's request.
func (t *tree) do(session int64, r events.Request) (events.Event, []zkmem.Event) {
	ev, told := t.server.Do(session, r)
	if len(ev.Children) > 0 { // by name is by GUID, which may decide nothing
		ev.Children = ev.Children[:0]
		for _, n := range t.nodes {
			ev.Children = append(ev.Children, n.name)
		}
	}
	if !reads(r) {
		t.changed(told)
	}
	return ev, told
}

// remove has an operator delete a node.
func (t *tree) remove(i int) []zkmem.Event {
	return t.changed(t.server.Delete(dir + "/" + t.nodes[i].name))
}

// set has an operator change a node's data, to what they are.
func (t *tree) set(i int) []zkmem.Event {
	path := dir + "/" + t.nodes[i].name
	return t.changed(t.server.Operate(zkmem.Op{Code: zkmem.OpSetData, Path: path, Data: t.server.Data(path), Version: zkmem.AnyVersion}))
}

// end removes all nodes of a session, in one transaction.
func (t *tree) end(session int64) []zkmem.Event { return t.changed(t.server.End(session)) }

// number returns the number at the end of a place's name.
func number(name string) int64 {
	p, _ := machines.ParsePlace(name, machines.LatchLabel)
	return p.Sequence
}
