package zkio_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// The tests of this and the other facts_ files have the numbers of the facts about
// go-zookeeper and ZooKeeper that this room has to cope with.
//
// Other rooms cover these facts: 19 (zk.Lock and the protected create are not used: test/
// bans them), 22 (the end of the sequence: machines), 26 (the clock that runs while a
// machine is suspended: the door passes it as Config.Now), 28 (what counts as a
// confirmation: machines; zkio gives SentAt and Zxid).

// 200 sessions expire while creates are pending. Every create names its session; the server
// gets none in another one.
func TestFact01_NothingCrossesSessions(t *testing.T) {
	const sessions, calls = 40, 50
	srv := zkmem.Start(t)
	owners := map[int64]string{} // by session id: the prefix of its paths
	var crossed []string
	srv.Intercept(func(q zkmem.Request) zkmem.Verdict {
		if q.Op != zkmem.OpCreate {
			return zkmem.Verdict{}
		}
		prefix, _, _ := strings.Cut(q.Path, "-")
		if owner, known := owners[q.Session]; known && owner != prefix {
			crossed = append(crossed, q.Path)
		}
		owners[q.Session] = prefix
		return zkmem.Verdict{}
	})
	r := newRig(t, zkio.Config{Servers: []string{srv.Addr()}})
	for n := int64(1); n <= sessions; n++ {
		r.Execute(events.SessionMachine, events.Connect{Session: n})
		attached := r.await(events.ConnectionAttached)
		for i := range calls {
			r.Execute(machine,
				events.Create{Call: r.callIn(n), Path: fmt.Sprintf("/s%d-%d", n, i), Mode: events.Ephemeral})
			if i == calls/2 {
				srv.ExpireSession(attached.SessionID)
			}
		}
		lost := r.await(events.ConnectionLost)
		if lost.Session != n || lost.Code != events.SessionExpired {
			t.Fatalf("lost: %+v", lost)
		}
		if got := r.ask(events.Sync{Call: r.callIn(n), Path: "/"}); got.Code != events.SessionExpired ||
			got.SentAt != 0 {
			t.Fatalf("a request of a lost session: %+v", got)
		}
	}
	if len(crossed) > 0 {
		t.Errorf("%d requests crossed: %q", len(crossed), crossed)
	}
	replies := map[uint64]int{}
	for _, e := range r.all {
		if e.Event.Kind == events.ReplyCreate {
			replies[e.Event.Request]++
		}
	}
	if len(replies) != sessions*calls {
		t.Errorf("%d creates were answered, want %d", len(replies), sessions*calls)
	}
	for request, n := range replies {
		if n != 1 {
			t.Errorf("request %d has %d replies", request, n)
		}
	}
}

// A server that accepts the connection and sends nothing is given up after the handshake's
// own deadline, not after 6.7 session timeouts.
func TestFact04_OwnDeadlineForTheHandshake(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		p := newPipes(t, zkmem.Options{HandshakeTimeout: time.Hour})
		p.Freeze(zkmem.Outbound)
		start := time.Now()
		r := newRig(t, zkio.Config{Servers: []string{"mem"}, Dial: p.dial})
		r.Execute(events.SessionMachine, events.Connect{Session: 1})
		refused := r.await(events.ConnectionRefused)
		if took := time.Since(start); took != 5*time.Second {
			t.Errorf("given up after %v", took)
		}
		if want := "mem:2181: silent for too long"; refused.Text != want || refused.Server != "mem:2181" {
			t.Errorf("refused: %+v", refused)
		}
		p.Heal()
		r.await(events.ConnectionAttached)
	})
}

// Silence is noticed after two thirds of the timeout, and reported immediately.
func TestFact05_SilenceIsNoticed(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		p := newPipes(t, zkmem.Options{})
		r, _ := pipedRig(t, p, zkio.Config{})
		p.Freeze(zkmem.Outbound)
		start := time.Now()
		suspended := r.await(events.ConnectionSuspended)
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("noticed after %v", took)
		}
		if !strings.Contains(suspended.Text, "silent for too long") {
			t.Errorf("suspended: %+v", suspended)
		}
	})
}

func TestFact06_NegotiatedTimeout(t *testing.T) {
	srv := zkmem.Start(t, zkmem.Options{Tick: 100 * time.Millisecond}) // grants at most 2 s
	if _, attached := attachedRig(t, srv); attached.Timeout != int64(2*time.Second) {
		t.Errorf("granted %v", time.Duration(attached.Timeout))
	}
}

// A Keeper gives a new session instead of the old one: the old one is lost.
func TestFact07_NewIDOnReattachMeansLost(t *testing.T) {
	srv := zkmem.Start(t, zkmem.Options{NewSessionIDOnReattach: true})
	r, attached := attachedRig(t, srv)
	srv.Disconnect(attached.SessionID)
	r.await(events.ConnectionSuspended)
	lost := r.await(events.ConnectionLost, events.ConnectionAttached)
	if lost.Kind != events.ConnectionLost || !strings.Contains(lost.Text, "gave session 0x") {
		t.Errorf("got %+v", lost)
	}
	r.Execute(events.SessionMachine, events.Connect{Session: 2})
	if again := r.await(events.ConnectionAttached); again.Session != 2 || again.Reattached {
		t.Errorf("then %+v", again)
	}
}

// A thousand events that come together all arrive: zk.Conn of go-zookeeper has room for 6.
func TestFact08_NoEventIsDropped(t *testing.T) {
	const n = 1000
	srv := zkmem.Start(t)
	r, _ := attachedRig(t, srv)
	srv.Create("/l", nil, zkmem.Persistent)
	for i := range n {
		r.Execute(machine, events.Exists{Call: r.call(), Path: fmt.Sprintf("/l/%d", i), Watch: true})
	}
	for range n {
		r.await(events.ReplyStat)
	}
	for i := range n {
		srv.Create(fmt.Sprintf("/l/%d", i), nil, zkmem.Persistent)
	}
	for i := range n {
		if e := r.await(events.WatchCreated); e.Path != fmt.Sprintf("/l/%d", i) {
			t.Fatalf("event %d is %+v", i, e)
		}
	}
}

// "Closed" is posted only if the server confirmed it.
func TestFact09_CloseIsConfirmedOrAbandoned(t *testing.T) {
	t.Run("confirmed", func(t *testing.T) {
		srv := zkmem.Start(t)
		r, _ := attachedRig(t, srv)
		r.Execute(events.SessionMachine, events.CloseSession{Session: 1})
		r.Execute(events.SessionMachine, events.CloseSession{Session: 1})
		if closed := r.await(events.ConnectionClosed); closed.Code != "" || closed.Session != 1 {
			t.Errorf("closed: %+v", closed)
		}
		if n := len(srv.Sessions()); n != 0 {
			t.Errorf("%d sessions are left", n)
		}
	})
	t.Run("no answer", func(t *testing.T) {
		virtual.Test(t, func(t *testing.T) {
			p := newPipes(t, zkmem.Options{})
			r, _ := pipedRig(t, p, zkio.Config{})
			p.Freeze(zkmem.Outbound)
			r.Execute(events.SessionMachine, events.CloseSession{Session: 1})
			closed := r.await(events.ConnectionClosed)
			if closed.Code != events.ConnectionLoss ||
				!strings.Contains(closed.Text, "abandoned (mem:2181: no answer to the close request)") {
				t.Errorf("closed: %+v", closed)
			}
		})
	})
	t.Run("not connected", func(t *testing.T) {
		srv := zkmem.Start(t)
		r, attached := attachedRig(t, srv)
		srv.RefuseConnections(true)
		srv.Disconnect(attached.SessionID)
		r.await(events.ConnectionSuspended)
		r.Execute(events.SessionMachine, events.CloseSession{Session: 1})
		if closed := r.await(events.ConnectionClosed); closed.Code != events.ConnectionLoss {
			t.Errorf("closed: %+v", closed)
		}
	})
	t.Run("over already", func(t *testing.T) {
		srv := zkmem.Start(t)
		r, _ := attachedRig(t, srv)
		r.Execute(events.SessionMachine, events.CloseSession{Session: 7})
		if closed := r.await(events.ConnectionClosed); closed.Code != events.SessionExpired || closed.Session != 7 {
			t.Errorf("closed: %+v", closed)
		}
	})
}

// Calls in flight at the end of a session get one reply each, for every kind of end.
func TestFact10_CallsInFlightAtTheEnd(t *testing.T) {
	ends := map[string]func(*rig){
		"abandon": func(r *rig) { r.Execute(events.SessionMachine, events.Abandon{Session: 1}) },
		"replace": func(r *rig) { r.Execute(events.SessionMachine, events.Connect{Session: 2}) },
		"adapter": func(r *rig) { _ = r.Close(r.t.Context()) },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			srv := zkmem.Start(t)
			srv.Intercept(func(q zkmem.Request) zkmem.Verdict {
				if q.Op == zkmem.OpSync {
					return zkmem.Verdict{Action: zkmem.Ignore}
				}
				return zkmem.Verdict{}
			})
			r := newRig(t, zkio.Config{Servers: []string{srv.Addr()}, Window: 2})
			r.Execute(events.SessionMachine, events.Connect{Session: 1})
			r.await(events.ConnectionAttached)
			for range 5 {
				r.Execute(machine, events.Sync{Call: r.call(), Path: "/"})
			}
			waitFor(t, srv, "two requests", func(v *zkmem.View) bool { return v.Counts().ByOp[zkmem.OpSync] == 2 })
			end(r)
			if got := r.take().Event; got.Kind != events.ConnectionSuspended {
				t.Errorf("first came %+v", got)
			}
			for i := range 5 {
				want := events.ConnectionLoss
				if i >= 2 {
					want = events.NotSent
				}
				if got := r.take().Event; got.Code != want || got.Request != uint64(i+1) || got.Session != 1 {
					t.Errorf("reply %d: %+v", i, got)
				}
			}
			if got := r.ask(events.Sync{Call: r.call(), Path: "/"}); got.Code != events.SessionExpired {
				t.Errorf("later: %+v", got)
			}
		})
	}
}

// A dial that does not return blocks the keeper: the watchdog abandons it.
func TestFact12_WatchdogAbandonsAWedgedConn(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		p := newPipes(t, zkmem.Options{})
		stuck := make(chan struct{})
		cfg := zkio.Config{Servers: []string{"mem"}}
		cfg.Dial = func(ctx dialContext, network, address string) (conn dialConn, err error) {
			<-stuck
			return p.dial(ctx, network, address)
		}
		r := newRig(t, cfg)
		r.Execute(events.SessionMachine, events.Connect{Session: 1})
		lost := r.await(events.ConnectionLost)
		if lost.Code != events.ConnectionLoss || !strings.Contains(lost.Text, "stuck") {
			t.Errorf("lost: %+v", lost)
		}
		close(stuck)
		r.Execute(events.SessionMachine, events.Connect{Session: 2})
		r.await(events.ConnectionAttached)
	})
}

// An abandoned session leaves no connection that could keep it alive, and opens none.
func TestFact21_AbandonStopsDialling(t *testing.T) {
	srv := zkmem.Start(t)
	r, _ := attachedRig(t, srv)
	before := srv.Counts().Handshakes
	r.Execute(events.SessionMachine, events.Abandon{Session: 1})
	waitFor(t, srv, "no connection", func(v *zkmem.View) bool { return v.Connections() == 0 })
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := srv.Counts().Handshakes; n != before {
		t.Errorf("%d handshakes after the end", n-before)
	}
}

func TestFact27_ReadOnlyServerIsRefused(t *testing.T) {
	srv := zkmem.Start(t, zkmem.Options{ReadOnly: true})
	r := newRig(t, zkio.Config{Servers: []string{srv.Addr()}})
	r.Execute(events.SessionMachine, events.Connect{Session: 1})
	refused := r.await(events.ConnectionRefused, events.ConnectionAttached)
	if !strings.Contains(refused.Text, srv.Addr()+": closed the connection in the handshake: it is read-only") {
		t.Errorf("refused: %+v", refused)
	}
}

func TestFact27_AuthFailedEndsTheSession(t *testing.T) {
	srv := zkmem.Start(t)
	seal := zkio.AuthOf("wax-seal", []byte("secret"))
	r := newRig(t, zkio.Config{Servers: []string{srv.Addr()}, Auth: []zkio.Auth{seal}})
	r.Execute(events.SessionMachine, events.Connect{Session: 1})
	refused, lost := r.take().Event, r.take().Event
	if refused.Kind != events.ConnectionRefused || refused.Code != events.AuthFailed ||
		strings.Contains(refused.Text, "secret") {
		t.Errorf("refused: %+v", refused)
	}
	if lost.Kind != events.ConnectionLost || lost.Code != events.AuthFailed {
		t.Errorf("lost: %+v", lost)
	}
}
