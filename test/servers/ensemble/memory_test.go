package ensemble_test

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/internal/sources"
	"github.com/incumbent-go/incumbent/test/kit"
	"github.com/incumbent-go/incumbent/test/kit/tape"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// The tests of this file are those of suite_test.go that are about servers which lose each other, on zkmem's ensemble
// and in virtual time: they need no Java, and each takes a fraction of a second.

// memory is an ensemble in a bubble, with latches whose clients have the bubble's clock.
type memory struct {
	*zkmem.Ensemble
	t     *testing.T
	w     *witness
	start time.Time
	seeds atomic.Uint64
}

// inMemory runs a test in a bubble, with three servers.
func inMemory(t *testing.T, test func(t *testing.T, m *memory)) {
	t.Helper()
	virtual.Test(t, func(t *testing.T) {
		e, err := zkmem.NewEnsemble(3, zkmem.Options{})
		ok(t, err)
		t.Cleanup(e.Close)
		test(t, &memory{Ensemble: e, t: t, w: newWitness(t), start: time.Now()})
	})
}

// Now and Timer are the clients' clock.
func (m *memory) Now() int64 { return int64(time.Since(m.start)) + 1 }

func (m *memory) Timer(d time.Duration) (<-chan time.Time, func()) {
	timer := time.NewTimer(d)
	return timer.C, func() { timer.Stop() }
}

func (m *memory) seed() string { return fmt.Sprintf("%032x", m.seeds.Add(1)) }

// dial connects to the server whose number the address has.
func (m *memory) dial(_ context.Context, _, address string) (net.Conn, error) {
	client, server := net.Pipe()
	go m.Servers()[address[len("zk")]-'0'].ServeConn(server)
	return client, nil
}

// join has a latch join the line, from a client of these servers.
func (m *memory) join(id string, at ...*zkmem.Server) *node {
	m.t.Helper()
	var addrs []string
	for _, s := range at {
		addrs = append(addrs, fmt.Sprintf("zk%d:2181", slices.Index(m.Servers(), s)))
	}
	log := tape.New(m.t)
	c := kit.RecordedIn(sources.With(context.Background(), sources.Sources{Clock: m, Seed: m.seed}), m.t, log,
		incumbent.Config{
			Servers: strings.Join(addrs, ","), SessionTimeout: 10 * time.Second, Tick: 2 * time.Second,
			SyncLimit: 5, Dial: m.dial,
			ConnectRetry: incumbent.RetryForever(50 * time.Millisecond),
		}, kit.CloseConnected)
	return joinBy(m.t, c, log, m.w, incumbent.LatchOptions{ID: id})
}

// mode waits until a member has a mode.
func (m *memory) mode(s *zkmem.Server, mode string) {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), enough)
	defer cancel()
	ok(m.t, s.WaitFor(ctx, func(v *zkmem.View) bool { return v.Mode() == mode }))
}

// leadsAfter waits for the next term of a latch, which needs a higher token than those before.
func (m *memory) leadsAfter(n *node, last int64) {
	m.t.Helper()
	if token := n.leads(); token <= last {
		m.t.Errorf("token %d after %d", token, last)
	}
}

// A latch at a follower that is cut off ends its term before its session can expire. The next one leads when it has.
func TestAFollowerInMemoryIsCutOff(t *testing.T) {
	inMemory(t, func(t *testing.T, m *memory) {
		cut := m.Followers()[0]
		a := m.join("a", cut)
		first := a.leads()
		b := m.join("b", m.Leader(), m.Followers()[1])
		b.is("waiting")
		ok(t, m.Isolate(cut))
		a.lost(1)
		m.leadsAfter(b, first)
		m.mode(cut, "")
		m.Heal()
		m.mode(cut, "follower")
		a.is("waiting")
	})
}

// A latch at a leader that is deposed, which still answers, ends its term, too.
func TestALeaderInMemoryIsDeposed(t *testing.T) {
	inMemory(t, func(t *testing.T, m *memory) {
		a := m.join("a", m.Leader())
		first := a.leads()
		b := m.join("b", m.Followers()...)
		b.is("waiting")
		old, next, err := m.Depose()
		ok(t, err)
		if next == old {
			t.Fatal("it is elected again")
		}
		a.lost(1)
		m.leadsAfter(b, first)
		m.Heal()
		m.mode(old, "follower")
		a.is("waiting")
	})
}

// A member that is frozen for longer than the others wait ends the terms at it, although its connections stay.
func TestAMemberInMemoryIsFrozen(t *testing.T) {
	for _, which := range []string{"leader", "follower"} {
		t.Run(which, func(t *testing.T) {
			inMemory(t, func(t *testing.T, m *memory) {
				frozen, others := m.Leader(), m.Followers()
				if which == "follower" {
					frozen, others[0] = others[0], frozen
				}
				a := m.join("a", frozen)
				first := a.leads()
				b := m.join("b", others...)
				b.is("waiting")
				ok(t, m.Freeze(frozen))
				a.lost(1)
				m.leadsAfter(b, first)
				ok(t, m.Thaw(frozen))
				m.mode(frozen, "follower")
				a.is("waiting")
			})
		})
	}
}

// A member that applies what is committed seconds later delays the one that waits there, and no more.
func TestAMemberInMemoryLags(t *testing.T) {
	inMemory(t, func(t *testing.T, m *memory) {
		slow := m.Followers()[0]
		a := m.join("a", m.Leader())
		first := a.leads()
		b := m.join("b", slow)
		b.is("waiting")
		ok(t, m.Lag(slow, 3*time.Second))
		ctx, cancel := context.WithTimeout(t.Context(), enough)
		defer cancel()
		began := time.Now()
		ok(t, a.Close(ctx))
		m.leadsAfter(b, first)
		if took := time.Since(began); took < 3*time.Second || took > 10*time.Second {
			t.Errorf("a hand-over at a member that lags by 3 s took %s", took)
		}
	})
}

// A place further back whose predecessor is deleted while it is not connected, or after, comes back at a member that
// does not know of it yet. It waits there without a listing, however often it gives that member up because no sync is
// answered, and leads in its turn when the member has caught up.
func TestAPlaceWaitsAgainAtAMemberThatLags(t *testing.T) {
	for _, when := range []string{"before", "after"} {
		t.Run(when, func(t *testing.T) {
			inMemory(t, func(t *testing.T, m *memory) {
				stopped, slow := m.Followers()[0], m.Followers()[1]
				a := m.join("a", m.Leader())
				first := a.leads()
				b := m.join("b", m.Leader())
				b.is("waiting")
				c := m.join("c", stopped, slow)
				c.is("waiting")
				for len(slow.Sessions()) < 3 || c.Phase() != "waiting" {
					virtual.Sleep(time.Second)
				}
				slow.RefuseConnections(true)
				ok(t, m.Lag(slow, zkmem.Forever))
				slow.ResetCounts()
				stopped.Stop()
				c.is("suspended")
				if when == "before" {
					ok(t, b.Close(t.Context()))
				}
				slow.RefuseConnections(false)
				virtual.Sleep(3 * time.Second)
				if when == "after" {
					ok(t, b.Close(t.Context()))
				}
				virtual.Sleep(30 * time.Second)
				counts := slow.Counts().ByOp
				if listings := counts[zkmem.OpGetChildren] + counts[zkmem.OpGetChildren2]; c.Phase() != "waiting" ||
					counts[zkmem.OpGetData] < 2 || listings != 0 {
					t.Errorf("it is %s after %d listings and %d reads", c.Phase(), listings, counts[zkmem.OpGetData])
				}
				ok(t, a.Close(t.Context()))
				virtual.Sleep(3 * time.Second)
				if c.Phase() != "waiting" {
					t.Errorf("it is %s at a member where two places are ahead", c.Phase())
				}
				ok(t, m.Lag(slow, 0))
				m.leadsAfter(c, first)
			})
		})
	}
}

// Each member in turn is stopped and started again. Sessions go on at other members, and when the first latch is
// closed, the other leads with a higher token.
func TestARollingRestartInMemory(t *testing.T) {
	inMemory(t, func(t *testing.T, m *memory) {
		a := m.join("a", m.Servers()...)
		first := a.leads()
		b := m.join("b", m.Servers()...)
		b.is("waiting")
		sessions := len(m.Leader().Sessions())
		for range 2 {
			for _, s := range m.Servers() {
				s.Stop()
				if m.Leader() == nil {
					t.Fatal("two of three servers have no leader")
				}
				virtual.Sleep(5 * time.Second) // half a session's timeout
				ok(t, s.Restart())
				m.mode(s, "follower")
			}
		}
		if n := len(m.Leader().Sessions()); n != sessions || m.Leader().Snapshot().Zxid()>>32 < 3 {
			t.Errorf("%d sessions, of %d, at zxid %x", n, sessions, m.Leader().Snapshot().Zxid())
		}
		ctx, cancel := context.WithTimeout(t.Context(), enough)
		defer cancel()
		ok(t, a.Close(ctx))
		b.is("leading")
		m.leadsAfter(b, first)
	})
}

// Without a quorum nobody believes for longer than the session lasts. With one again, somebody leads.
func TestNoQuorumInMemory(t *testing.T) {
	inMemory(t, func(t *testing.T, m *memory) {
		leader := m.Leader()
		a := m.join("a", m.Servers()...)
		first := a.leads()
		b := m.join("b", m.Servers()...)
		b.is("waiting")
		for _, s := range m.Followers() {
			ok(t, m.Isolate(s))
		}
		a.lost(1)
		m.mode(leader, "")
		m.Heal()
		for token := int64(0); token < first; {
			select {
			case token = <-a.led:
			case token = <-b.led:
			case <-time.After(enough):
				t.Fatal("nobody leads")
			}
		}
	})
}
