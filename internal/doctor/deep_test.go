package doctor

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// deep asks for everything.
func (w *world) deep() Settings {
	s := w.settings()
	s.Deep = true
	return s
}

// left are the scratch nodes that are in the tree of a server.
func left(s *zkmem.Server) (all []string) {
	names, _, _ := s.Snapshot().Children("/")
	for _, name := range names {
		if strings.HasPrefix(name, "incumbent-doctor-") {
			all = append(all, name)
		}
	}
	return all
}

// In a healthy ensemble nothing is found, everything is measured, and nothing is left.
func TestMeasuring(t *testing.T) {
	inBubble(t, "three", func(t *testing.T) {
		w, e := three(t, zkmem.Options{ExtendedTypes: true})
		r := Examine(t.Context(), w.deep())
		found(t, r)
		d := r.Deep
		if d.Commit == nil || d.Watch == nil || d.WatchAt == d.Server || !*d.Containers || !*d.TTL ||
			!*d.Recursive || len(r.NotAsked) > 0 {
			t.Errorf("%+v, not asked %v", d, r.NotAsked)
		}
		if *d.TTL = false; !strings.HasSuffix(d.String(), ", containers, no nodes with a TTL, recursive watches") {
			t.Error(d)
		}
		if c := r.Servers[2].Clock; c == nil || time.Duration(c.Offset).Abs() > time.Duration(c.Error) ||
			c.Rate < 0.99 || c.Rate > 1.01 {
			t.Errorf("%+v", c)
		}
		if rest := left(e.Leader()); len(rest) > 0 || len(e.Leader().Sessions()) > 0 {
			t.Errorf("%v are left, and %v", rest, e.Leader().Sessions())
		}
	})
}

// A session does not end while others wait, together, for longer than its timeout.
func TestASlowServerEndsNoSession(t *testing.T) {
	inBubble(t, "what not every server knows", func(t *testing.T) {
		w, s := alone(t, zkmem.Options{})
		s.Intercept(func(r zkmem.Request) zkmem.Verdict {
			if r.Op == zkmem.OpMulti || r.Op == zkmem.OpAddWatch {
				return zkmem.Verdict{Delay: 10 * time.Second}
			}
			return zkmem.Verdict{}
		})
		of := w.deep()
		of.Step = time.Minute
		r := Examine(t.Context(), of)
		found(t, r)
		if d := r.Deep; d == nil || d.Commit == nil || d.Watch == nil || r.Servers[0].Clock.Rate == 0 ||
			len(r.NotAsked) > 0 {
			t.Errorf("%+v, not asked %v", d, r.NotAsked)
		}
		if rest := left(s); len(rest) > 0 || len(s.Sessions()) > 0 {
			t.Errorf("%v are left, and %v", rest, s.Sessions())
		}
	})
}

// Each condition that only measuring shows is planted alone, and found alone.
func TestMeasuredConditions(t *testing.T) {
	inBubble(t, "slow writes", func(t *testing.T) {
		w, s := alone(t, zkmem.Options{})
		s.Intercept(func(r zkmem.Request) zkmem.Verdict {
			if r.Op == zkmem.OpSetData {
				return zkmem.Verdict{Delay: 2500 * time.Millisecond}
			}
			return zkmem.Verdict{}
		})
		found(t, Examine(t.Context(), w.deep()), "warning slow-commit zk:2181", "warning slow-watch zk:2181")
	})
	inBubble(t, "jute.maxbuffer of 64 KB", func(t *testing.T) {
		w, _ := alone(t, zkmem.Options{MaxFrame: 64 << 10})
		r := Examine(t.Context(), w.deep())
		found(t, r, "warning small-buffer zk:2181")
		if is := r.Findings[0].Is; !strings.Contains(is, " takes 62500.") {
			t.Error(is)
		}
	})
	inBubble(t, "a buffer that is too small for what is tried", func(t *testing.T) {
		w, _ := alone(t, zkmem.Options{MaxFrame: 4096})
		r := Examine(t.Context(), w.deep())
		found(t, r, "warning small-buffer zk:2181")
		if is := r.Findings[0].Is; !strings.Contains(is, " 15625 bytes at a time.") {
			t.Error(is)
		}
	})
	inBubble(t, "no containers", func(t *testing.T) {
		w, _ := alone(t, zkmem.Options{Unknown: map[zkmem.OpCode]zkmem.Unknown{zkmem.OpCreateContainer: {
			Close: true, Code: zkmem.Unimplemented}}})
		found(t, Examine(t.Context(), w.deep()), "note no-containers zk:2181")
	})
	inBubble(t, "no recursive watches", func(t *testing.T) {
		w, _ := alone(t, zkmem.Options{Unknown: map[zkmem.OpCode]zkmem.Unknown{zkmem.OpAddWatch: {Close: true,
			Code: zkmem.Unimplemented}}})
		found(t, Examine(t.Context(), w.deep()), "note no-recursive-watches zk:2181")
	})
	for _, c := range []struct {
		name string
		now  func(begun time.Time) time.Time
		want []string
	}{
		{"a clock that is an hour off", func(time.Time) time.Time { return time.Now().Add(time.Hour) },
			[]string{"warning wrong-clock zk:2181"}},
		{"a clock that is too fast", func(begun time.Time) time.Time { return begun.Add(time.Since(begun) * 95 / 100) },
			[]string{"unfit drifting-clock zk:2181"}},
		{"a clock that is too slow",
			func(begun time.Time) time.Time { return begun.Add(time.Since(begun) * 106 / 100) },
			[]string{"warning drifting-clock zk:2181"}},
		{"a clock that is a little fast",
			func(begun time.Time) time.Time { return begun.Add(time.Since(begun) * 99 / 100) }, nil},
	} {
		inBubble(t, c.name, func(t *testing.T) {
			w, _ := alone(t, zkmem.Options{})
			s, begun := w.deep(), time.Now()
			s.Now = func() time.Time { return c.now(begun) }
			found(t, Examine(t.Context(), s), c.want...)
		})
	}
}

// A directory in which no scratch node may be created is found, and nothing is measured.
func TestNoScratchNode(t *testing.T) {
	inBubble(t, "may not", func(t *testing.T) {
		w, s := alone(t, zkmem.Options{})
		if _, err := s.Do(zkmem.Op{Code: zkmem.OpCreate2, Path: "/closed", ACL: anns,
			Mode: zkmem.Persistent}); err != nil {
			t.Fatal(err)
		}
		ask := w.deep()
		ask.Scratch = "/closed"
		r := Examine(t.Context(), ask)
		found(t, r, "warning not-measured /closed")
		if r.Deep != nil || r.Verdict != Incomplete || len(r.NotAsked) != 1 ||
			!strings.Contains(r.NotAsked[0].Why, "--scratch") {
			t.Errorf("not asked %v", r.NotAsked)
		}
	})
}

// What is tried besides the scratch node is there at no time: whenever the program is killed, no node stays that goes
// with no session.
func TestOnlyTheScratchNodeIsEverThere(t *testing.T) {
	inBubble(t, "at each request", func(t *testing.T) {
		w, s := alone(t, zkmem.Options{ExtendedTypes: true})
		most := 0
		s.Intercept(func(zkmem.Request) zkmem.Verdict {
			there := left(s)
			most = max(most, len(there))
			for _, name := range there {
				if strings.Contains(name, "-container") || strings.Contains(name, "-ttl") {
					t.Errorf("%s is there", name)
				}
			}
			return zkmem.Verdict{}
		})
		r := Examine(t.Context(), w.deep())
		if d := r.Deep; most != 1 || d.Containers == nil || !*d.Containers || !*d.TTL {
			t.Errorf("%d scratch nodes at most, %+v", most, d)
		}
	})
	inBubble(t, "in a session of the usual timeout", func(t *testing.T) {
		w, s := alone(t, zkmem.Options{})
		ask := w.deep()
		ask.Timeout = 6 * time.Second
		s.Intercept(func(r zkmem.Request) zkmem.Verdict {
			if r.Op == zkmem.OpSetData {
				for _, one := range s.Sessions() {
					if one.ID == r.Session && one.Timeout != ask.Timeout {
						t.Errorf("the scratch node's session has a timeout of %s", one.Timeout)
					}
				}
			}
			return zkmem.Verdict{}
		})
		Examine(t.Context(), ask)
	})
}

// An interrupt leaves no scratch node and no session.
func TestAnInterruptLeavesNothing(t *testing.T) {
	inBubble(t, "while writing", func(t *testing.T) {
		w, s := alone(t, zkmem.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		written := 0
		s.Intercept(func(r zkmem.Request) zkmem.Verdict {
			if r.Op == zkmem.OpSetData {
				if written++; written == 4 {
					if len(left(s)) != 1 {
						t.Error("there is no scratch node")
					}
					cancel()
				}
			}
			return zkmem.Verdict{}
		})
		Examine(ctx, w.deep())
		if rest := left(s); len(rest) > 0 || len(s.Sessions()) > 0 {
			t.Errorf("%v are left, and %v", rest, s.Sessions())
		}
	})
}
