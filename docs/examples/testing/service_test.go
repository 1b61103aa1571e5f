package reports

import (
	"cmp"
	"context"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// instance is one instance of the service in a test.
type instance struct {
	due  chan time.Time // a send returns when the instance leads, and takes it
	sent chan int
}

// start runs an instance until the test ends.
func start(t *testing.T, config incumbent.Config) *instance {
	i := &instance{due: make(chan time.Time), sent: make(chan int, 100)}
	send := func(_ context.Context, number int) error { i.sent <- number; return nil }
	run(t, config, &Service{Due: i.due, Send: send})
	return i
}

func run(t *testing.T, config incumbent.Config, s *Service) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- s.Run(ctx, config) }()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
}

// report lets one report be due, and returns its number. It waits until the instance leads.
func (i *instance) report() int {
	i.due <- time.Now()
	return <-i.sent
}

func TestReportsAreNumbered(t *testing.T) {
	srv := zkmem.Start(t) // closed when the test ends
	a := start(t, incumbent.Config{Servers: srv.Addr()})
	if first, second := a.report(), a.report(); first != 1 || second != 2 {
		t.Errorf("sent %d and %d, want 1 and 2", first, second)
	}
}

// leader returns the session of the instance that leads: the first in line.
func leader(srv *zkmem.Server) (session int64) {
	srv.View(func(v *zkmem.View) {
		first := slices.MinFunc(v.Children(line), func(a, b string) int {
			return cmp.Compare(a[len(a)-10:], b[len(b)-10:]) // the number at the end of the name
		})
		_, stat, _ := v.Get(line + "/" + first)
		session = stat.EphemeralOwner
	})
	return session
}

// inLine waits until this many instances are in line.
func inLine(t *testing.T, srv *zkmem.Server, count int) {
	err := srv.WaitFor(t.Context(), func(v *zkmem.View) bool { return len(v.Children(line)) == count })
	if err != nil {
		t.Fatal(err)
	}
}

func TestTheNextInLineGoesOn(t *testing.T) {
	srv := zkmem.Start(t)
	config := incumbent.Config{Servers: srv.Addr()}
	a := start(t, config)
	a.report()
	b := start(t, config)
	inLine(t, srv, 2)
	srv.ExpireSession(leader(srv))
	if got := b.report(); got != 2 {
		t.Errorf("the next leader sent %d, want 2", got)
	}
}

func TestALostConnection(t *testing.T) {
	srv := zkmem.Start(t)
	a := start(t, incumbent.Config{Servers: srv.Addr()})
	a.report()
	srv.Disconnect(leader(srv)) // the session lives on
	if got := a.report(); got <= 1 {
		t.Errorf("sent %d again", got)
	}
}

func TestALostReply(t *testing.T) {
	srv := zkmem.Start(t)
	a := start(t, incumbent.Config{Servers: srv.Addr()})
	a.report()
	var lost sync.Once
	srv.Intercept(func(r zkmem.Request) (v zkmem.Verdict) {
		if r.Op == zkmem.OpMulti {
			lost.Do(func() { v.Action = zkmem.CutAfter }) // it is carried out, and the connection ends
		}
		return v
	})
	if got := a.report(); got <= 1 {
		t.Errorf("sent %d again", got)
	}
}

func TestAServerThatIsGoneForAWhile(t *testing.T) {
	srv := zkmem.Start(t)
	a := start(t, incumbent.Config{Servers: srv.Addr()})
	a.report()
	srv.Stop()
	if err := srv.Restart(); err != nil {
		t.Fatal(err)
	}
	if got := a.report(); got <= 1 {
		t.Errorf("sent %d again", got)
	}
}

func TestASilentServerEndsTheWork(t *testing.T) {
	const tick = 100 * time.Millisecond
	srv := zkmem.Start(t, zkmem.Options{Tick: tick})
	config := incumbent.Config{Servers: srv.Addr(), Tick: tick, SessionTimeout: 4 * tick}
	due, began := make(chan time.Time, 1), make(chan bool, 100)
	run(t, config, &Service{Due: due, Send: func(ctx context.Context, _ int) error {
		began <- true
		<-ctx.Done() // a long report ends because the leadership does
		return ctx.Err()
	}})
	due <- time.Now()
	<-began
	b := start(t, config)
	inLine(t, srv, 2)
	srv.Freeze(zkmem.Outbound, leader(srv)) // until srv.Heal()
	if got := b.report(); got != 2 {
		t.Errorf("the next leader sent %d, want 2", got)
	}
}

func TestARollingRestart(t *testing.T) {
	e := zkmem.StartEnsemble(t, 3)
	a := start(t, incumbent.Config{Servers: e.Addr()})
	last := a.report()
	for _, srv := range e.Servers() {
		srv.Stop()
		if err := srv.Restart(); err != nil {
			t.Fatal(err)
		}
		got := a.report()
		if got <= last {
			t.Errorf("sent %d after %d", got, last)
		}
		last = got
	}
}

func TestAFollowerThatIsCutOffEndsTheWork(t *testing.T) {
	const tick = 100 * time.Millisecond
	e := zkmem.StartEnsemble(t, 3, zkmem.Options{Tick: tick})
	cut := e.Followers()[0]
	config := incumbent.Config{Servers: cut.Addr(), Tick: tick, SessionTimeout: 4 * tick}
	due, began := make(chan time.Time, 1), make(chan bool, 100)
	run(t, config, &Service{Due: due, Send: func(ctx context.Context, _ int) error {
		began <- true
		<-ctx.Done()
		return ctx.Err()
	}})
	due <- time.Now()
	<-began
	config.Servers = e.Leader().Addr()
	b := start(t, config)
	inLine(t, e.Leader(), 2)
	if err := e.Isolate(cut); err != nil { // until e.Reconnect(cut) or e.Heal()
		t.Fatal(err)
	}
	if got := b.report(); got != 2 {
		t.Errorf("the next leader sent %d, want 2", got)
	}
}

// ensemble returns the address of an empty ZooKeeper: in memory, or below a node of the
// server that ZOOKEEPER names, as in ZOOKEEPER=127.0.0.1:2181.
func ensemble(t *testing.T) string {
	servers := os.Getenv("ZOOKEEPER")
	if servers == "" {
		return zkmem.Start(t).Addr()
	}
	client, err := incumbent.Open(t.Context(), incumbent.Config{Servers: servers})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close(context.Background()) }()
	root, err := client.Create("/test-", nil).Sequential().Do(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return servers + root
}

func TestReportsOnAnyServer(t *testing.T) {
	config := incumbent.Config{Servers: ensemble(t)}
	a := start(t, config)
	for want := 1; want <= 3; want++ {
		if got := a.report(); got != want {
			t.Errorf("sent %d, want %d", got, want)
		}
	}
}
