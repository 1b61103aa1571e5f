package incumbent

import (
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/journal"
	"github.com/incumbent-go/incumbent/zkio"
)

// cacheWithoutMachine is a tree cache without a machine: the test sends its notices.
type cacheWithoutMachine struct {
	*TreeCache
	request uint64
	zxid    int64
}

func newCacheWithoutMachine() *cacheWithoutMachine {
	t := &TreeCache{data: true, tree: map[string]*cachedNode{}, ready: make(chan struct{}), stale: true, readers: map[*feed[TreeChange]]bool{}}
	t.machine.init(&Client{closed: make(chan struct{}), log: journal.New(zerolog.Nop(), "")}, "/t")
	t.machine.onNotice = t.onNotice
	return &cacheWithoutMachine{TreeCache: t}
}

// reads sends the result of a read: another node at the path, or the next version of the
// present one.
func (p *cacheWithoutMachine) reads(path string, another bool) {
	p.request++
	p.zxid++
	n, known := p.Get(path)
	stat := n.Stat
	if stat.Version++; another || !known {
		stat = Stat{Czxid: p.zxid}
	}
	p.machine.keep(p.request, zkio.Kept{Data: fmt.Append(nil, p.zxid), Stat: (*zkio.Stat)(&stat)})
	p.onNotice(events.Notify{What: events.Present, Path: path, Work: p.request})
}

// goes sends the deletion of a node, after all that is below it.
func (p *cacheWithoutMachine) goes(path string) {
	for _, n := range slices.Backward(slices.Collect(p.All())) {
		if n.Path == path || strings.HasPrefix(n.Path, path+"/") {
			p.onNotice(events.Notify{What: events.Absent, Path: n.Path})
		}
	}
}

// follower applies the changes of a feed.
type follower struct {
	f     *feed[TreeChange]
	nodes map[string]string
	ready bool
}

// follow applies what waits, at most so many changes, and checks that each can be applied.
func (o *follower) follow(t *testing.T, most int) {
	t.Helper()
	for range most {
		o.f.mu.Lock()
		waits := o.f.pending.Len() > 0
		o.f.mu.Unlock()
		if !waits {
			return
		}
		s, _ := o.f.next(t.Context())
		c := s.value
		_, known := o.nodes[c.Path]
		_, under := o.nodes[c.Path[:max(strings.LastIndexByte(c.Path, '/'), 0)]]
		switch c.Kind {
		case NodeAdded:
			if known || !under && c.Path != "/t" {
				t.Fatalf("%s is added, known %t, its parent %t", c.Path, known, under)
			}
			o.nodes[c.Path] = string(c.Data)
		case NodeChanged:
			if !known || o.nodes[c.Path] == string(c.Data) {
				t.Fatalf("%s is changed to %s, known %t", c.Path, c.Data, known)
			}
			o.nodes[c.Path] = string(c.Data)
		case NodeRemoved:
			delete(o.nodes, c.Path)
			for path := range o.nodes {
				if !known || strings.HasPrefix(path, c.Path+"/") {
					t.Fatalf("%s is removed, known %t, before %s", c.Path, known, path)
				}
			}
		default:
			o.ready = c.Kind == TreeReady
		}
	}
}

// However slow a loop is, and whenever it begins, its changes can be applied in their
// order, and end in what the cache knows.
func TestFollowersOfATreeEndWithTheTree(t *testing.T) {
	paths := []string{"/t", "/t/a", "/t/a/a", "/t/a/b", "/t/b", "/t/b/a", "/t/b/a/a"}
	for seed := range int64(300) {
		dice := rand.New(rand.NewSource(seed))
		p := newCacheWithoutMachine()
		var all []*follower
		for range 200 {
			path := paths[dice.Intn(len(paths))]
			_, known := p.Get(path)
			_, under := p.Get(path[:strings.LastIndexByte(path, '/')])
			switch n := dice.Intn(12); {
			case n < 6 && (under || path == "/t"):
				p.reads(path, dice.Intn(4) == 0)
			case n < 8 && known:
				p.goes(path)
			case n == 8 && p.Stale():
				p.onNotice(events.Notify{What: events.Settled})
			case n == 9 && !p.Stale():
				p.onNotice(events.Notify{What: events.Stale, Code: events.ConnectionLoss})
			case n == 10 && len(all) < 4:
				o := &follower{f: newFeed[TreeChange](p.machine.client), nodes: map[string]string{}}
				if err := p.addReader(o.f); err != nil {
					t.Fatal(err)
				}
				all = append(all, o)
			case n == 11 && len(all) > 0:
				all[dice.Intn(len(all))].follow(t, dice.Intn(6))
			}
		}
		if p.Stale() {
			p.onNotice(events.Notify{What: events.Settled})
		}
		want := map[string]string{}
		for n := range p.All() {
			want[n.Path] = string(n.Data)
		}
		for i, o := range all {
			o.follow(t, 1000)
			if !maps.Equal(o.nodes, want) || !o.ready {
				t.Fatalf("seed %d, follower %d, ready %t: has %v, and the cache %v", seed, i, o.ready, o.nodes, want)
			}
			o.f.close()
		}
		if len(p.readers) != 0 {
			t.Fatalf("%d feeds are left", len(p.readers))
		}
	}
}
