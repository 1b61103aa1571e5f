package chaos

import (
	"fmt"
	"strings"
	"time"
)

// outcome is what came of one line.
type outcome struct {
	kind kind
	verdict
	clients []client
	settled bool             // in the end everybody was in line, once, and somebody led
	surplus int              // nodes too many by then
	missing int              // clients without a node by then
	seen    map[string]int64 // nodes by then, with their czxid
	seenAt  int64
	left    []string // nodes and watches after all had closed
}

// borneOut reports whether the truth has every node that was seen at rest, with its czxid: else it was not read right.
func (o *outcome) borneOut(nodes []node) bool {
	for _, n := range nodes {
		if o.seen[n.path] == n.czxid && n.deleted.latest > o.seenAt {
			delete(o.seen, n.path)
		}
	}
	return len(o.seen) == 0
}

// table shows what came of each line, in Markdown.
func table(all []*outcome) string {
	var b strings.Builder
	b.WriteString("| line | terms, holds or deliveries | two believed at once, one of them stopped | writes or " +
		"puts | refused | " +
		"dead letters | handled again |\n|---|---|---|---|---|---|---|\n")
	for _, o := range all {
		var sum time.Duration
		for _, s := range o.asleep {
			sum += s.length()
		}
		fmt.Fprintf(&b, "| %s | %d | %d times, %.1f s | %d | %d | %d | %d |\n",
			o.kind, o.terms, len(o.asleep), sum.Seconds(), o.writes, o.refused, o.dead, o.again)
	}
	return b.String()
}
