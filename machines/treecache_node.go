package machines

import (
	"iter"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/events"
)

// cachedNode is one node that a tree cache knows.
type cachedNode struct {
	path     string
	parent   *cachedNode
	children []*cachedNode // by name
	level    int           // levels below the top
	dead     bool          // it has left the cache

	self  look // of the node's data
	below look // of its children

	told    bool // it was read, and the handle was notified
	listed  bool // its children were listed, and the watch on them may be armed
	deleted bool // it was deleted: a node that is listed at its path after that is another
	gone    bool // a recursive watch has reported its deletion, and it was not read since
	refused events.Code
	czxid   int64
	version int32
}

// look is the state of one of the two reads of a node.
type look struct {
	due     bool   // it has to be sent, or sent again
	request uint64 // the number of the one that is pending
}

// read is one of the two reads of a node.
type read struct {
	of      *cachedNode
	listing bool // of its children, not of its data
}

func (r read) state() *look {
	if r.listing {
		return &r.of.below
	}
	return &r.of.self
}

func newCachedNode(parent *cachedNode, path string) *cachedNode {
	b := &cachedNode{path: path, parent: parent}
	if parent != nil {
		b.level = parent.level + 1
	}
	return b
}

func (b *cachedNode) name() string { return base(b.path) }

// count returns the number of nodes from this one down that were not reported as gone.
func (b *cachedNode) count() int {
	n := 1
	if b.gone {
		n = 0
	}
	for _, kid := range b.children {
		n += kid.count()
	}
	return n
}

// findChild returns the index at which the child of this name is, or would be.
func (b *cachedNode) findChild(name string) (int, bool) {
	return slices.BinarySearchFunc(b.children, name, func(kid *cachedNode, name string) int {
		return strings.Compare(kid.name(), name)
	})
}

// pairChildren returns the known children and the listed ones, paired by name: no node for a new
// child, no name for one that is gone.
func (b *cachedNode) pairChildren(listing []string) iter.Seq2[*cachedNode, string] {
	names := slices.Compact(slices.Sorted(slices.Values(listing)))
	// no server sends such names
	names = slices.DeleteFunc(names, func(name string) bool { return name == "" || strings.Contains(name, "/") })
	return func(yield func(*cachedNode, string) bool) {
		kids := b.children
		for len(kids)+len(names) > 0 {
			var kid *cachedNode
			var name string
			if len(names) == 0 || len(kids) > 0 && kids[0].name() <= names[0] {
				kid, kids = kids[0], kids[1:]
			}
			if kid == nil || len(names) > 0 && kid.name() == names[0] {
				name, names = names[0], names[1:]
			}
			if !yield(kid, name) {
				return
			}
		}
	}
}

// find returns the node with this path, nil if it is not known.
func (t *treeCache) find(path string) *cachedNode {
	if b, name := t.nearest(path); name == "" {
		return b
	}
	return nil
}

// nearest returns the known node that is nearest to a path, from the top down, and the name of the next
// one: "" if the node at the path itself is known. It returns no node for a path that is not in the tree.
func (t *treeCache) nearest(path string) (b *cachedNode, name string) {
	if path == t.path {
		return t.root, ""
	}
	rest, below := strings.CutPrefix(path, join(t.path, ""))
	if !below {
		return nil, ""
	}
	for b = t.root; below; {
		name, rest, below = strings.Cut(rest, "/")
		i, known := b.findChild(name)
		if !known {
			return b, name
		}
		b = b.children[i]
	}
	return b, ""
}
