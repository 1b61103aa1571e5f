package machines

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// Models that contradict themselves are refused before a row can panic or run without an end.
func TestModelsOfCheckpointsAreVerified(t *testing.T) {
	tree := func(change func(t *treeCache, a, b *cachedNode)) *treeCache {
		c, err := newTreeCache(events.Event{Path: "/t"})
		if err != nil {
			t.Fatal(err)
		}
		a, b := newCachedNode(c.root, "/t/a"), newCachedNode(c.root, "/t/b")
		c.root.children = []*cachedNode{a, b}
		dead := newCachedNode(a, "/t/a/x")
		dead.dead = true
		c.due, c.inFlight = []read{{of: a}, {of: dead}}, []read{{b, true}}
		change(c, a, b)
		return c
	}
	heartbeats := func(change func(o *heartbeatSet)) *session {
		s := &session{}
		s.timing = timing{tick: time.Second, timeout: time.Minute}
		s.heartbeats.add(heartbeatEntry{machine: "a"})
		s.heartbeats.add(heartbeatEntry{machine: "b"})
		change(&s.heartbeats)
		return s
	}
	counts := func(t timing) *session { return &session{leaderContact: leaderContact{timing: t}} }
	for name, c := range map[string]struct {
		model engine.Verifier
		want  string
	}{
		"a tree":               {tree(func(*treeCache, *cachedNode, *cachedNode) {}), ""},
		"no root":              {tree(func(t *treeCache, a, b *cachedNode) { t.root = nil }), "no root"},
		"a root below another": {tree(func(t *treeCache, a, b *cachedNode) { t.root.parent = a }), "no root"},
		"another path":         {tree(func(t *treeCache, a, b *cachedNode) { t.path = "/x" }), "no root"},
		"a cycle": {tree(func(t *treeCache, a, b *cachedNode) { a.children = []*cachedNode{t.root} }),
			`child of "/t/a" is not`},
		"no child": {tree(func(t *treeCache, a, b *cachedNode) { t.root.children[0] = nil }),
			`child of "/t" is not`},
		"another parent": {tree(func(t *treeCache, a, b *cachedNode) { a.parent = b }), `child of "/t" is not`},
		"another level":  {tree(func(t *treeCache, a, b *cachedNode) { a.level = 7 }), `child of "/t" is not`},
		"a child of another": {tree(func(t *treeCache, a, b *cachedNode) { a.path = "/a" }),
			`child of "/t" is not`},
		"out of order": {tree(func(t *treeCache, a, b *cachedNode) { slices.Reverse(t.root.children) }),
			"out of order"},
		"a read of nothing": {tree(func(t *treeCache, a, b *cachedNode) { t.due[0].of = nil }), "no node"},
		"a read elsewhere": {tree(func(t *treeCache, a, b *cachedNode) {
			t.inFlight[0].of = newCachedNode(a, "/t/a/y")
		}), "no node"},
		"heartbeats":             {heartbeats(func(*heartbeatSet) {}), ""},
		"a next one":             {heartbeats(func(o *heartbeatSet) { o.nextIndex = 3 }), "the next is 3"},
		"no index":               {heartbeats(func(o *heartbeatSet) { o.index = nil }), "an index of 0"},
		"a wrong index":          {heartbeats(func(o *heartbeatSet) { o.index["a"] = 1 }), `"a" is not at its index`},
		"a long tick":            {counts(timing{tick: 2 * maxTick}), "its tick is"},
		"a long timeout":         {counts(timing{timeout: 2 * maxTimeout}), "its timeouts are"},
		"a large sync limit":     {counts(timing{syncLimit: 2 * maxSyncLimit}), "its syncLimit is"},
		"permits":                {&semaphore{permits: 2, limit: 2}, ""},
		"no permits":             {&semaphore{limit: 2}, "it wants 0 of 2"},
		"more than all permits":  {&semaphore{permits: 3, limit: 2}, "it wants 3 of 2"},
		"more permits than most": {&semaphore{permits: MaxPermits + 1, limit: 1 << 20}, "it wants 4097"},
	} {
		err := c.model.Verify()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// FuzzCheckpoint reads checkpoints of any content and plays what may follow them. Nothing
// panics: what is read is written as the same, and a replay ends with an error or the log.
func FuzzCheckpoint(f *testing.F) {
	for _, recipe := range Recipes() {
		log := logOfOneMachine(f, recipe.Name())
		for _, until := range []uint64{4, 7, 12} {
			sum, err := engine.Replay(strings.NewReader(string(log)), until, Recipes()...)
			if err != nil {
				f.Fatal(err)
			}
			text, err := sum.Engine.Checkpoint().MarshalJSON()
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text, "reply.stat", "/l/latch-0000000000", uint64(2))
			f.Add(text, "timer.fired", "", uint64(1))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, kind, path string, request uint64) {
		c, err := engine.ReadCheckpoint([][]byte{text}, Recipes()...)
		if err != nil {
			return
		}
		again, err := c.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if read, err := engine.ReadCheckpoint([][]byte{again}, Recipes()...); err != nil || read.Seq() != c.Seq() {
			t.Errorf("%v\n%s", err, again)
		}
		stat := &events.Stat{Czxid: 7, EphemeralOwner: 1}
		for _, id := range []events.ID{"one", events.SessionMachine} {
			for _, ev := range []events.Event{
				{Kind: events.Kind(kind), Path: path, Request: request, Session: 1, Stat: stat,
					Children: []string{path}},
				{Kind: events.ConnectionSuspended, Session: 1},
				{Kind: events.CommandClose, Request: request},
			} {
				r := events.Record{Seq: c.Seq() + 1, Machine: id, Event: ev}
				_, _ = engine.ReplayFrom(c, func() (events.Record, error) { return r, nil }, 0, Recipes()...)
			}
		}
	})
}
