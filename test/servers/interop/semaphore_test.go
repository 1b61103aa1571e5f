package interop

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/repeat"
)

// permits is a semaphore that a test shares with a peer.
type permits struct {
	*incumbent.Semaphore
	ctx   context.Context
	stage *stage
	path  string
	pool  string // where the permits stand
	limit int
}

func (s *stage) permits(other *peer, limit int) permits {
	s.t.Helper()
	c, ctx := s.ours()
	p := permits{ctx: ctx, stage: s, path: s.root + "/semaphore", limit: limit}
	kazoo := other.name == "python"
	p.pool = p.path + "/leases"
	if kazoo {
		p.pool = p.path
	}
	var err error
	p.Semaphore, err = c.Semaphore(p.path, limit, incumbent.SemaphoreOptions{ID: "go", Kazoo: kazoo})
	ok(s.t, err)
	return p
}

// asked returns the words of a command for a peer: take, or try.
func (p permits) asked(count int) []string {
	return []string{p.path, fmt.Sprint(p.limit), fmt.Sprint(count)}
}

func (p permits) held(count int) {
	p.stage.t.Helper()
	p.stage.until(p.pool, fmt.Sprintf("%d permits", count), func(names []string) bool { return len(names) == count })
}

func (p permits) take(count int) *incumbent.Hold {
	p.stage.t.Helper()
	h, err := p.Acquire(p.ctx, count)
	ok(p.stage.t, err)
	return h
}

func TestSemaphoresAreShared(t *testing.T) {
	eachOther(t, func(t *testing.T, s *stage, other *peer) {
		p := s.permits(other, 2)
		other.does("take", "a", p.asked(1)...)
		ours := p.take(1)
		p.held(2)
		if _, held, err := p.TryAcquire(p.ctx, 1); held || err != nil {
			t.Fatalf("a third permit out of two: %t, %v", held, err)
		}
		from := s.now()
		other.say("try b %s", strings.Join(p.asked(1), " "))
		s.await(from, "the try", func(s saying) bool { return strings.Join(s.words, " ") == "tried b false" })

		// Theirs waits for ours, ours for theirs.
		waits := other.begins("take", "b", p.asked(1)...)
		ok(t, ours.Unlock(p.ctx))
		waits()
		taken := make(chan *incumbent.Hold, 1)
		go func() { taken <- p.take(1) }()
		other.does("give", "a")
		h := <-taken
		ok(t, h.Check())
		other.does("give", "b")
		all := make(chan *incumbent.Hold, 1)
		go func() { all <- p.take(2) }()
		ok(t, h.Unlock(p.ctx))
		ok(t, (<-all).Unlock(p.ctx))
		p.held(0)
	})
}

// TestSemaphoresHoldTogetherUnderLoad: at no moment are more permits held than there are, by both sides together. If
// this process stands still for about a session timeout, its permits are another's.
func TestSemaphoresHoldTogetherUnderLoad(t *testing.T) {
	inRounds(t, func(t *repeat.Round, s *stage, other *peer) {
		p := s.permits(other, 3)
		var inside, most atomic.Int64
		var all sync.WaitGroup
		enter := func(n int) {
			if now := inside.Add(int64(n)); now > int64(p.limit) {
				most.Store(now)
			}
		}
		seed := repeat.Seed(t, 1)
		for i := range uint64(2) {
			all.Go(func() {
				dice := rand.New(rand.NewPCG(seed, i))
				for range 8 {
					n := 1 + dice.IntN(3)
					h, err := p.Acquire(p.ctx, n)
					if err != nil {
						t.Error(err)
						return
					}
					enter(n)
					inside.Add(int64(-n))
					if err := h.Unlock(p.ctx); err != nil {
						t.Error(err)
					}
				}
			})
		}
		for _, name := range []string{"a", "b"} {
			all.Go(func() {
				for i := range 8 {
					id := fmt.Sprintf("%s%d", name, i)
					other.does("take", id, p.asked(1)...)
					enter(1)
					inside.Add(-1)
					other.does("give", id)
				}
			})
		}
		all.Wait()
		if held := most.Load(); held > 0 {
			t.Spoilt(timeout/2, "%d permits out of %d are held", held, p.limit)
		}
		p.held(0)
	})
}

// TestAHolderThatIsKilledGivesItsPermitBack, Curator's and kazoo's; and one of ours whose node is deleted.
func TestAHolderThatIsKilledGivesItsPermitBack(t *testing.T) {
	eachOther(t, func(t *testing.T, s *stage, other *peer) {
		p := s.permits(other, 1)
		other.does("take", "a", p.asked(1)...)
		taken := make(chan *incumbent.Hold, 1)
		go func() { taken <- p.take(1) }()
		other.kill()
		h := <-taken
		ok(t, h.Check())
		other.launch()
		waits := other.begins("take", "b", p.asked(1)...)
		names, _, err := s.conn.Children(p.pool)
		ok(t, err)
		i := slices.IndexFunc(names, func(name string) bool { return p.pool+"/"+name == h.Term().Path })
		if i < 0 {
			t.Fatalf("%s is not among %q", h.Term().Path, names)
		}
		ok(t, s.conn.Delete(h.Term().Path, -1))
		<-h.Context().Done()
		waits()
		_ = h.Unlock(p.ctx)
		other.does("give", "b")
	})
}

// TestCuratorIgnoresTheAgreedLimit: it is the data of a directory that it never
// reads. What it makes has none.
func TestCuratorIgnoresTheAgreedLimit(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	java := s.others("java")
	p := s.permits(java, 2)
	java.does("take", "a", p.asked(1)...)
	data, _, err := s.conn.Get(p.pool)
	if ok(t, err); len(data) != 0 {
		t.Fatalf("Curator's directory of leases has %q", data)
	}
	h := p.take(1)
	data, _, err = s.conn.Get(p.pool)
	if ok(t, err); string(data) != "2" {
		t.Fatalf("the agreed limit is %q", data)
	}
	java.does("take", "b", p.path, "3", "1") // it takes its own word for the limit
	p.held(3)
	ok(t, h.Unlock(p.ctx))
	java.does("give", "a")
	java.does("give", "b")
}

// TestKazooRefusesAnotherLimit: both write the limit in the same place.
func TestKazooRefusesAnotherLimit(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	kazoo := s.others("python")
	p := s.permits(kazoo, 2)
	ok(t, p.take(1).Unlock(p.ctx))
	from := s.now()
	kazoo.say("take a %s 3 1", p.path)
	s.hears(from, "ValueError('Inconsistent max leases: 2, expected: 3')")
}

// hears waits for an error of a peer that has these words.
func (s *stage) hears(from int, words string) {
	s.t.Helper()
	s.awaitAny(from, words, func(said saying) bool {
		return said.words[0] == "error" && strings.Contains(strings.Join(said.words, " "), words)
	})
}
