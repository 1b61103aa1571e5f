package incumbent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"unicode"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/journal"
	"github.com/incumbent-go/incumbent/internal/tree"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// A feed uses several machines. If the client begins to close between the first and the
// last of them, those that were opened are closed, and the loop gets the error.
func TestAFeedThatOpensHalfWayLeavesNothing(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		look := func(f *feed[string]) error {
			return f.watch(machines.MembershipRecipe, events.Event{Path: "/group"},
				func(events.Notify, zkio.Kept) {})
		}
		var errs []error
		for _, err := range stream(t.Context(), n.Client, func(f *feed[string]) error {
			if err := look(f); err != nil {
				t.Error(err)
			}
			n.handles.Closing.Store(true)
			return look(f)
		}) {
			errs = append(errs, err)
		}
		n.handles.Closing.Store(false)
		if len(errs) != 1 || !errors.Is(errs[0], ErrClosed) {
			t.Errorf("got %v, want ErrClosed, once", errs)
		}
		synctest.Wait()
		if left := n.handles.All(); len(left) != 1 {
			t.Errorf("half-way there are left: %v", left)
		}
	})
}

// kept returns how many answers the client's watch handles hold.
func (n *node) kept() (count int) {
	for _, r := range n.handles.All() {
		if o, ok := r.(*watchHandle); ok {
			o.mu.Lock()
			count += len(o.kept)
			o.mu.Unlock()
		}
	}
	return count
}

// Two feeds of one client watch the same node: an event for one comes while the other
// reads, so that the answer is old before it is used. It is dropped after a later one was
// used: new data, or the deletion of the node.
func TestFeedsKeepNoOldAnswers(t *testing.T) {
	const times = 200
	for name, goes := range map[string]bool{"new data": false, "the node goes": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				n := w.open()
				ctx, cancel := context.WithCancel(t.Context())
				var watching sync.WaitGroup
				defer watching.Wait()
				defer cancel()
				for range 2 {
					watching.Go(func() {
						for _, err := range n.WatchNode(ctx, "/n") {
							if err != nil {
								t.Error(err)
							}
						}
					})
				}
				synctest.Wait()
				must := func(err error) {
					if err != nil {
						t.Error(err)
					}
				}
				reads := 0
				w.srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
					if r.Op == zkmem.OpGetData {
						switch reads++; {
						case reads == 2: // the first feed's read is done, with a watch
							must(w.srv.Set("/n", nil))
						case reads == 3 && goes: // both have to read again
							must(w.srv.Delete("/n"))
						}
					}
					return zkmem.Verdict{}
				})
				for range times {
					reads = 0
					_, err := w.srv.Create("/n", nil, zkmem.Persistent)
					must(err)
					synctest.Wait()
					if !goes {
						must(w.srv.Delete("/n"))
						synctest.Wait()
					}
				}
				late := n.tape.Count(func(r events.Record) bool {
					return r.Event.Kind == events.ReplyStat && r.Event.Code == events.OK && r.Row == events.RowLate
				})
				if late < times {
					t.Fatalf("%d answers were old, of %d: the test shows nothing", late, times)
				}
				if left := n.kept(); left != 0 {
					t.Errorf("%d answers were old, and %d are kept", late, left)
				}
			})
		})
	}
}

// cacheWithoutMachine is a tree cache without a machine: the test sends its notices.
type cacheWithoutMachine struct {
	*TreeCache
	request uint64
	zxid    int64
}

func newCacheWithoutMachine() *cacheWithoutMachine {
	t := &TreeCache{data: true, tree: tree.New[TreeNode]("/t"), ready: make(chan struct{}), stale: true,
		readers: map[*feed[TreeChange]]bool{}}
	c := &Client{config: &Config{}}
	c.prepare(journal.New(zerolog.Nop(), ""), nil)
	t.machine.init(c, "/t")
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
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for range most {
		s, waits := o.f.Next(ended)
		if !waits {
			return
		}
		c := s.Value
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

// Changes say that there was an outage from its beginning until all has been read after it,
// and no longer. A failure to read is no outage.
func TestChangesOfATreeNameTheOutageTheyFollow(t *testing.T) {
	p := newCacheWithoutMachine()
	f := newFeed[TreeChange](p.machine.client)
	fine(t, p.addReader(f))
	defer f.close()
	for i, step := range []struct {
		happens func()
		kind    TreeChangeKind
		outage  bool
	}{
		{func() { p.reads("/t", false) }, NodeAdded, false},
		{func() { p.onNotice(events.Notify{What: events.Settled}) }, TreeReady, false},
		{func() { p.reads("/t", false) }, NodeChanged, false},
		{func() { p.onNotice(events.Notify{What: events.Stale, Code: events.ConnectionLoss}) }, TreeStale, false},
		{func() { p.reads("/t", false) }, NodeChanged, true},
		{func() { p.reads("/t/a", false) }, NodeAdded, true},
		{func() { p.goes("/t/a") }, NodeRemoved, true},
		{func() { p.onNotice(events.Notify{What: events.Settled}) }, TreeReady, true},
		{func() { p.reads("/t", false) }, NodeChanged, false},
		{func() { p.reads("/t/b", false) }, NodeAdded, false},
		{func() { p.goes("/t/b") }, NodeRemoved, false},
		{func() { p.onNotice(events.Notify{What: events.Stale, Code: events.Throttled}) }, TreeStale, false},
		{func() { p.reads("/t", false) }, NodeChanged, false},
		{func() { p.onNotice(events.Notify{What: events.Settled}) }, TreeReady, false},
	} {
		step.happens()
		item, ok := f.Next(t.Context())
		if got := item.Value; !ok || got.Kind != step.kind || got.Missed.Outage != step.outage {
			t.Errorf("step %d: the change is %v, of an outage %t, want %v and %t", i, got.Kind, got.Missed.Outage,
				step.kind, step.outage)
		}
	}
}

// What others wrote is on one line in an error, printable, and cut.
func TestErrorsCutWhatOthersWrote(t *testing.T) {
	evil := "\x1b]0;owned\a\u202e\nFORGED line " + strings.Repeat("x", 100_000)
	codec := failingCodec{errors.New(evil)}
	data, _ := pack[string](Text(), []string{"item"})
	_, decode := unpack[string](codec, data)
	for name, err := range map[string]error{
		"a refusal":         asError(events.NoNode, evil),
		"one with a name":   asError(events.NoAuth, "/line/"+evil),
		"a codec's refusal": decode,
	} {
		if err == nil {
			t.Fatalf("%s: no error", name)
		}
		if text := err.Error(); len(text) > 4<<10 || strings.ContainsFunc(text, unicode.IsControl) ||
			strings.Contains(text, "\u202e") {
			t.Errorf("%s: %d bytes: %.200q", name, len(text), text)
		}
	}
	if !errors.Is(decode, codec.err) {
		t.Errorf("the codec's error is not in %v", decode)
	}
}

// failingCodec decodes nothing.
type failingCodec struct{ err error }

func (c failingCodec) Encode(string) ([]byte, error) { return nil, c.err }

func (c failingCodec) Decode([]byte) (string, error) { return "", c.err }
