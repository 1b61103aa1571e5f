package suite

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/tape"
)

// shardMembers are members that share shards, and who works on each.
type shardMembers struct {
	t      *testing.T
	path   string
	shards int

	mu     sync.Mutex
	works  map[string]map[int]*incumbent.Shard // by the member's name
	tokens []int64                             // the greatest of each shard
	more   chan struct{}                       // closed at every change
}

// shardRunner is one member, and its Run.
type shardRunner struct {
	*client
	name  string
	group *incumbent.Shards
	stop  func() // ends Run
}

func newShards(t *testing.T, e ensemble, shards int) *shardMembers {
	return &shardMembers{t: t, path: e.dir() + "/group", shards: shards, works: map[string]map[int]*incumbent.Shard{},
		tokens: make([]int64, shards), more: make(chan struct{})}
}

// join makes a member with this id, on a client of its own, and runs it.
func (m *shardMembers) join(e ensemble, id string) *shardRunner { return m.joinAs(e, id, id) }

// joinAs is join, with another name in the book.
func (m *shardMembers) joinAs(e ensemble, name, id string) *shardRunner {
	m.t.Helper()
	one := &shardRunner{client: connected(m.t, e), name: name}
	var err error
	one.group, err = one.Shards(m.path, m.shards, incumbent.ShardsOptions{Settle: time.Millisecond,
		ID: id, Retry: incumbent.RetryForever(1)})
	ok(m.t, err)
	m.run(one)
	return one
}

func (m *shardMembers) run(one *shardRunner) {
	ctx, cancel := context.WithCancel(one.ctx)
	ended := make(chan error, 1)
	go func() { ended <- one.group.Run(ctx, m.work(one.name)) }()
	one.stop = sync.OnceFunc(func() {
		cancel()
		ok(m.t, <-ended)
	})
	m.t.Cleanup(func() { one.stop() })
}

// work notes that a member works on a shard, until it has to return.
func (m *shardMembers) work(name string) func(*incumbent.Shard) error {
	return func(s *incumbent.Shard) error {
		m.note(func() {
			if m.works[name] == nil {
				m.works[name] = map[int]*incumbent.Shard{}
			}
			m.works[name][s.ID] = s
			if s.Token() < m.tokens[s.ID] {
				m.t.Errorf("shard %d has the token %d after %d", s.ID, s.Token(), m.tokens[s.ID])
			}
			m.tokens[s.ID] = s.Token()
		})
		<-s.Context().Done()
		m.note(func() { delete(m.works[name], s.ID) })
		return nil
	}
}

func (m *shardMembers) note(change func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change()
	close(m.more)
	m.more = make(chan struct{})
}

// share waits until the members work on so many shards, each on others, and returns the first shard.
func (m *shardMembers) share(want map[string]int) (one *incumbent.Shard) {
	m.t.Helper()
	late := time.NewTimer(tape.Within)
	defer late.Stop()
	for {
		m.mu.Lock()
		right, all := true, map[int]bool{}
		for id, n := range want {
			right = right && len(m.works[id]) == n
			for shard, s := range m.works[id] {
				if all[shard] = true; shard == 0 {
					one = s
				}
			}
		}
		more := m.more
		m.mu.Unlock()
		if right && len(all) == m.shards {
			return one
		}
		select {
		case <-more:
		case <-late.C:
			m.t.Fatalf("they work on %v, want %v", m.works, want)
		}
	}
}

// Shards are shared, move when a member ends, and are shared again when it runs again.
func TestShardsMoveBetweenMembers(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		m := newShards(t, e, 5)
		a := m.join(e, "a")
		m.share(map[string]int{"a": 5})
		b := m.join(e, "b")
		m.share(map[string]int{"a": 3, "b": 2})
		a.stop()
		m.share(map[string]int{"a": 0, "b": 5})
		if got := a.group.Owned(); len(got) != 0 {
			t.Errorf("a has ended, and owns %v", got)
		}
		m.run(a)
		m.share(map[string]int{"a": 2, "b": 3})
		if owned := b.group.Owned(); len(owned) != 3 || b.group.Err() != nil {
			t.Errorf("b owns %v: %v", owned, b.group.Err())
		}
		for now, err := range a.group.Assignment(a.ctx) {
			if ok(t, err); slices.Contains(now.Owners, "") || len(now.Owners) != 5 {
				t.Errorf("the assignment is %+v", now)
			}
			break
		}
		a.stop()
		b.stop()
		names, err := connected(t, e).Children(m.path + "/members").Do(a.ctx)
		if err != nil && !errors.Is(err, incumbent.ErrNoNode) || len(names) > 0 {
			t.Errorf("left: %q, %v", names, err)
		}
	})
}

// Members without an id have different ones, and share.
func TestMembersWithoutAnIDShare(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		m := newShards(t, e, 3)
		m.joinAs(e, "a", "")
		m.share(map[string]int{"a": 3})
		m.joinAs(e, "b", "")
		m.share(map[string]int{"a": 2, "b": 1})
	})
}

// A member that is cut off for a moment has the same shards afterwards, under the same tokens.
func TestShardsOutliveAConnection(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		m := newShards(t, e, 2)
		a := m.join(e, "a")
		before := m.share(map[string]int{"a": 2})
		a.cut()
		<-before.Context().Done()
		after := m.share(map[string]int{"a": 2})
		for after == before {
			<-m.changed()
			after = m.share(map[string]int{"a": 2})
		}
		if after.Token() != before.Token() {
			t.Errorf("the token is %d, and was %d", after.Token(), before.Token())
		}
	})
}

// A member's guarded writes are refused once its node is gone, and it is a member again.
func TestAShardsMemberIsDeleted(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		m := newShards(t, e, 2)
		a := m.join(e, "a")
		first := m.share(map[string]int{"a": 2})
		target := e.dir() + "/work"
		if _, err := first.Write(a.ctx, incumbent.CreateNode(target, []byte("1"))); err != nil {
			t.Fatal(err)
		}
		ok(t, a.Delete(first.Term().Path).Do(a.ctx))
		<-first.Context().Done()
		_, err := first.Write(a.ctx, incumbent.SetData(target, []byte("late"), incumbent.AnyVersion))
		if !errors.Is(err, incumbent.ErrLeadershipLost) {
			t.Errorf("a write after the node was deleted: %v", err)
		}
		for m.share(map[string]int{"a": 2}).Token() == first.Token() {
			<-m.changed()
		}
	})
}

func (m *shardMembers) changed() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.more
}
