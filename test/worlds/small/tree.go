package small

import (
	"cmp"
	"path"
	"slices"
	"strings"

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
	dirs   []string
	plan   machines.ShardPlan // the assignment of shards

	planned   int64 // when that was written
	changedAt int64 // when the list of members was changed last
}

// node is one child of a directory.
type node struct {
	name         string // below the directory of all
	czxid, mzxid int64
	owner        int64                // ZooKeeper's id of the session
	who          int                  // which participant, as the data says
	says         machines.ShardMember // if it is of one
}

func newTree(dirs []string) tree { return tree{server: oneserver.New(1000), zxid: 1000, dirs: dirs} }

// changed takes the line down as the server has it now.
func (t *tree) changed(told []zkmem.Event) []zkmem.Event {
	before := *t
	t.zxid, t.dir, t.nodes = t.server.Zxid(), t.server.Stat(dir) != nil, nil
	for _, line := range t.dirs {
		for _, name := range t.server.Children(strings.TrimSuffix(dir+"/"+line, "/")) {
			path := dir + "/" + line + name
			stat := t.server.Stat(path)
			n, known := before.find(path)
			if !known || n.czxid != stat.Czxid || n.mzxid != stat.Mzxid {
				n = newNode(line+name, stat, t.server.Data(path))
			}
			t.nodes = append(t.nodes, n)
		}
	}
	if len(t.dirs) > 1 {
		t.noteGroup()
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
	if len(ev.Children) > 0 && len(t.dirs) == 1 { // by name is by GUID, which may decide nothing
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

// targets returns how many nodes an operator may delete or set: those of all lines, and the assignment of shards.
func (t *tree) targets() int {
	if t.planned != 0 {
		return len(t.nodes) + 1
	}
	return len(t.nodes)
}

// target returns the path of one of them.
func (t *tree) target(i int) string {
	if i == len(t.nodes) {
		return machines.ShardAssignment(dir)
	}
	return dir + "/" + t.nodes[i].name
}

// remove has an operator delete a node.
func (t *tree) remove(i int) []zkmem.Event {
	return t.changed(t.server.Delete(t.target(i)))
}

// set has an operator change a node's data, to what they are.
func (t *tree) set(i int) []zkmem.Event {
	path := t.target(i)
	return t.changed(t.server.Operate(
		zkmem.Op{Code: zkmem.OpSetData, Path: path, Data: t.server.Data(path), Version: zkmem.AnyVersion}))
}

// isMember reports whether a node is one of a member that owns shards.
func (n node) isMember() bool { return machines.IsShardMember(n.base()) }

// base returns the last part of a node's name.
func (n node) base() string { return path.Base(n.name) }

// newNode returns a node as the server has it.
func newNode(name string, stat *events.Stat, data []byte) node {
	n := node{name: name, czxid: stat.Czxid, mzxid: stat.Mzxid, owner: stat.EphemeralOwner}
	if n.isMember() {
		n.says, _ = machines.ParseShardMember(data)
	}
	n.who = int(cmp.Or(n.says.ID, string(data))[0] - 'A')
	return n
}

// noteGroup takes down what is new of a group of members.
func (t *tree) noteGroup() {
	list, _ := t.server.Do(0, events.Children{Path: machines.ShardMembers(dir)})
	if list.Stat != nil {
		t.changedAt = list.Stat.Pzxid
	}
	path, planned := machines.ShardAssignment(dir), int64(0)
	if stat := t.server.Stat(path); stat != nil {
		planned = stat.Mzxid
	}
	if planned != t.planned {
		t.planned = planned
		t.plan, _ = machines.ParseShardPlan(t.server.Data(path))
	}
}

// since returns the event, and the path, of a watch that was set when the server had come to a zxid; no kind: nothing
// has happened to what it watches.
func (t *tree) since(key string, zxid int64) (events.Kind, string) {
	if at, created := strings.CutPrefix(key, missing); created {
		if t.server.Stat(at) != nil {
			return events.WatchCreated, at
		}
		return "", at
	}
	at, children := strings.CutSuffix(key, "/")
	stat := t.server.Stat(at)
	switch {
	case stat == nil:
		return events.WatchDeleted, at
	case !children && stat.Mzxid > zxid:
		return events.WatchChanged, at
	case children:
		now := t.server
		if list, _ := now.Do(0, events.Children{Path: at}); list.Stat.Pzxid > zxid {
			return events.WatchChildren, at
		}
	}
	return "", at
}

// inOrder returns watches in the order in which their nodes were created.
func (t *tree) inOrder(keys []string) []string {
	rank := func(key string) int64 {
		if stat := t.server.Stat(strings.TrimSuffix(strings.TrimPrefix(key, missing), "/")); stat != nil {
			return stat.Czxid
		}
		return 0
	}
	keys = slices.Clone(keys)
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b)) })
	return keys
}

// end removes all nodes of a session, in one transaction.
func (t *tree) end(session int64) []zkmem.Event { return t.changed(t.server.End(session)) }

// number returns the number at the end of a place's name.
func number(name string) int64 {
	p, _ := machines.ParsePlace(path.Base(name), machines.LatchLabel)
	return p.Sequence
}
