package interop

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/incumbent-go/incumbent"
)

// follower applies the changes in a tree cache's feed.
type follower struct {
	dir    string
	fences chan string // what the node at the top held, where that was a fence

	mu   sync.Mutex
	tree map[string]string
}

// fence begins what a test writes into the node at the top.
const fence = "fence-"

func (f *follower) follow(ctx context.Context, cache *incumbent.TreeCache) error {
	for change, err := range cache.Changes(ctx) {
		if err != nil {
			return err
		}
		f.mu.Lock()
		switch change.Kind {
		case incumbent.NodeAdded, incumbent.NodeChanged:
			f.tree[strings.TrimPrefix(change.Path, f.dir)] = string(change.Data)
		case incumbent.NodeRemoved:
			delete(f.tree, strings.TrimPrefix(change.Path, f.dir))
		}
		f.mu.Unlock()
		if change.Path == f.dir && strings.HasPrefix(string(change.Data), fence) {
			select {
			case f.fences <- string(change.Data):
			case <-ctx.Done():
			}
		}
	}
	return nil
}

// passes returns when the feed has reported this fence.
func (f *follower) passes(t *testing.T, ctx context.Context, wanted string) {
	t.Helper()
	for {
		select {
		case told := <-f.fences:
			if told == wanted {
				return
			}
		case <-ctx.Done():
			t.Fatalf("gave up waiting for %s", wanted)
		}
	}
}

// view returns the nodes by the feed, in the form of the peers.
func (f *follower) view() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return written(f.tree)
}

// held returns those that the cache has.
func (f *follower) held(cache *incumbent.TreeCache) string {
	all := map[string]string{}
	for n := range cache.All() {
		all[strings.TrimPrefix(n.Path, f.dir)] = string(n.Data)
	}
	return written(all)
}

func written(tree map[string]string) string {
	var all []string
	for _, path := range slices.Sorted(maps.Keys(tree)) {
		all = append(all, path+"="+tree[path])
	}
	return strings.Join(all, " ")
}

// Curator and kazoo change one tree at the same time, while our cache and Curator's
// follow. In the end both caches, and the follower of our feed, have what a read node by
// node returns.
func TestCachesFollowCuratorAndKazoo(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	java, kazoo := s.others("java"), s.others("python")
	c, ctx := s.ours()
	dir := s.root + "/deep/tree"
	cache, err := c.TreeCache(dir, incumbent.TreeCacheOptions{})
	ok(t, err)
	ok(t, cache.Start())
	ok(t, cache.WaitReady(ctx)) // there is none yet
	f := &follower{dir: dir, fences: make(chan string), tree: map[string]string{}}
	over := make(chan error, 1)
	go func() { over <- f.follow(ctx, cache) }()
	java.does("cache", "c", dir)

	const changes = "150"
	curators, kazoos := java.begins("grow", "curator", dir, changes, "1"),
		kazoo.begins("grow", "kazoo", dir, changes, "2")
	curators()
	kazoos()
	for i := 0; ; i++ {
		// A fence makes both look again: they may be a little behind.
		data := fmt.Sprint(fence, i)
		_, err := s.conn.Set(dir, []byte(data), -1)
		ok(t, err)
		f.passes(t, ctx, data)
		seen := java.tells("walk", "walk", dir)
		if there := kazoo.tells("walk", "walk", dir); seen != there {
			t.Fatalf("Curator reads %q, and kazoo %q", seen, there)
		}
		told, held, theirs := f.view(), f.held(cache), java.curatorsCache(dir)
		if told == seen && held == seen && theirs == seen {
			t.Logf("after %d fences: %s", i+1, seen)
			break
		}
		if ctx.Err() != nil {
			t.Fatalf("there is\n%s\nour feed has told\n%s\nour cache holds\n%s\nand Curator's\n%s", seen,
				told, held, theirs)
		}
	}
	if cache.Stale() {
		t.Error("nothing was missed, and the cache is stale")
	}
	ok(t, cache.Close(ctx))
	ok(t, <-over)
}

// curatorsCache returns what Curator's cache "c" has.
func (p *peer) curatorsCache(dir string) string {
	p.stage.t.Helper()
	from := p.stage.now()
	p.say("cached c %s", dir)
	said, _ := p.stage.await(from, "Curator's cache", func(s saying) bool {
		return s.peer == p && s.words[0] == "cached"
	})
	return strings.Join(said.words[2:], " ")
}
