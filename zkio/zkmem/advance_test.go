package zkmem

import (
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

// What has ended by the new time ends in the call, and nothing else does.
func TestAdvanceEndsWhatIsDue(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		s := New(Options{ExtendedTypes: true})
		defer s.Close()
		short, long := newSession(t, s, 4*time.Second), newSession(t, s, 40*time.Second)
		short.mustCreate("/short", Ephemeral)
		long.mustCreate("/long", Ephemeral)
		if _, err := s.Do(Op{Code: OpCreateTTL, Path: "/ttl", Mode: TTL, TTL: 50_000, ACL: OpenACL()}); err != nil {
			t.Fatal(err)
		}
		s.Advance(-time.Hour)
		s.Advance(0)
		has := func(want ...bool) {
			t.Helper()
			tree := s.Snapshot()
			for i, path := range []string{"/short", "/long", "/ttl"} {
				if got := tree.Exists(path); got != want[i] {
					t.Errorf("%s is there: %v", path, got)
				}
			}
		}
		has(true, true, true)
		s.Advance(30 * time.Second)
		has(false, true, true)
		long.mustCreate("/later", Persistent)
		_, before, _ := s.Snapshot().Get("/ttl")
		_, after, _ := s.Snapshot().Get("/later")
		if ms := after.Ctime - before.Ctime; ms != 30_000 {
			t.Errorf("a node that is created 30 s later is %d ms younger", ms)
		}
		s.Advance(time.Minute)
		has(false, false, false)
	})
}

// The clock stops where it may not go on: it does not overflow.
func TestAdvanceIsBounded(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		s := New(Options{})
		defer s.Close()
		for range 40 {
			s.Advance(10 * 365 * 24 * time.Hour)
		}
		newSession(t, s, time.Minute).mustCreate("/late", Persistent)
		_, stat, _ := s.Snapshot().Get("/late")
		if want := time.Now().Add(MaxAdvance).UnixMilli(); stat.Ctime != want {
			t.Errorf("created at %d, want %d", stat.Ctime, want)
		}
	})
}
