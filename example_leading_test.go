package incumbent_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// ensemble is an in-memory ZooKeeper for the examples. Your program uses the connect string
// of your own ensemble: "zk1:2181,zk2:2181,zk3:2181".
func ensemble() (servers string, stop func()) {
	srv := zkmem.New(zkmem.Options{})
	if err := srv.Listen("127.0.0.1:0"); err != nil {
		panic(err)
	}
	return srv.Addr(), srv.Close
}

// open is Open without error handling.
func open(ctx context.Context, servers string) *incumbent.Client {
	client, err := incumbent.Open(ctx, incumbent.Config{Servers: servers})
	if err != nil {
		panic(err)
	}
	return client
}

func ExampleOpen() {
	servers, stop := ensemble()
	defer stop()
	ctx := context.Background()

	client, err := incumbent.Open(ctx, incumbent.Config{Servers: servers})
	if err != nil {
		fmt.Println(err) // it says which setting is wrong, and what would be right
		return
	}
	defer client.Close(ctx)

	if err := client.WaitConnected(ctx); err != nil {
		fmt.Println(err) // it has the answer of every server
		return
	}
	fmt.Println(client.Connection())
	// Output: CONNECTED
}

func ExampleLatch() {
	servers, stop := ensemble()
	defer stop()
	ctx := context.Background()
	client := open(ctx, servers)
	defer client.Close(ctx)

	latch, err := client.Latch("/jobs/nightly", incumbent.LatchOptions{ID: "host-a"})
	if err != nil {
		panic(err)
	}
	err = latch.Run(ctx, func(leadership *incumbent.Leadership) error { // called under each term
		fmt.Println("leads:", leadership.Check() == nil)
		// Real work returns when leadership.Context() ends.
		return errors.New("out of disk")
	})
	fmt.Println("the work returned:", err)
	fmt.Println(latch.State())
	// Output:
	// leads: true
	// the work returned: out of disk
	// CLOSED
}

func ExampleLatch_Await() {
	servers, stop := ensemble()
	defer stop()
	ctx := context.Background()
	client := open(ctx, servers)
	defer client.Close(ctx)

	latch, err := client.Latch("/jobs/nightly", incumbent.LatchOptions{ID: "host-a"})
	if err != nil {
		panic(err)
	}
	if err := latch.Start(); err != nil {
		panic(err)
	}
	leadership, err := latch.Await(ctx)
	if err != nil {
		panic(err)
	}
	fmt.Println("leads:", latch.HasLeadership())
	leadership.Release() // the work is done; the latch goes on leading

	fmt.Println("closed:", latch.Close(ctx))
	fmt.Println("leads:", latch.HasLeadership())
	// Output:
	// leads: true
	// closed: <nil>
	// leads: false
}

func ExampleLatch_AddListener() {
	servers, stop := ensemble()
	defer stop()
	ctx := context.Background()
	client := open(ctx, servers)
	defer client.Close(ctx)

	latch, _ := client.Latch("/jobs/nightly", incumbent.LatchOptions{})
	began, over := make(chan struct{}), make(chan struct{})
	latch.AddListener(incumbent.Listener{
		IsLeader:  func(incumbent.Term) { fmt.Println("the term begins"); close(began) },
		NotLeader: func(_ incumbent.Term, why error) { fmt.Println(why); close(over) },
	})
	if err := latch.Start(); err != nil {
		panic(err)
	}
	<-began
	_ = latch.Close(ctx)
	<-over
	// Output:
	// the term begins
	// incumbent: leadership of /jobs/nightly (token 5) ended: closed
}

// A leader whose database is gone lets the next participant lead. It stays out of the line
// until its check succeeds.
func ExampleLatchOptions_healthy() {
	srv := zkmem.New(zkmem.Options{})
	if err := srv.Listen("127.0.0.1:0"); err != nil {
		panic(err)
	}
	defer srv.Close()
	ctx := context.Background()
	var down atomic.Bool
	ping := func(context.Context) error {
		if down.Load() {
			return errors.New("the database does not answer")
		}
		return nil
	}
	a, b := open(ctx, srv.Addr()), open(ctx, srv.Addr())
	defer a.Close(ctx)
	defer b.Close(ctx)
	first, err := a.Latch("/jobs", incumbent.LatchOptions{Healthy: ping, HealthInterval: 10 * time.Millisecond})
	if err != nil {
		panic(err)
	}
	second, err := b.Latch("/jobs", incumbent.LatchOptions{})
	if err != nil {
		panic(err)
	}
	if err := first.Start(); err != nil {
		panic(err)
	}
	leadership, err := first.Await(ctx)
	if err != nil {
		panic(err)
	}
	if err := second.Start(); err != nil {
		panic(err)
	}

	down.Store(true)
	<-leadership.Context().Done()
	fmt.Println(incumbent.LostReason(context.Cause(leadership.Context())))
	fmt.Println("out of the line:", errors.Is(first.Err(), incumbent.ErrUnhealthy))
	leadership.Release() // the work has returned: now the place is given up
	next, err := second.Await(ctx)
	if err != nil {
		panic(err)
	}
	fmt.Println("the second leads")
	next.Release()
	// Output:
	// the health check failed
	// out of the line: true
	// the second leads
}

func ExampleSelector() {
	servers, stop := ensemble()
	defer stop()
	ctx, cancel := context.WithCancel(context.Background())
	client := open(ctx, servers)
	defer client.Close(context.Background())

	terms := 0
	work := func(leadership *incumbent.Leadership) error {
		terms++
		fmt.Println("term", terms)
		if terms == 2 {
			cancel()                      // two terms are enough
			<-leadership.Context().Done() // real work watches this all the time
		}
		return nil // give leadership up, and queue again at the tail
	}
	selector, err := client.Selector("/jobs/nightly", work, incumbent.SelectorOptions{AutoRequeue: true})
	if err != nil {
		panic(err)
	}
	fmt.Println(selector.Run(ctx))
	// Output:
	// term 1
	// term 2
	// <nil>
}

// Five participants, each with a client of its own as in five processes, lead one after
// another. The server's list of watches shows which participant watched which.
func ExampleElection() {
	srv := zkmem.New(zkmem.Options{})
	if err := srv.Listen("127.0.0.1:0"); err != nil {
		panic(err)
	}
	defer srv.Close()
	ctx := context.Background()
	var candidates []*incumbent.Election
	for i, id := range []string{"a", "b", "c", "d", "e"} {
		client := open(ctx, srv.Addr())
		defer client.Close(ctx)
		candidate, err := client.Election("/election", "n_", incumbent.LatchOptions{ID: id})
		if err != nil {
			panic(err)
		}
		if err := candidate.Start(); err != nil {
			panic(err)
		}
		candidates = append(candidates, candidate)
		// In line, and watching: every participant watches its own node and the one before.
		armed := func(v *zkmem.View) bool { return v.WatchCount() == 2*i+1 }
		if err := srv.WaitFor(ctx, armed); err != nil {
			panic(err)
		}
	}
	for _, candidate := range candidates {
		leadership, err := candidate.Await(ctx)
		if err != nil {
			panic(err)
		}
		line, _ := candidate.Participants(ctx)
		node := strings.TrimPrefix(leadership.Term().Path, "/election/")
		fmt.Printf("%s leads with %s, watched by [%s]\n", candidate.ID(), node, watchers(srv.Addr(), line))
		leadership.Release()
		_ = candidate.Close(ctx)
	}
	// Output:
	// a leads with n_0000000000, watched by [b]
	// b leads with n_0000000001, watched by [c]
	// c leads with n_0000000002, watched by [d]
	// d leads with n_0000000003, watched by [e]
	// e leads with n_0000000004, watched by []
}

// watchers asks the server which participants watch the leader's node, apart from its
// owner: "wchp" answers with paths, and below each the sessions that watch it.
func watchers(server string, line []incumbent.Participant) string {
	conn, err := net.Dial("tcp", server)
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "wchp")
	text, _ := io.ReadAll(conn)
	_, after, _ := strings.Cut(string(text), line[0].Path+"\n")
	var ids []string
	for session := range strings.Lines(after) {
		if !strings.HasPrefix(session, "\t") {
			break // the next path
		}
		for _, p := range line[1:] {
			if strings.TrimSpace(session) == fmt.Sprintf("0x%x", p.Owner) {
				ids = append(ids, p.ID)
			}
		}
	}
	return strings.Join(ids, " ")
}

func ExampleLeadership() {
	servers, stop := ensemble()
	defer stop()
	ctx := context.Background()
	client := open(ctx, servers)
	defer client.Close(ctx)

	work := func(leadership *incumbent.Leadership) error {
		// Before any step that cannot be undone: Check reads a clock, and sends no request.
		if err := leadership.Check(); err != nil {
			return err
		}
		// Writes to other stores carry the token; the store refuses a lower one.
		fmt.Println("token is positive:", leadership.Token() > 0)
		// Writes to ZooKeeper are committed only if the own node still exists.
		_, err := leadership.Write(leadership.Context(), incumbent.CreateNode("/jobs/done", []byte("2026-11-21")))
		switch {
		case errors.Is(err, incumbent.ErrOutcomeUnknown): // read before you decide
		case errors.Is(err, incumbent.ErrLeadershipLost): // nothing was written
		}
		return err
	}
	selector, err := client.Selector("/jobs/nightly", work, incumbent.SelectorOptions{})
	if err != nil {
		panic(err)
	}
	fmt.Println(selector.Run(ctx)) // without AutoRequeue: one term
	// Output:
	// token is positive: true
	// <nil>
}

func ExampleClient_OnConnection() {
	servers, stop := ensemble()
	defer stop()
	ctx := context.Background()
	client := open(ctx, servers)
	defer client.Close(ctx)

	states := make(chan incumbent.ConnectionState)
	remove := client.OnConnection(func(state incumbent.ConnectionState) { states <- state })
	defer remove()
	fmt.Println(<-states)
	// Output: CONNECTED
}

func ExampleClient_Line() {
	servers, stop := ensemble()
	defer stop()
	ctx := context.Background()
	client := open(ctx, servers)
	defer client.Close(ctx)

	latch, err := client.Latch("/jobs/nightly", incumbent.LatchOptions{ID: "host-a"})
	if err != nil {
		panic(err)
	}
	if err := latch.Start(); err != nil {
		panic(err)
	}
	if leadership, err := latch.Await(ctx); err == nil {
		leadership.Release()
	}
	line, err := client.Line(ctx, "/jobs/nightly")
	if err != nil {
		panic(err)
	}
	for _, p := range line.Participants {
		fmt.Printf("%q is first: %t\n", p.ID, p.First) // an ID is foreign text: quote it
	}
	// Output: "host-a" is first: true
}
