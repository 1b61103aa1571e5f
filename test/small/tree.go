package small

import (
	"fmt"
	"slices"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// dir is the directory of the one line.
const dir = "/l"

// tree is what a ZooKeeper server shows of the line: one directory and its
// children. It is a value: nodes are never changed in place.
type tree struct {
	dir   bool
	count int32 // the directory's counter of creates
	zxid  int64
	nodes []node // in order of creation
}

// node is one child of the directory.
type node struct {
	name         string
	czxid, mzxid int64
	owner        int64 // ZooKeeper's id of the session
	who          int   // which participant, as the data says
}

// change is what watches are told of.
type change struct {
	kind events.Kind
	path string
}

func (t *tree) find(path string) (node, bool) {
	for _, n := range t.nodes {
		if dir+"/"+n.name == path {
			return n, true
		}
	}
	return node{}, false
}

// exists reports whether a node, or the directory, is there.
func (t *tree) exists(path string) bool {
	if path == dir {
		return t.dir
	}
	_, found := t.find(path)
	return found
}

func (t *tree) children() []string {
	names := make([]string, len(t.nodes))
	for i, n := range t.nodes {
		names[i] = n.name
	}
	return names
}

// create makes the directory, or a sequential ephemeral node in it.
func (t *tree) create(e events.Create, owner int64, who int) (path string, code events.Code) {
	if e.Path == dir {
		if t.dir {
			return "", events.NodeExists
		}
		t.zxid++
		t.dir = true
		return dir, events.OK
	}
	if !t.dir {
		return "", events.NoNode
	}
	t.zxid++
	path = fmt.Sprintf("%s%010d", e.Path, t.count)
	t.count++
	t.nodes = append(slices.Clip(t.nodes), node{path[len(dir)+1:], t.zxid, t.zxid, owner, who})
	return path, events.OK
}

// remove deletes a node.
func (t *tree) remove(path string) (told []change, code events.Code) {
	if _, found := t.find(path); !found {
		return nil, events.NoNode
	}
	t.zxid++
	t.nodes = slices.DeleteFunc(slices.Clone(t.nodes), func(n node) bool { return dir+"/"+n.name == path })
	return []change{{events.WatchDeleted, path}, {events.WatchChildren, dir}}, events.OK
}

// end removes all nodes of a session, in one transaction.
func (t *tree) end(owner int64) (told []change) {
	for _, n := range t.nodes {
		if n.owner == owner {
			told = append(told, change{events.WatchDeleted, dir + "/" + n.name}, change{events.WatchChildren, dir})
		}
	}
	t.zxid++
	t.nodes = slices.DeleteFunc(slices.Clone(t.nodes), func(n node) bool { return n.owner == owner })
	return told
}

// set changes a node's data.
func (t *tree) set(i int) []change {
	t.zxid++
	t.nodes = slices.Clone(t.nodes)
	t.nodes[i].mzxid = t.zxid
	return []change{{events.WatchChanged, dir + "/" + t.nodes[i].name}}
}

// number is the number at the end of a place's name.
func number(name string) int64 {
	p, _ := machines.ParsePlace(name, machines.LatchLabel)
	return p.Sequence
}

func (n node) stat() *events.Stat {
	return &events.Stat{Czxid: n.czxid, Mzxid: n.mzxid, EphemeralOwner: n.owner}
}
