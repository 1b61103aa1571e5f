package suite

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

func multi(r zkmem.Request) bool { return r.Op == zkmem.OpMulti }

func TestGuardedWrites(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		l := connected(t, e).start(e.dir(), "leading")
		held := l.lead()
		defer held.Release()
		data := e.dir() + "/data"
		results, err := held.Write(l.c.ctx, incumbent.CreateNode(data, []byte("one")))
		ok(t, err)
		if len(results) != 1 || results[0].Path != data {
			t.Fatalf("%+v", results)
		}
		results, err = held.Write(l.c.ctx, incumbent.CheckVersion(data, 0), incumbent.SetData(data, []byte("two"), 0))
		ok(t, err)
		if len(results) != 2 || results[1].Stat == nil || results[1].Stat.Version != 1 {
			t.Fatalf("%+v", results)
		}
		// All or nothing, and the results say which was refused.
		results, err = held.Write(l.c.ctx, incumbent.CreateNode(data+"2", nil), incumbent.SetData(data, nil, 7))
		var refused *incumbent.Error
		if !errors.As(err, &refused) || refused.Code != events.BadVersion || len(results) != 2 ||
			results[1].Code != events.BadVersion {
			t.Fatalf("%v, %+v", err, results)
		}
		if _, err = held.Write(l.c.ctx, incumbent.DeleteNode(data+"2", incumbent.AnyVersion)); !errors.As(err,
			&refused) || refused.Code != events.NoNode {
			t.Fatalf("the refused write left something: %v", err)
		}
		if errors.Is(err, incumbent.ErrLeadershipLost) {
			t.Fatal("a missing node of the write's own was taken for the participant's")
		}
		_, err = held.Write(l.c.ctx, incumbent.DeleteNode(data, incumbent.AnyVersion))
		ok(t, err)
		if held.Check() != nil || len(e.children(e.dir())) != 1 {
			t.Fatalf("%v, %q", held.Check(), e.children(e.dir()))
		}
	})
}

// TestAWriteUnderADeletedNode catches the moment between the deletion and its news.
func TestAWriteUnderADeletedNode(t *testing.T) {
	e := inMemory(t)
	l := connected(t, e).start(e.dir(), "leading")
	held := l.lead()
	defer held.Release()
	e.Freeze(zkmem.Outbound, e.session(held.Term().Path))
	written := make(chan error, 1)
	hit := e.once(func(r zkmem.Request) bool { return multi(r) && r.Path == held.Term().Path },
		func(zkmem.Request) zkmem.Verdict {
			_ = e.Delete(held.Term().Path)
			return zkmem.Verdict{}
		})
	go func() {
		_, err := held.Write(l.c.ctx, incumbent.CreateNode(e.dir()+"/data", nil))
		written <- err
	}()
	recv(t, hit, "the write")
	e.Heal()
	is(t, recv(t, written, "Write"), incumbent.ErrLeadershipLost)
	e.until("nothing written", func(v *zkmem.View) bool { return !v.Exists(e.dir() + "/data") })
	<-held.Context().Done()
	_, err := held.Write(l.c.ctx, incumbent.CreateNode(e.dir()+"/data", nil))
	is(t, err, incumbent.ErrLeadershipLost)
}

func TestAWritesReplyIsLost(t *testing.T) {
	for name, action := range map[string]zkmem.Action{"done": zkmem.CutAfter, "not done": zkmem.CutBefore} {
		t.Run(name, func(t *testing.T) {
			e := inMemory(t)
			l := connected(t, e).start(e.dir(), "leading")
			held := l.lead()
			defer held.Release()
			var writes atomic.Int64
			data := e.dir() + "/data"
			e.create(data, "", 0)
			t.Cleanup(e.Intercept(func(r zkmem.Request) zkmem.Verdict {
				if multi(r) && r.Path == held.Term().Path && writes.Add(1) == 1 {
					return zkmem.Verdict{Action: action}
				}
				return zkmem.Verdict{}
			}))
			_, err := held.Write(l.c.ctx, incumbent.SetData(data, []byte("once"), incumbent.AnyVersion))
			is(t, err, incumbent.ErrOutcomeUnknown)
			if incumbent.Retryable(err) {
				t.Fatal("an unknown outcome is not to be retried blindly")
			}
			<-held.Context().Done() // belief ends with the connection
			_, err = held.Write(l.c.ctx, incumbent.SetData(data, []byte("twice"), incumbent.AnyVersion))
			is(t, err, incumbent.ErrLeadershipLost)
			held.Release()
			l.lead().Release()
			want := map[zkmem.Action]int32{zkmem.CutAfter: 1, zkmem.CutBefore: 0}[action]
			e.View(func(v *zkmem.View) {
				if _, stat, err := v.Get(data); err != nil || stat.Version != want {
					t.Errorf("the data was set %d times, want %d: %v", stat.Version, want, err)
				}
			})
		})
	}
}

func TestAWriteWhoseContextEnds(t *testing.T) {
	e := inMemory(t)
	l := connected(t, e).start(e.dir(), "leading")
	held := l.lead()
	defer held.Release()
	hold := make(chan struct{})
	hit := e.once(multi, verdict(zkmem.Verdict{Wait: hold}))
	ctx, cancel := context.WithCancel(context.Background())
	written := make(chan error, 1)
	go func() { _, err := held.Write(ctx, incumbent.CreateNode(e.dir()+"/data", nil)); written <- err }()
	recv(t, hit, "the write")
	cancel()
	is(t, recv(t, written, "Write"), incumbent.ErrOutcomeUnknown)
	close(hold)
	_, err := held.Write(brief(), incumbent.CreateNode(e.dir()+"/data2", nil))
	is(t, err, context.Canceled)
	if errors.Is(err, incumbent.ErrOutcomeUnknown) {
		t.Fatal("what was never sent is not unknown")
	}
}

func TestAWriteOfAnotherSession(t *testing.T) {
	e := inMemory(t)
	l := connected(t, e).start(e.dir(), "leading")
	held := l.lead()
	e.ExpireSession(e.session(held.Term().Path))
	<-held.Context().Done()
	held.Release()
	now := l.lead()
	defer now.Release()
	_, err := held.Write(l.c.ctx, incumbent.CreateNode(e.dir()+"/data", nil))
	is(t, err, incumbent.ErrLeadershipLost)
	_, err = now.Write(l.c.ctx, incumbent.CreateNode(e.dir()+"/data", nil))
	ok(t, err)
}

// TestWhileADisconnectIsRiddenOutAWriteIsNotSent: belief goes on, the write does not wait.
func TestWhileADisconnectIsRiddenOutAWriteIsNotSent(t *testing.T) {
	e := inMemory(t)
	c := connected(t, e, func(c *incumbent.Config) { c.RideOut = true })
	l := c.start(e.dir(), "leading")
	seen := watch(l.AddListener)
	held := l.lead()
	defer held.Release()
	e.RefuseConnections(true)
	c.cut()
	if err := held.Check(); err != nil {
		t.Fatalf("it was to be ridden out: %v", err)
	}
	_, err := held.Write(c.ctx, incumbent.CreateNode(e.dir()+"/data", nil))
	is(t, err, incumbent.ErrNotConnected)
	e.RefuseConnections(false)
	ok(t, c.WaitConnected(c.ctx))
	_, err = held.Write(c.ctx, incumbent.CreateNode(e.dir()+"/data", nil))
	ok(t, err)
	seen.until(t, "started")
}
