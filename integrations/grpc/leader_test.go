package incumbentgrpc_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/incumbent-go/incumbent"
	incumbentgrpc "github.com/incumbent-go/incumbent/integrations/grpc"
	"github.com/incumbent-go/incumbent/test/kit/instances"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// Calls that wait are all answered, by the leader, while leadership moves by resignations.
func TestCallsFollowTheLeader(t *testing.T) {
	srv := zkmem.Start(t)
	a := start(t, srv.Addr(), "a").leads(t)
	b := start(t, srv.Addr(), "b")
	conn := channel(t, open(t, incumbent.Config{Servers: srv.Addr()}))
	answers(t, conn, "a")
	done, calls := make(chan error, 1), 0
	ctx, stop := context.WithCancel(bounded(t))
	go func() {
		for ; ctx.Err() == nil; calls++ {
			if _, err := ask(bounded(t), conn, grpc.WaitForReady(true)); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for range 3 {
		for _, moves := range [][2]*member{{a, b}, {b, a}} {
			instances.InLine(t, srv, line, 2)
			if err := moves[0].latch.Resign(bounded(t)); err != nil {
				t.Fatal(err)
			}
			moves[1].leads(t)
			answers(t, conn, moves[1].id)
		}
	}
	stop()
	if err := <-done; err != nil || calls == 0 {
		t.Errorf("call %d: %v", calls, err)
	}
}

// Without a leader calls fail at once and say so, or wait for one.
func TestNobodyLeads(t *testing.T) {
	srv := zkmem.Start(t)
	conn := channel(t, open(t, incumbent.Config{Servers: srv.Addr()}))
	failing(t, conn, "nobody leads "+line)
	waiting := make(chan string, 1)
	go func() {
		id, err := ask(bounded(t), conn, grpc.WaitForReady(true))
		waiting <- id + errorText(err)
	}()
	a := start(t, srv.Addr(), "a")
	receive(t, waiting, "a")
	expire(t, srv, a.client)
	answers(t, conn, "a") // it queues again
	if err := a.client.Close(bounded(t)); err != nil {
		t.Fatal(err)
	}
	<-a.ended
	a.ended <- nil // the test's end waits for it, too
	failing(t, conn, "nobody leads "+line)
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// A persistent node that blocks the line, and a leader without an address, are named.
func TestALeaderThatIsNotReached(t *testing.T) {
	srv := zkmem.Start(t)
	for _, path := range []string{"/jobs", line} {
		if _, err := srv.Create(path, nil, zkmem.Persistent); err != nil {
			t.Fatal(err)
		}
	}
	own, err := srv.Create(line+"/latch-", []byte("x"), zkmem.PersistentSequential)
	if err != nil {
		t.Fatal(err)
	}
	c := open(t, incumbent.Config{Servers: srv.Addr()})
	conn := channel(t, c)
	failing(t, conn, own)
	if err := srv.Delete(own); err != nil {
		t.Fatal(err)
	}
	l, err := c.Latch(line, incumbent.LatchOptions{ID: "no address"})
	if err == nil {
		err = l.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	failing(t, conn, `the leader of `+line+`, "no address", has the address "no address": want host:port`)
	known := incumbentgrpc.Leaders(c, incumbentgrpc.LeaderOptions{Address: func(l incumbent.Leader) string {
		return map[string]string{"no address": a(t, srv)}[l.First.ID]
	}})
	_, err = ask(bounded(t), dial(t, "incumbent-leader://"+line, known.DialOptions()...))
	if !incumbentgrpc.Refused(err) {
		t.Errorf("a member behind the first answers %v", err)
	}
	m, err := c.Mutex(line, incumbent.MutexOptions{})
	if err != nil {
		t.Fatal(err)
	}
	hold, err := m.Lock(bounded(t))
	if err != nil {
		t.Fatal(err)
	}
	failing(t, conn, "several lines")
	if err := hold.Unlock(bounded(t)); err != nil {
		t.Fatal(err)
	}
	failing(t, conn, "no address")
}

// a returns the address of a member that does not lead.
func a(t *testing.T, srv *zkmem.Server) string { return start(t, srv.Addr(), "a").addr }

// short is a client whose session times out soon.
func short(srv *zkmem.Server) incumbent.Config {
	srv.SetSessionTimeouts(time.Millisecond, time.Minute)
	return incumbent.Config{Servers: srv.Addr(), Tick: 100 * time.Millisecond, SessionTimeout: time.Second}
}

// The address is dropped when the client has had no word from the ensemble for a session timeout, and comes back.
func TestAnUnconfirmedAddressIsDropped(t *testing.T) {
	srv := zkmem.Start(t)
	start(t, srv.Addr(), "a").leads(t)
	c := open(t, short(srv))
	conn := channel(t, c)
	answers(t, conn, "a")
	if err := c.Sync("/").Do(bounded(t)); err != nil {
		t.Fatal(err)
	}
	began, timeout := time.Now(), c.SessionTimeout()
	srv.Freeze(zkmem.Outbound, c.SessionID())
	srv.RefuseConnections(true)
	failing(t, conn, "is not known: incumbent: not connected")
	if after := time.Since(began); after < timeout/2 {
		t.Errorf("the address was dropped %s after the last answer, with a session timeout of %s", after, timeout)
	}
	srv.Heal()
	srv.RefuseConnections(false)
	answers(t, conn, "a")
}

// A line that may not be read has no leader for a channel that begins; one that has a leader keeps it for a session
// timeout.
func TestALineThatMayNotBeRead(t *testing.T) {
	srv := zkmem.Start(t)
	owner, c := open(t, incumbent.Config{Servers: srv.Addr()}), open(t, short(srv))
	leader := advertise(t, owner, serve(t, "a", nil).addr)
	conn := channel(t, c)
	answers(t, conn, "a")
	acl := func(perms int32) {
		t.Helper()
		list := incumbent.WorldAll()
		list[0].Perms = perms
		if _, err := owner.SetACL(bounded(t), line, list, incumbent.AnyVersion); err != nil {
			t.Fatal(err)
		}
	}
	acl(incumbent.PermAll &^ incumbent.PermRead)
	failing(t, channel(t, c), "is not known: incumbent: not authorised")
	answers(t, conn, "a")
	if err := leader.Close(bounded(t)); err != nil { // the channel's client lists the line, and is refused
		t.Fatal(err)
	}
	failing(t, conn, "is not known: incumbent: not authorised")
	acl(incumbent.PermAll)
	advertise(t, owner, serve(t, "b", nil).addr)
	answers(t, conn, "b")
}

// advertise starts a latch that advertises an address.
func advertise(t *testing.T, c *incumbent.Client, address string) *incumbent.Latch {
	t.Helper()
	l, err := c.Latch(line, incumbent.LatchOptions{Advertise: address})
	if err == nil {
		err = l.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// A leader that advertises a URL is reached, too.
func TestALeaderWithAURL(t *testing.T) {
	c := open(t, incumbent.Config{Servers: zkmem.Start(t).Addr()})
	advertise(t, c, "http://"+serve(t, "a", nil).addr+"/orders")
	answers(t, channel(t, c), "a")
}

// A channel whose client reaches no server, or is closed, says so; one that is closed at any moment leaves nothing.
func TestChannelsThatCannotResolve(t *testing.T) {
	addr, err := zkmem.FreeAddr()
	if err != nil {
		t.Fatal(err)
	}
	c := open(t, incumbent.Config{Servers: addr})
	conn := channel(t, c)
	failing(t, conn, addr)
	if err := c.Close(bounded(t)); err != nil {
		t.Fatal(err)
	}
	failing(t, conn, incumbent.ErrClosed.Error())
	failing(t, channel(t, c), incumbent.ErrClosed.Error())
	failing(t, serviceChannel(t, c, incumbentgrpc.ServiceOptions{}), "closed")

	srv := zkmem.Start(t)
	start(t, srv.Addr(), "a").leads(t)
	c = open(t, incumbent.Config{Servers: srv.Addr()})
	// An answer shows that zk.Conn's goroutines have begun: it begins them a moment after the connection is attached.
	if _, err := c.Exists("/").Do(bounded(t)); err != nil {
		t.Fatal(err)
	}
	before := goleak.IgnoreCurrent()
	leaders := incumbentgrpc.Leaders(c, incumbentgrpc.LeaderOptions{})
	for i := range 50 {
		target := "incumbent-leader://" + line
		if i%2 == 0 {
			target = "incumbent:///services/orders"
		}
		conn, err := grpc.NewClient(target, append(leaders.DialOptions(),
			grpc.WithResolvers(incumbentgrpc.Services(c, incumbentgrpc.ServiceOptions{})),
			grpc.WithTransportCredentials(insecure.NewCredentials()))...)
		if err != nil {
			t.Fatal(err)
		}
		conn.Connect()
		if i%5 == 0 {
			_, _ = ask(bounded(t), conn)
		}
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
	}
	ctx := bounded(t)
	err = goleak.Find(before)
	for err != nil && ctx.Err() == nil { // the other ends of the connections end a moment later
		err = goleak.Find(before)
	}
	if err != nil {
		t.Error(err)
	}
	if token := leaders.Token(line); token != 0 {
		t.Errorf("without a channel the token is %d", token)
	}
}

// A target or option that is wrong is an error that says what would be right.
func TestWrongTargets(t *testing.T) {
	c := open(t, incumbent.Config{Servers: zkmem.Start(t).Addr()})
	for _, w := range []struct{ target, want string }{
		{"incumbent-leader://jobs/nightly", "three slashes"},
		{"incumbent-leader:jobs/nightly", "three slashes"},
		{"incumbent-leader:///jobs/nightly?x=y", "three slashes"},
		{"incumbent-leader:///jobs//nightly", "/jobs//nightly"},
		{"incumbent-leader:///", "/"},
		{"incumbent:///orders", "below a node"},
		{"incumbent://services/orders", "three slashes"},
		{"incumbent:///services/../orders", "path"},
		{"incumbent:///services/orders#", "MaxAge"},
	} {
		options := incumbentgrpc.ServiceOptions{}
		if strings.HasSuffix(w.target, "#") {
			options.MaxAge = -1
		}
		conn := dial(t, w.target, append(incumbentgrpc.Leaders(c, incumbentgrpc.LeaderOptions{}).DialOptions(),
			grpc.WithResolvers(incumbentgrpc.Services(c, options)))...)
		if _, err := ask(bounded(t), conn); err == nil || !strings.Contains(err.Error(), w.want) {
			t.Errorf("%s: %v, want %s", w.target, err, w.want)
		}
	}
}

// A waiting call ends with its context, and says who refused it.
func TestAWaitingCallEndsWithItsContext(t *testing.T) {
	srv := zkmem.Start(t)
	start(t, srv.Addr(), "a").leads(t)
	standby := start(t, srv.Addr(), "b")
	c := open(t, incumbent.Config{Servers: srv.Addr()})
	conn := dial(t, "incumbent-leader://"+line, incumbentgrpc.Leaders(c, incumbentgrpc.LeaderOptions{
		Address: func(incumbent.Leader) string { return standby.addr },
	}).DialOptions()...)
	if _, err := ask(bounded(t), conn); !incumbentgrpc.Refused(err) || status.Code(err) != codes.Unavailable {
		t.Errorf("a standby answers %v", err)
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), 200*time.Millisecond, errors.New("the test's"))
	defer cancel()
	_, err := ask(ctx, conn, grpc.WaitForReady(true))
	if status.Code(err) != codes.DeadlineExceeded || !strings.Contains(err.Error(), "does not lead") {
		t.Errorf("a call that waits fails with %v", err)
	}
	if n := standby.calls.Load(); n != 0 {
		t.Errorf("the standby has carried out %d calls", n)
	}
}

// The first call after the channel was idle has the token, too, and a call on a closed one fails.
func TestTheTokenIsSentAfterIdleness(t *testing.T) {
	c := open(t, incumbent.Config{Servers: zkmem.Start(t).Addr()})
	s, got := serve(t, "a", nil), make(chan string, 2)
	s.work = func(ctx context.Context) error {
		got <- strings.Join(metadata.ValueFromIncomingContext(ctx, incumbentgrpc.TokenKey), " ")
		return nil
	}
	held, err := advertise(t, c, s.addr).Await(bounded(t))
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	conn := channel(t, c, grpc.WithIdleTimeout(50*time.Millisecond))
	for range 2 {
		answers(t, conn, "a")
		if sent := <-got; sent != number(held.Token()) {
			t.Errorf("the token %q is sent, that of the leader is %d", sent, held.Token())
		}
		for ctx := bounded(t); conn.GetState() != connectivity.Idle; {
			if !conn.WaitForStateChange(ctx, conn.GetState()) {
				t.Fatalf("the channel stays %s", conn.GetState())
			}
		}
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := ask(bounded(t), conn); status.Code(err) != codes.Canceled {
		t.Errorf("a call on a closed channel: %v", err)
	}
}

// Calls have the token whatever characters the path has.
func TestTheTokenIsSentForEveryPath(t *testing.T) {
	srv := zkmem.Start(t)
	c := open(t, incumbent.Config{Servers: srv.Addr()})
	for path, target := range map[string]string{"/jobs/50%": "/jobs/50%25", "/jobs/a?b": "/jobs/a%3Fb",
		"/jobs/a#b":    "/jobs/a%23b",
		"/jobs/\u00fc": "/jobs/%C3%BC"} {
		s, got := serve(t, "a", nil), make(chan string, 2)
		s.work = func(ctx context.Context) error {
			got <- strings.Join(metadata.ValueFromIncomingContext(ctx, incumbentgrpc.TokenKey), " ")
			return nil
		}
		l, err := c.Latch(path, incumbent.LatchOptions{Advertise: s.addr})
		if err == nil {
			err = l.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		held, err := l.Await(bounded(t))
		if err != nil {
			t.Fatal(err)
		}
		leaders := incumbentgrpc.Leaders(c, incumbentgrpc.LeaderOptions{})
		conn := dial(t, "incumbent-leader://"+target, leaders.DialOptions()...)
		if _, err := ask(bounded(t), conn, grpc.WaitForReady(true)); err != nil {
			t.Fatal(err)
		}
		if sent := <-got; sent != number(held.Token()) {
			t.Errorf("%s: the token %q is sent, that of the leader is %d", path, sent, held.Token())
		}
		held.Release()
	}
}
