package zkio_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// hold delays requests of one operation in the server until release is called.
func hold(srv *zkmem.Server, op zkmem.OpCode) (release func()) {
	gate := make(chan struct{})
	srv.Intercept(func(q zkmem.Request) zkmem.Verdict {
		if q.Op == op {
			return zkmem.Verdict{Wait: gate}
		}
		return zkmem.Verdict{}
	})
	return func() { close(gate) }
}

// Requests are sent in the order they were issued in.
func TestFact02_IssueOrderIsWireOrder(t *testing.T) {
	const n = 5000
	srv := zkmem.Start(t)
	r, _ := attachedRig(t, srv)
	for i := range n {
		r.Execute(machine,
			events.Create{Call: r.call(), Path: fmt.Sprintf("/%d-", i), Mode: events.EphemeralSequential})
	}
	for i := range n {
		got := r.await(events.ReplyCreate)
		if want := fmt.Sprintf("/%d-%010d", i, i); got.Path != want {
			t.Fatalf("reply %d is for %s, want %s", i, got.Path, want)
		}
	}
}

// At a disconnect what was written is unknown, what was not is not sent, and none of it is
// sent on the next connection.
func TestFact03_NothingWaitsAcrossADisconnect(t *testing.T) {
	srv := zkmem.Start(t)
	release := hold(srv, zkmem.OpCreate)
	r := newRig(t, zkio.Config{Servers: []string{srv.Addr()}, Window: 3})
	r.Execute(events.SessionMachine, events.Connect{Session: 1})
	attached := r.await(events.ConnectionAttached)
	const n = 10
	for i := range n {
		r.Execute(machine, events.Create{Call: r.call(), Path: fmt.Sprintf("/%d", i), Mode: events.Persistent})
	}
	waitFor(t, srv, "the first", func(v *zkmem.View) bool { return v.Connections() == 1 })
	srv.Disconnect(attached.SessionID)
	if got := r.take().Event; got.Kind != events.ConnectionSuspended {
		t.Fatalf("first came %+v", got)
	}
	sent := 0
	for range n {
		got := r.take().Event
		switch {
		case got.Kind != events.ReplyCreate:
			t.Fatalf("between the replies came %+v", got)
		case got.Code == events.ConnectionLoss && got.SentAt > 0:
			sent++
		case got.Code != events.NotSent || got.SentAt != 0:
			t.Errorf("reply: %+v", got)
		}
	}
	if sent > 3 {
		t.Errorf("%d were under way, the window is 3", sent)
	}
	release()
	if again := r.await(events.ConnectionAttached); !again.Reattached {
		t.Errorf("then %+v", again)
	}
	srv.ResetCounts()
	r.ask(events.Sync{Call: r.call(), Path: "/"})
	if n := srv.Counts().ByOp[zkmem.OpCreate]; n != 0 {
		t.Errorf("%d creates of the old connection left on the new one", n)
	}
}

// What was written and not answered is reported lost in the order of sending.
func TestFact03_LostAnswersComeInTheOrderOfSending(t *testing.T) {
	const n = 50
	virtual.Test(t, func(t *testing.T) {
		p := newPipes(t, zkmem.Options{})
		r, attached := pipedRig(t, p, zkio.Config{Window: n})
		p.Intercept(func(q zkmem.Request) zkmem.Verdict {
			if q.Op == zkmem.OpSync {
				return zkmem.Verdict{Action: zkmem.Ignore}
			}
			return zkmem.Verdict{}
		})
		var sent, lost []uint64
		for range n {
			call := r.call()
			sent = append(sent, call.Request)
			r.Execute(machine, events.Sync{Call: call, Path: "/"})
		}
		synctest.Wait()
		p.Disconnect(attached.SessionID)
		for range n {
			got := r.await(events.ReplySync)
			if got.Code != events.ConnectionLoss || got.SentAt == 0 {
				t.Fatalf("request %d was to be on its way: %+v", got.Request, got)
			}
			lost = append(lost, got.Request)
		}
		if !slices.Equal(lost, sent) {
			t.Errorf("sent %v, and lost in the order %v", sent, lost)
		}
	})
}

// While suspended a request is refused immediately.
func TestFact03_NotConnectedIsNotSent(t *testing.T) {
	srv := zkmem.Start(t)
	r, attached := attachedRig(t, srv)
	srv.RefuseConnections(true)
	srv.Disconnect(attached.SessionID)
	r.await(events.ConnectionSuspended)
	if got := r.ask(events.Sync{Call: r.call(), Path: "/"}); got.Code != events.NotSent || got.Text != "not connected" {
		t.Errorf("got %+v", got)
	}
	if _, _, err := r.Read(t.Context(), "/"); !errors.Is(err, zkio.ErrNotConnected) {
		t.Errorf("Read: %v", err)
	}
}

// A server that answers pings and leaves a request without an answer loses the connection.
func TestFact04_ARequestThatIsNeverAnswered(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		p := newPipes(t, zkmem.Options{})
		r, _ := pipedRig(t, p, zkio.Config{})
		remove := p.Intercept(func(q zkmem.Request) zkmem.Verdict {
			if q.Op == zkmem.OpSync {
				return zkmem.Verdict{Action: zkmem.Ignore}
			}
			return zkmem.Verdict{}
		})
		start := time.Now()
		if got := r.ask(events.Sync{Call: r.call(), Path: "/"}); got.Code != events.ConnectionLoss ||
			!strings.Contains(got.Text, "no answer") {
			t.Errorf("got %+v", got)
		}
		if took := time.Since(start); took < 15*time.Second || took > 21*time.Second {
			t.Errorf("after %v", took)
		}
		remove()
		r.await(events.ConnectionAttached)
	})
}

func TestFact18_TheReplyCarriesTheCzxid(t *testing.T) {
	srv := zkmem.Start(t)
	r, _ := attachedRig(t, srv)
	for range 20 {
		made := r.ask(events.Create{Call: r.call(), Path: "/n-", Mode: events.EphemeralSequential})
		read := r.ask(events.Get{Call: r.call(), Path: made.Path})
		if made.Zxid == 0 || read.Stat.Czxid != made.Zxid {
			t.Errorf("zxid of the reply 0x%x, czxid 0x%x", made.Zxid, read.Stat.Czxid)
		}
	}
}

// A request of no machine whose context ends is unknown if it was sent, and withdrawn if it was not.
func TestDirectCallsEndWithTheirContext(t *testing.T) {
	srv := zkmem.Start(t)
	release := hold(srv, zkmem.OpSync)
	r := newRig(t, zkio.Config{Servers: []string{srv.Addr()}, Window: 1})
	r.Execute(events.SessionMachine, events.Connect{Session: 1})
	r.await(events.ConnectionAttached)
	check := []events.Op{{Verb: "check", Path: "/", Version: -1}}

	r.Execute(machine, events.Sync{Call: r.call(), Path: "/"})
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error)
	go func() {
		_, _, err := r.Commit(ctx, 1, check)
		failed <- err
	}()
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) || errors.Is(err, zkio.ErrOutcomeUnknown) {
		t.Errorf("behind a full window: %v", err)
	}
	release()
	r.await(events.ReplySync)

	seen, gate := make(chan struct{}), make(chan struct{})
	srv.Intercept(func(q zkmem.Request) zkmem.Verdict {
		if q.Op == zkmem.OpMulti {
			close(seen)
			return zkmem.Verdict{Wait: gate}
		}
		return zkmem.Verdict{}
	})
	ctx, cancel = context.WithCancel(t.Context())
	go func() {
		_, _, err := r.Commit(ctx, 1, check)
		failed <- err
	}()
	<-seen
	cancel()
	if err := <-failed; !errors.Is(err, zkio.ErrOutcomeUnknown) || !errors.Is(err, context.Canceled) {
		t.Errorf("on its way: %v", err)
	}
	close(gate)
}

// An older server does not know containers: it says so and closes the connection.
func TestFact23_NoContainers(t *testing.T) {
	srv := zkmem.Start(t, zkmem.Options{NoContainers: true})
	r, _ := attachedRig(t, srv)
	if got := r.ask(events.Create{Call: r.call(), Path: "/c", Mode: events.Container}); got.Code !=
		events.Unimplemented {
		t.Errorf("got %+v", got)
	}
	r.await(events.ConnectionAttached)
	if got := r.ask(events.Create{Call: r.call(), Path: "/c", Mode: events.Persistent}); got.Code != "" {
		t.Errorf("got %+v", got)
	}
}

// A listing above the limit is a named error of that request alone.
func TestFact25_AListingAboveTheLimit(t *testing.T) {
	srv := zkmem.Start(t)
	r := newRig(t, zkio.Config{Servers: []string{srv.Addr()}, MaxAnswer: 4096})
	r.Execute(events.SessionMachine, events.Connect{Session: 1})
	r.await(events.ConnectionAttached)
	srv.Create("/l", nil, zkmem.Persistent)
	for i := range 500 {
		srv.Create(fmt.Sprintf("/l/node-%d", i), nil, zkmem.Persistent)
	}
	if got := r.ask(events.Children{Call: r.call(), Path: "/l"}); got.Code != events.TooLarge || got.Children != nil {
		t.Errorf("got %+v", got)
	}
	if got := r.ask(events.Exists{Call: r.call(), Path: "/l"}); got.Code != "" || got.Stat.NumChildren != 500 {
		t.Errorf("then %+v", got)
	}
	if n := srv.Counts().Handshakes; n != 1 {
		t.Errorf("%d handshakes", n)
	}
}

// An urgent request waits for at most one window of each lane, however many requests wait:
// ten thousand handles that start, or that close.
func TestUrgentGoesPastEverythingThatWaits(t *testing.T) {
	for name, kind := range map[string]func(*rig) events.Effect{
		"reads":   func(r *rig) events.Effect { return events.Sync{Call: r.call(), Path: "/"} },
		"deletes": func(r *rig) events.Effect { return events.Delete{Call: r.call(), Path: "/"} },
	} {
		t.Run(name, func(t *testing.T) { urgentGoesPast(t, kind) })
	}
}

func urgentGoesPast(t *testing.T, kind func(*rig) events.Effect) {
	const line, window = 10000, 64
	srv := zkmem.Start(t)
	r, _ := attachedRig(t, srv)
	served, at := 0, map[string]int{}
	first, gate := make(chan struct{}), make(chan struct{})
	srv.Intercept(func(q zkmem.Request) zkmem.Verdict {
		if q.Op == zkmem.OpPing {
			return zkmem.Verdict{}
		}
		served++
		if q.Path != "/" {
			at[q.Path] = served
		}
		if served == 1 {
			close(first)
			return zkmem.Verdict{Wait: gate}
		}
		return zkmem.Verdict{}
	})
	for range line {
		r.Execute(machine, kind(r))
	}
	<-first
	heartbeat := r.call()
	heartbeat.Urgent = true
	r.Execute(events.SessionMachine, events.Sync{Call: heartbeat, Path: "/heartbeat"})
	close(gate)
	for range line + 1 {
		r.await(events.ReplySync, events.ReplyDelete)
	}
	for path, place := range at {
		if place > window+2 {
			t.Errorf("%s was served as number %d", path, place)
		}
	}
	if len(at) != 1 {
		t.Errorf("served: %v", at)
	}
}

func TestChrootIsInvisible(t *testing.T) {
	srv := zkmem.Start(t)
	srv.Create("/app", nil, zkmem.Persistent)
	r := newRig(t, zkio.Config{Servers: []string{srv.Addr()}, Chroot: "/app"})
	r.Execute(events.SessionMachine, events.Connect{Session: 1})
	r.await(events.ConnectionAttached)
	if got := r.ask(events.Create{Call: r.call(), Path: "/l", Mode: events.Persistent}); got.Path != "/l" {
		t.Errorf("create: %+v", got)
	}
	if got := r.ask(events.Children{Call: r.call(), Path: "/", Watch: true}); len(got.Children) != 1 ||
		got.Path != "/" {
		t.Errorf("children: %+v", got)
	}
	srv.Create("/app/m", nil, zkmem.Persistent)
	if got := r.await(events.WatchChildren); got.Path != "/" {
		t.Errorf("event: %+v", got)
	}
	results, _, err := r.Commit(t.Context(), 1, []events.Op{{Verb: "create", Path: "/n", Mode: events.Persistent}})
	if err != nil || results[0].Path != "/n" {
		t.Errorf("Commit: %+v %v", results, err)
	}
	srv.View(func(v *zkmem.View) {
		if got := v.Children("/app"); len(got) != 3 {
			t.Errorf("under /app: %q", got)
		}
	})
}
