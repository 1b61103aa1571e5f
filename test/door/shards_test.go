package door_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/test/kit/repeat"
	"github.com/incumbent-go/incumbent/test/kit/selection"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// shardsPath is the group of the tests about shards.
const shardsPath = "/ns/shards"

// shardWorld is a world with a group of members, and what their functions have seen.
type shardWorld struct {
	*world
	shards int

	mu     sync.Mutex
	owners map[int]string // who works on each shard now
	tokens map[int]int64  // the last of each shard
	worked int            // calls of the function
	wrong  []string
	noted  []*shardCalls
	// excused: an operator deletes members' nodes, and they learn of that one after the other.
	excused bool
}

// shardMember is a member on a client of its own, and its Run.
type shardMember struct {
	*node
	group  *incumbent.Shards
	ended  chan error
	cancel context.CancelFunc

	listened, observed *shardCalls
}

func shardBubble(t *testing.T, shards int, test func(t *testing.T, w *shardWorld)) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		sw := &shardWorld{world: w, shards: shards, owners: map[int]string{}, tokens: map[int]int64{}}
		test(t, sw)
		synctest.Wait()
		for _, c := range sw.noted {
			if left := c.shards(); left != "[]" {
				t.Errorf("in the end, %s has shards %s, and no call that ends that", c.of, left)
			}
		}
		sw.mu.Lock()
		defer sw.mu.Unlock()
		for _, wrong := range sw.wrong {
			t.Error(wrong)
		}
	})
}

// member begins to Run a member. Its work on a shard goes on until the context ends, and for a while more.
func (w *shardWorld) member(id string, lasts time.Duration, options incumbent.ShardsOptions,
	change ...func(*incumbent.Config)) *shardMember {
	w.t.Helper()
	options.ID = id
	m := &shardMember{listened: w.calls("the listener of " + id), observed: w.calls("Observe of " + id)}
	m.node = w.open(append(change, func(c *incumbent.Config) { c.Observe = m.observed.observe })...)
	m.group = must(m.Shards(shardsPath, w.shards, options))
	m.group.AddListener(m.listened.listener())
	w.begin(m, id, lasts)
	return m
}

func (w *shardWorld) begin(m *shardMember, id string, lasts time.Duration) {
	var ctx context.Context
	ctx, m.cancel = context.WithCancel(w.t.Context())
	ended := make(chan error, 1)
	m.ended = ended
	go func() {
		ended <- m.group.Run(ctx, func(s *incumbent.Shard) error {
			w.enter(id, s)
			<-s.Context().Done()
			w.leave(id, s.ID)
			virtual.Sleep(lasts)
			return nil
		})
	}()
	synctest.Wait()
}

func (w *shardWorld) enter(id string, s *incumbent.Shard) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if other, works := w.owners[s.ID]; works && !w.excused {
		w.wrong = append(w.wrong, fmt.Sprintf("shard %d is %s's and %s's", s.ID, other, id))
	}
	if s.Token() < w.tokens[s.ID] && !w.excused { // else both work, and the one that began first may come last
		w.wrong = append(w.wrong, fmt.Sprintf("shard %d has token %d after %d", s.ID, s.Token(), w.tokens[s.ID]))
	}
	w.owners[s.ID], w.tokens[s.ID] = id, max(w.tokens[s.ID], s.Token())
	w.worked++
}

func (w *shardWorld) leave(id string, shard int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.owners[shard] == id {
		delete(w.owners, shard)
	}
}

// expire cuts a member off until its session has expired. A server that ends a live session itself, as ExpireSession
// does, can tell the others sooner than the member, which no client can prevent.
func (w *shardWorld) expire(m *shardMember) {
	w.refuse(m.node, true)
	w.srv.Disconnect(m.SessionID())
	pass(20 * time.Second)
	w.refuse(m.node, false)
}

// owned returns how many shards each of the members works on.
func (w *shardWorld) owned(ids ...string) (counts []int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range ids {
		n := 0
		for _, owner := range w.owners {
			if owner == id {
				n++
			}
		}
		counts = append(counts, n)
	}
	return counts
}

// mustOwn checks how many shards each of the members works on.
func (w *shardWorld) mustOwn(when string, want []int, ids ...string) {
	w.t.Helper()
	if got := w.owned(ids...); !slices.Equal(got, want) {
		w.t.Errorf("%s, %q work on %d shards, want %d", when, ids, got, want)
	}
}

func (m *shardMember) end(t *testing.T) {
	t.Helper()
	m.cancel()
	if err := <-m.ended; err != nil && !errors.Is(err, incumbent.ErrNotDeleted) { // there may be no connection
		t.Error(err)
	}
}

// Shards come to the first member, are balanced when the members have settled, and go on when one ends or dies.
func TestShardsAreShared(t *testing.T) {
	shardBubble(t, 10, func(t *testing.T, w *shardWorld) {
		a := w.member("a", 0, incumbent.ShardsOptions{})
		pass(time.Second)
		w.mustOwn("alone", []int{10}, "a")
		b := w.member("b", 0, incumbent.ShardsOptions{})
		pass(time.Second)
		w.mustOwn("before they settle", []int{10, 0}, "a", "b")
		pass(20 * time.Second)
		w.mustOwn("settled", []int{6, 4}, "a", "b")
		if got := b.group.Owned(); len(got) != 4 || b.group.Err() != nil {
			t.Errorf("b owns %v: %v", got, b.group.Err())
		}
		a.end(t)
		pass(time.Second)
		w.mustOwn("a has ended", []int{0, 10}, "a", "b")
		w.begin(a, "a", 0)
		pass(20 * time.Second)
		w.mustOwn("a runs again", []int{4, 6}, "a", "b")
		w.expire(b)
		w.mustOwn("b has expired", []int{10, 0}, "a", "b")
		pass(20 * time.Second)
		w.mustOwn("b is back", []int{6, 4}, "a", "b")
		w.srv.Disconnect(b.SessionID())
		pass(20 * time.Second)
		w.mustOwn("after a disconnect", []int{6, 4}, "a", "b")
		a.end(t)
		b.end(t)
	})
}

// A shard moves when the work on it has returned, and not before.
func TestAShardMovesAfterItsWork(t *testing.T) {
	shardBubble(t, 2, func(t *testing.T, w *shardWorld) {
		a := w.member("a", 0, incumbent.ShardsOptions{Settle: time.Second})
		pass(time.Second)
		_ = a
		release := make(chan struct{})
		slow := must(a.Shards("/ns/slow", 1, incumbent.ShardsOptions{ID: "a"}))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- slow.Run(ctx, func(s *incumbent.Shard) error {
				<-s.Context().Done()
				<-release
				return nil
			})
		}()
		pass(time.Second)
		b := w.open()
		next := must(b.Shards("/ns/slow", 1, incumbent.ShardsOptions{Weight: 1000}))
		nextCtx, nextCancel := context.WithCancel(t.Context())
		nextEnded := make(chan error, 1)
		var began time.Duration
		go func() {
			nextEnded <- next.Run(nextCtx, func(s *incumbent.Shard) error {
				began = time.Duration(w.now())
				<-s.Context().Done()
				return nil
			})
		}()
		cancel()
		pass(10 * time.Second)
		if began != 0 {
			t.Error("the shard has moved before its work has returned")
		}
		close(release)
		fine(t, <-ended)
		pass(time.Second)
		if began == 0 {
			t.Error("the shard has not moved")
		}
		nextCancel()
		fine(t, <-nextEnded)
		a.end(t)
	})
}

// Members come, go, expire, lose their connections and die at random: no shard has two owners, and in the end each has
// one.
func TestShardsThroughFaults(t *testing.T) {
	for seed := range uint64(selection.Of(t, "seeds", 2, 3, 8)) {
		shardBubble(t, 16, func(t *testing.T, w *shardWorld) {
			random := rand.New(rand.NewPCG(repeat.Seed(t, 1)+seed, 45))
			ids := []string{"a", "b", "c", "d"}
			all := map[string]*shardMember{}
			for range 40 {
				id := ids[random.IntN(len(ids))]
				m := all[id]
				switch {
				case m == nil:
					lasts := time.Duration(random.IntN(3000)) * time.Millisecond
					all[id] = w.member(id, lasts, incumbent.ShardsOptions{Settle: 2 * time.Second})
				case random.IntN(4) == 0:
					m.end(t)
					delete(all, id)
				case random.IntN(3) == 0: // its session expires
					w.expire(m)
				default:
					w.srv.Disconnect(m.SessionID())
				}
				pass(time.Duration(random.IntN(6000)) * time.Millisecond)
			}
			for _, id := range ids {
				if all[id] == nil {
					all[id] = w.member(id, 0, incumbent.ShardsOptions{Settle: 2 * time.Second})
				}
			}
			pass(time.Minute)
			if got := w.owned(ids...); slices.Min(got) < 3 || got[0]+got[1]+got[2]+got[3] != 16 {
				t.Errorf("in the end they work on %v", got)
				for id, m := range all {
					t.Log(id, m.group.Phase(), m.group.Err(), m.group.Owned())
				}
			}
			for _, m := range all {
				m.end(t)
			}
		})
	}
}

// The assignment says who should own each shard, and a second Run is refused while the first one runs.
func TestTheAssignmentIsAFeed(t *testing.T) {
	shardBubble(t, 3, func(t *testing.T, w *shardWorld) {
		a := w.member("a", 0, incumbent.ShardsOptions{Settle: time.Second})
		pass(time.Second)
		for now, err := range a.group.Assignment(t.Context()) {
			if err != nil || !slices.Equal(now.Owners, []string{"a", "a", "a"}) || len(now.Moving) > 0 {
				t.Errorf("%+v %v", now, err)
			}
			break
		}
		if err := a.group.Run(t.Context(), func(*incumbent.Shard) error { return nil }); !errors.Is(err,
			incumbent.ErrAlreadyStarted) {
			t.Errorf("a second Run: %v", err)
		}
		other := must(w.open().Shards(shardsPath, 4, incumbent.ShardsOptions{}))
		if err := other.Run(t.Context(), func(*incumbent.Shard) error { return nil }); !errors.Is(err,
			incumbent.ErrLimitDiffers) {
			t.Errorf("another number of shards: %v", err)
		}
		a.end(t)
	})
}

// Members that are given no ID are named after their process, each in another way.
func TestMembersOfAProcessHaveDifferentIDs(t *testing.T) {
	c := must(incumbent.Open(t.Context(), incumbent.Config{Servers: zkmem.Start(t).Addr(), Silent: true}))
	defer func() { fine(t, c.Close(context.Background())) }()
	id := func(o incumbent.ShardsOptions) string { return must(c.Shards(shardsPath, 1, o)).ID() }
	a, b := id(incumbent.ShardsOptions{}), id(incumbent.ShardsOptions{})
	if a == b || !strings.Contains(a, fmt.Sprintf("/%d/", os.Getpid())) {
		t.Errorf("they are called %q and %q", a, b)
	}
	if got := id(incumbent.ShardsOptions{ID: "x"}); got != "x" {
		t.Errorf("x is called %q", got)
	}
	if got := id(incumbent.ShardsOptions{NoID: true}); got != "" {
		t.Errorf("one with no ID is called %q", got)
	}
}

// A failure of a member that only waits to write the assignment passes when it can wait again.
func TestAFailureOfAWaitingWriterPasses(t *testing.T) {
	shardBubble(t, 2, func(t *testing.T, w *shardWorld) {
		a := w.member("a", 0, incumbent.ShardsOptions{Settle: time.Second})
		pass(time.Second)
		var throttled atomic.Bool
		throttled.Store(true)
		w.srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
			if throttled.Load() && strings.HasPrefix(r.Path, machines.ShardWriters(shardsPath)+"/") {
				return zkmem.Verdict{Action: zkmem.Refuse, Code: -127}
			}
			return zkmem.Verdict{}
		})
		b := w.member("b", 0, incumbent.ShardsOptions{Settle: time.Second})
		pass(10 * time.Second)
		if err := b.group.Err(); err == nil {
			t.Error("it cannot create its place, and Err has nothing")
		}
		throttled.Store(false)
		pass(time.Minute)
		if err := b.group.Err(); err != nil {
			t.Errorf("it waits in the line, and fails: %v", err)
		}
		w.mustOwn("in the end", []int{2, 0}, "a", "b")
		a.end(t)
		b.end(t)
	})
}
