package zkmem

import (
	"fmt"
	"strconv"
	"strings"
)

// ZooKeeper keeps quotas as nodes: the limits of /a are in /zookeeper/quota/a/zookeeper_limits, and the server counts
// the nodes and bytes of /a and all below in zookeeper_stats next to it. Its default is to enforce none, and so does a
// Tree.
const (
	quotaRoot  = "/zookeeper/quota"
	limitsNode = "zookeeper_limits"
	statsNode  = "zookeeper_stats"
)

// countCreated counts a new node. A new statistics node gets the counts of what is there already.
func (t *Tree) countCreated(path, parent, name string, bytes int) {
	if quotaOf, below := strings.CutPrefix(parent, quotaRoot+"/"); below && name == statsNode {
		nodes, size := t.measure("/" + quotaOf)
		t.nodes[path].data = statistics(nodes, size)
	}
	t.countQuota(path, 1, bytes)
}

// countQuota adds to the counts of the nearest quota at or above a path, if there is one. The statistics node gets no
// new version, as in ZooKeeper.
func (t *Tree) countQuota(path string, nodes, bytes int) {
	if root := t.nodes[quotaRoot]; root == nil || len(root.children) == 0 {
		return
	}
	for ; path != "" && path != "/"; path = path[:strings.LastIndexByte(path, '/')] {
		if t.nodes[quotaRoot+path+"/"+limitsNode] == nil {
			continue
		}
		if stats := t.nodes[quotaRoot+path+"/"+statsNode]; stats != nil {
			count, size := counted(string(stats.data))
			stats.data = statistics(count+nodes, size+bytes)
		}
		return
	}
}

// measure returns the number of nodes at and below a path, and of the bytes in them.
func (t *Tree) measure(path string) (nodes, bytes int) {
	n := t.nodes[path]
	if n == nil {
		return 0, 0
	}
	nodes, bytes = 1, len(n.data)
	for _, name := range n.children {
		below, size := t.measure(path + "/" + name)
		nodes, bytes = nodes+below, bytes+size
	}
	return nodes, bytes
}

func statistics(nodes, bytes int) []byte { return fmt.Appendf(nil, "count=%d,bytes=%d", nodes, bytes) }

// counted reads statistics. What is missing is -1, as in ZooKeeper.
func counted(text string) (nodes, bytes int) {
	nodes, bytes = -1, -1
	for _, pair := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ';' }) {
		key, value, _ := strings.Cut(pair, "=")
		n, err := strconv.Atoi(value)
		if err != nil {
			continue
		}
		switch key {
		case "count":
			nodes = n
		case "bytes":
			bytes = n
		}
	}
	return nodes, bytes
}
