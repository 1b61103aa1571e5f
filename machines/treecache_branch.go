package machines

import (
	"iter"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/events"
)

// branch is one node that a tree cache knows.
type branch struct {
	path   string
	parent *branch
	kids   []*branch // by name
	level  int       // below the top
	dead   bool      // it has left the cache

	self  look // of the node's data
	below look // of its children

	told    bool // it was read, and that was told
	listed  bool // its children were, and the watch on them may stand
	spent   bool // it was deleted: what is listed at its path after that is another
	refused events.Code
	czxid   int64
	version int32
}

// look is one of the two reads of a node.
type look struct {
	of      *branch
	due     bool   // it has to be sent, or sent again
	request uint64 // the one under way
}

func newBranch(parent *branch, path string) *branch {
	b := &branch{path: path, parent: parent}
	if parent != nil {
		b.level = parent.level + 1
	}
	b.self.of, b.below.of = b, b
	return b
}

func (b *branch) name() string { return base(b.path) }

// count is how many nodes it is, with all below it.
func (b *branch) count() int {
	n := 1
	for _, kid := range b.kids {
		n += kid.count()
	}
	return n
}

// kid is where the child of this name stands, or would.
func (b *branch) kid(name string) (int, bool) {
	return slices.BinarySearchFunc(b.kids, name, func(kid *branch, name string) int { return strings.Compare(kid.name(), name) })
}

// abreast are the children as they are known and as they are listed, by name: no
// branch for one that is new, no name for one that is gone.
func (b *branch) abreast(listing []string) iter.Seq2[*branch, string] {
	names := slices.Compact(slices.Sorted(slices.Values(listing)))
	names = slices.DeleteFunc(names, func(name string) bool { return name == "" || strings.Contains(name, "/") }) // no server says so
	return func(yield func(*branch, string) bool) {
		kids := b.kids
		for len(kids)+len(names) > 0 {
			var kid *branch
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

// find is the node with this path, nil when it is not known.
func (t *treeCache) find(path string) *branch {
	if path == t.path {
		return t.root
	}
	rest, below := strings.CutPrefix(path, join(t.path, ""))
	b := t.root
	for below {
		var name string
		name, rest, below = strings.Cut(rest, "/")
		i, known := b.kid(name)
		if !known {
			return nil
		}
		b = b.kids[i]
	}
	return b
}
