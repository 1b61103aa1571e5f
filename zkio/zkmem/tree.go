package zkmem

import (
	"math"
	"slices"
	"strings"
)

// ContainerOwner is the Owner in a Txn that creates a container. A Stat shows 0 instead, and instead of a TTL, as
// ZooKeeper's do.
const ContainerOwner int64 = math.MinInt64

// Tree is ZooKeeper's data: nodes, sessions and the number of the last transaction. It is pure: no clock, no goroutine,
// no lock. It changes by numbered transactions only, in two steps, as in ZooKeeper: [Tree.Prepare] checks a request
// against the tree and makes a [Txn] of it, [Tree.Apply] carries the Txn out. A follower that lags is a second Tree
// that applies the same transactions later.
//
// A Tree is not safe for concurrent use.
type Tree struct {
	zxid       int64
	nodes      map[string]*node
	sessions   map[int64]int32               // session → timeout in milliseconds
	ephemerals map[int64]map[string]struct{} // session → its nodes
	containers map[string]struct{}           // and nodes with a TTL: the server deletes these by itself
	extended   bool                          // nodes with a TTL are accepted
	schemes    schemes                       // of access lists, that not every server knows
	keeper     bool                          // Stats count as ClickHouse Keeper's: see Options.Keeper
}

// node is one znode. children stays sorted. creates counts the children ever created here: it is the sequence
// counter, and half of what a Stat shows as Cversion.
type node struct {
	data     []byte
	acl      []ACL
	stat     Stat // without Cversion, DataLength and NumChildren
	creates  int32
	writes   int32 // of children's data, if they count
	children []string
}

// Stat is what ZooKeeper has about a node, apart from its data. Times are milliseconds since 1970.
type Stat struct {
	Czxid, Mzxid, Ctime, Mtime  int64
	Version, Cversion, Aversion int32
	EphemeralOwner              int64
	DataLength, NumChildren     int32
	Pzxid                       int64
}

// NewTree returns an empty ensemble: the root and ZooKeeper's own nodes below /zookeeper, zxid 0.
func NewTree() *Tree {
	t := &Tree{
		nodes:      map[string]*node{},
		sessions:   map[int64]int32{},
		ephemerals: map[int64]map[string]struct{}{},
		containers: map[string]struct{}{},
	}
	t.nodes["/"] = &node{data: []byte{}, acl: OpenACL(), children: []string{"zookeeper"}}
	t.nodes["/zookeeper"] = &node{data: []byte{}, acl: OpenACL(), children: []string{"config", "quota"}}
	t.nodes["/zookeeper/quota"] = &node{data: []byte{}, acl: OpenACL()}
	t.nodes["/zookeeper/config"] = &node{data: []byte{}, acl: []ACL{{PermRead, "world", "anyone"}},
		stat: Stat{Aversion: -1}}
	return t
}

// Clone returns an independent copy.
func (t *Tree) Clone() *Tree {
	c := &Tree{
		zxid:       t.zxid,
		nodes:      make(map[string]*node, len(t.nodes)),
		sessions:   make(map[int64]int32, len(t.sessions)),
		ephemerals: make(map[int64]map[string]struct{}, len(t.ephemerals)),
		containers: make(map[string]struct{}, len(t.containers)),
		extended:   t.extended,
		schemes:    t.schemes,
		keeper:     t.keeper,
	}
	for path, n := range t.nodes {
		twin := *n
		twin.children = slices.Clone(n.children)
		c.nodes[path] = &twin
	}
	for id, timeout := range t.sessions {
		c.sessions[id] = timeout
	}
	for id, paths := range t.ephemerals {
		c.ephemerals[id] = make(map[string]struct{}, len(paths))
		for path := range paths {
			c.ephemerals[id][path] = struct{}{}
		}
	}
	for path := range t.containers {
		c.containers[path] = struct{}{}
	}
	return c
}

// Zxid returns the number of the last transaction applied.
func (t *Tree) Zxid() int64 { return t.zxid }

// Len returns the number of nodes, the root and ZooKeeper's own included.
func (t *Tree) Len() int { return len(t.nodes) }

// Get returns a node's data and Stat. The data must not be changed. The error is NoNode.
func (t *Tree) Get(path string) ([]byte, Stat, error) {
	n := t.node(path)
	if n == nil {
		return nil, Stat{}, NoNode
	}
	return n.data, n.fullStat(), nil
}

// Lasting reports what a server does with a node by itself, which no Stat shows: whether it is a container, and its TTL
// in milliseconds, 0 if it has none.
func (t *Tree) Lasting(path string) (container bool, ttl int64) {
	n := t.node(path)
	if n == nil || n.stat.EphemeralOwner == 0 || owned(n.stat.EphemeralOwner) {
		return false, 0
	}
	if n.stat.EphemeralOwner == ContainerOwner {
		return true, 0
	}
	return false, n.stat.EphemeralOwner & maxTTL
}

// Exists reports whether there is a node.
func (t *Tree) Exists(path string) bool { return t.node(path) != nil }

// Children returns the names of a node's children, sorted, and the node's Stat. The names must not be changed and are
// valid until the next Apply. The error is NoNode.
func (t *Tree) Children(path string) ([]string, Stat, error) {
	n := t.node(path)
	if n == nil {
		return nil, Stat{}, NoNode
	}
	return n.children, n.fullStat(), nil
}

// ACL returns a node's access list and Stat. The list must not be changed. The error is NoNode.
func (t *Tree) ACL(path string) ([]ACL, Stat, error) {
	n := t.node(path)
	if n == nil {
		return nil, Stat{}, NoNode
	}
	return n.acl, n.fullStat(), nil
}

// Allowed returns nil, NoNode, or NoAuth if none of perms is granted to ids. Reads call it: GetData and GetChildren
// need PermRead; Exists needs nothing.
func (t *Tree) Allowed(path string, perms int32, ids []Auth) error {
	n := t.node(path)
	if n == nil {
		return NoNode
	}
	return allowed(n.acl, perms, ids).err()
}

// Sequence returns the counter that names the next sequential child, or 0 if there is no node.
func (t *Tree) Sequence(path string) int32 {
	if n := t.node(path); n != nil {
		return n.creates
	}
	return 0
}

// Sessions returns the ids of the live sessions, sorted.
func (t *Tree) Sessions() []int64 { return sortedKeys(t.sessions) }

// SessionTimeout returns a session's timeout in milliseconds; ok is false if the tree does not have the session.
func (t *Tree) SessionTimeout(id int64) (ms int32, ok bool) {
	ms, ok = t.sessions[id]
	return ms, ok
}

// Ephemerals returns the paths of a session's nodes, sorted.
func (t *Tree) Ephemerals(session int64) []string { return sortedKeys(t.ephemerals[session]) }

// EphemeralCount returns the number of all sessions' nodes.
func (t *Tree) EphemeralCount() int {
	count := 0
	for _, paths := range t.ephemerals {
		count += len(paths)
	}
	return count
}

// Descendants returns the number of nodes below path.
func (t *Tree) Descendants(path string) int {
	if path == "/" {
		return len(t.nodes) - 1
	}
	count := 0
	for p := range t.nodes {
		if strings.HasPrefix(p, path+"/") {
			count++
		}
	}
	return count
}

// EmptyContainers returns the containers that once had a child and have none now, sorted: a server deletes them by
// OpDeleteContainer from time to time. Expired returns the other nodes that a server deletes by itself.
func (t *Tree) EmptyContainers() []string {
	return t.childless(func(n *node) bool { return n.stat.EphemeralOwner == ContainerOwner && n.creates > 0 })
}

// Expired returns the nodes without children and without a write for longer than their TTL, sorted. at is in
// milliseconds since 1970.
func (t *Tree) Expired(at int64) []string {
	return t.childless(func(n *node) bool {
		return n.stat.EphemeralOwner != ContainerOwner && at-n.stat.Mtime > n.stat.EphemeralOwner&maxTTL
	})
}

// childless returns those nodes without children that a server deletes by itself.
func (t *Tree) childless(ripe func(*node) bool) []string {
	var found []string
	for path := range t.containers {
		if n := t.nodes[path]; len(n.children) == 0 && ripe(n) {
			found = append(found, path)
		}
	}
	slices.Sort(found)
	return found
}

// AllowTTL makes the tree accept nodes with a TTL, as zookeeper.extendedTypesEnabled=true does.
func (t *Tree) AllowTTL() { t.extended = true }

// node returns a node; the empty path is another name of the root, as in ZooKeeper.
func (t *Tree) node(path string) *node {
	if path == "" {
		path = "/"
	}
	return t.nodes[path]
}

// fullStat returns the Stat that a client gets. Cversion counts creations and deletions of children: every child ever
// created counts once, and once more if it was deleted.
func (n *node) fullStat() Stat {
	s := n.stat
	s.Cversion = n.creates*2 - int32(len(n.children)) + n.writes
	s.DataLength = int32(len(n.data))
	s.NumChildren = int32(len(n.children))
	if !owned(s.EphemeralOwner) {
		s.EphemeralOwner = 0
	}
	return s
}

// The owner field holds a TTL, as in ZooKeeper: its milliseconds below a highest byte of its own.
const (
	ttlOwner int64 = -1 << 56
	maxTTL   int64 = 1<<40 - 1
)

// owned reports whether an owner is a session.
func owned(owner int64) bool {
	return owner != 0 && owner != ContainerOwner && owner>>56 != ttlOwner>>56
}

// timed reports whether an operation creates a node with a TTL.
func timed(op Op) bool { return op.Mode == TTL || op.Mode == SequentialTTL }

func sortedKeys[K int64 | string, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
