// Package tree keeps the nodes of a tree by their paths.
package tree

import (
	"iter"
	"slices"
	"strings"
)

// Tree has values by the paths of nodes, from a top node on. Its methods are not safe for concurrent use.
type Tree[V any] struct {
	top   string
	nodes map[string]*node[V]
}

// node is a value with the names of its children, in order.
type node[V any] struct {
	value V
	names []string
}

// New returns an empty tree.
func New[V any](top string) Tree[V] { return Tree[V]{top, map[string]*node[V]{}} }

// Get returns the value of a node; false if there is none.
func (t Tree[V]) Get(path string) (value V, known bool) {
	if n := t.nodes[path]; n != nil {
		value, known = n.value, true
	}
	return value, known
}

// Set sets the value of a node, whose parent is there unless it is the top.
func (t Tree[V]) Set(path string, value V) {
	n := t.nodes[path]
	if n == nil {
		n = &node[V]{}
		t.nodes[path] = n
		t.list(path, true)
	}
	n.value = value
}

// Remove removes a node that has no children.
func (t Tree[V]) Remove(path string) {
	delete(t.nodes, path)
	t.list(path, false)
}

// Children returns the values of a node's children, in alphabetical order.
func (t Tree[V]) Children(path string) (all []V) {
	for child := range t.below(path) {
		all = append(all, t.nodes[child].value)
	}
	return all
}

// All returns all values, each before those of its children, and these in alphabetical order.
func (t Tree[V]) All() []V {
	all := make([]V, 0, len(t.nodes))
	var add func(path string)
	add = func(path string) {
		if n := t.nodes[path]; n != nil {
			all = append(all, n.value)
			for child := range t.below(path) {
				add(child)
			}
		}
	}
	add(t.top)
	return all
}

// below returns the paths of a node's children.
func (t Tree[V]) below(path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		n := t.nodes[path]
		if n == nil {
			return
		}
		for _, name := range n.names {
			if !yield(strings.TrimSuffix(path, "/") + "/" + name) {
				return
			}
		}
	}
}

// list adds a node to its parent's children, or removes it.
func (t Tree[V]) list(path string, in bool) {
	slash := strings.LastIndexByte(path, '/')
	parent := t.nodes[path[:max(slash, 1)]]
	if path == t.top || parent == nil {
		return
	}
	i, known := slices.BinarySearch(parent.names, path[slash+1:])
	switch {
	case in: // the node is new
		parent.names = slices.Insert(parent.names, i, path[slash+1:])
	case known:
		parent.names = slices.Delete(parent.names, i, i+1)
	}
}
