package door_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// fence is a Fence that notes its data, and returns what the test gives it.
type fence struct {
	got    chan string
	result chan error
	ctx    context.Context
}

func newFence() *fence { return &fence{got: make(chan string, 9), result: make(chan error, 9)} }

func (f *fence) call(ctx context.Context, data []byte) error {
	f.ctx = ctx
	f.got <- string(data)
	return <-f.result
}

// fencing are the options of a participant with a crumb.
func fencing(id string, f *fence) incumbent.NodeElectionOptions {
	return incumbent.NodeElectionOptions{ID: id, Crumb: "crumb", Fence: f.call,
		FenceTimeout: 3 * time.Second}
}

// dataOf returns a node's data, "none" if there is no such node.
func (w *world) dataOf(path string) (data string) {
	w.srv.View(func(v *zkmem.View) {
		data = "none"
		if got, _, err := v.Get(path); err == nil {
			data = string(got)
		}
	})
	return data
}

// crumb returns the data of the crumb.
func (w *world) crumb() string { return w.dataOf("/ha/crumb") }

// The next participant fences one whose session has ended, before it leads. One that resigns in order is not fenced.
func TestTheLastLeaderIsFenced(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		fa, fb := newFence(), newFence()
		na := w.open(timeouts(8*time.Second, 2*time.Second))
		a := stands(t, na, fencing("a", fa))
		held := must(a.Await(t.Context()))
		b := stands(t, w.open(timeouts(8*time.Second, 2*time.Second)), fencing("b", fb))
		if got := w.crumb(); got != "a" {
			t.Errorf("a leads, and the crumb has %q", got)
		}
		w.srv.ExpireSession(na.SessionID())
		<-held.Context().Done()
		if last := <-fb.got; last != "a" {
			t.Errorf("b fences %q", last)
		}
		pass(2 * time.Second)
		if b.HasLeadership() || w.crumb() != "a" || b.Phase() != "fencing" || fb.ctx.Err() != nil {
			t.Errorf("while b fences: leads %t, crumb %s, %s, %v", b.HasLeadership(), w.crumb(), b.Phase(),
				fb.ctx.Err())
		}
		fb.result <- nil
		held.Release()
		next := must(b.Await(t.Context()))
		if got := w.crumb(); got != "b" || next.Token() <= held.Token() {
			t.Errorf("b leads, and the crumb has %q", got)
		}
		next.Release()
		fine(t, b.Resign(t.Context()))
		held = must(a.Await(t.Context()))
		if len(fa.got) != 0 || w.crumb() != "a" {
			t.Errorf("after b has resigned: %d calls, crumb %q", len(fa.got), w.crumb())
		}
		held.Release()
		fine(t, a.Close(t.Context()))
		held = must(b.Await(t.Context()))
		held.Release()
		fine(t, b.Close(t.Context()))
		if got := w.crumb(); got != "none" || len(fb.got) != 0 {
			t.Errorf("after all have closed: crumb %q", got)
		}
	})
}

// A participant that cannot fence the last leader does not lead: it gives the node up, and tries again.
func TestWhoCannotFenceDoesNotLead(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		fine(t, w.createAll("/ha"))
		must(w.srv.Do(creates("/ha/crumb", "old")))
		f := newFence()
		a := stands(t, w.open(timeouts(8*time.Second, 2*time.Second)), fencing("a", f))
		<-f.got
		f.result <- errors.New("no power switch")
		pass(bound)
		if err := a.Err(); !errors.Is(err, incumbent.ErrFenceFailed) || a.HasLeadership() {
			t.Errorf("after an error: %v, leads %t", err, a.HasLeadership())
		}
		<-f.got // the next attempt hangs
		pass(3*time.Second + bound)
		if w.dataOf(activeNode) != "none" {
			t.Error("the node is there although the fencing hangs")
		}
		if err := f.ctx.Err(); err == nil || a.HasLeadership() {
			t.Errorf("the fencing hangs: context %v, leads %t", err, a.HasLeadership())
		}
		pass(20 * time.Second)
		if len(f.got) != 0 {
			t.Error("another attempt begins before the last has returned")
		}
		f.result <- nil // too late
		<-f.got
		f.result <- nil
		pass(bound)
		held := must(a.Await(t.Context()))
		if err := a.Err(); err != nil || w.crumb() != "a" {
			t.Errorf("a leads: %v, crumb %q", err, w.crumb())
		}
		held.Release()
	})
}

// The fencing ends with the belief that the node is this participant's. A Close waits until it has returned.
func TestFencingEndsWithBelief(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		fine(t, w.createAll("/ha"))
		must(w.srv.Do(creates("/ha/crumb", "old")))
		f := newFence()
		options := fencing("a", f)
		options.FenceTimeout = time.Hour
		n := w.open(timeouts(8*time.Second, 2*time.Second))
		a := stands(t, n, options)
		<-f.got
		pass(20 * time.Second)
		if f.ctx.Err() != nil {
			t.Fatal("the fencing has ended although all is well")
		}
		began := time.Now()
		w.srv.Freeze(zkmem.Outbound, n.SessionID())
		<-f.ctx.Done()
		if took := time.Since(began); took > 8*time.Second {
			t.Errorf("the context ended after %s", took)
		}
		w.srv.Heal()
		f.result <- nil
		<-f.got
		closed := make(chan error, 1)
		go func() { closed <- a.Close(t.Context()) }()
		pass(bound)
		if err := f.ctx.Err(); err == nil || len(closed) != 0 {
			t.Errorf("closing: context %v, closed %d", err, len(closed))
		}
		f.result <- f.ctx.Err()
		fine(t, <-closed)
		if got := w.crumb(); got != "old" {
			t.Errorf("a has never led, and the crumb has %q", got)
		}
	})
}

// Work that fails has not given leadership up in order.
func TestWorkThatFailsLeavesTheCrumb(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		for _, failure := range []error{nil, errors.New("disk")} {
			a := must(w.open().NodeElection(activeNode, fencing("a", newFence())))
			err := a.Run(t.Context(), func(*incumbent.Leadership) error { return failure })
			want := map[bool]string{true: "none", false: "a"}[failure == nil]
			if got := w.crumb(); !errors.Is(err, failure) || got != want {
				t.Errorf("work returns %v: Run %v, crumb %q", failure, err, got)
			}
		}
	})
}

// With an epoch, nothing is written under the next leader's node, although it has the same name and version.
func TestWritesGuardedByAnEpoch(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		options := incumbent.NodeElectionOptions{Epoch: "epoch"}
		na, nb := w.open(timeouts(8*time.Second, 2*time.Second)), w.open(timeouts(8*time.Second, 2*time.Second))
		a := stands(t, na, options)
		held := must(a.Await(t.Context()))
		must(held.Write(t.Context(), incumbent.CreateNode("/ledger", []byte("a"))))
		w.whileHidden(t, activeNode, deletes(activeNode))
		b := stands(t, nb, options)
		next := must(b.Await(t.Context()))
		_, err := held.Write(t.Context(), incumbent.SetData("/ledger", []byte("late"), incumbent.AnyVersion))
		if !errors.Is(err, incumbent.ErrLeadershipLost) {
			t.Errorf("a write under the next leader: %v", err)
		}
		must(next.Write(t.Context(), incumbent.SetData("/ledger", []byte("b"), incumbent.AnyVersion)))
		if data := w.dataOf("/ledger"); data != "b" {
			t.Errorf("the ledger has %q", data)
		}
		held.Release()
		next.Release()
	})
}
