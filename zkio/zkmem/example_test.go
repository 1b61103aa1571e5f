package zkmem_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// A server for a program or an example; a test calls zkmem.Start(t) instead.
func Example() {
	srv := zkmem.New(zkmem.Options{})
	defer srv.Close()
	if err := srv.Listen("127.0.0.1:0"); err != nil {
		fmt.Println(err)
		return
	}
	conn, _, err := zk.Connect([]string{srv.Addr()}, 10*time.Second, zk.WithLogger(quiet{}))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close()
	for range 2 {
		path, err := conn.Create("/candidate-", nil, zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll))
		fmt.Println(path, err)
	}
	// Output:
	// /candidate-0000000000 <nil>
	// /candidate-0000000001 <nil>
}

// The reply to a create is lost: done on the server, unknown to the client.
func ExampleServer_Intercept() {
	srv := zkmem.New(zkmem.Options{})
	defer srv.Close()
	if err := srv.Listen("127.0.0.1:0"); err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
		if r.Op == zkmem.OpCreate {
			return zkmem.Verdict{Action: zkmem.CutAfter}
		}
		return zkmem.Verdict{}
	})()
	conn, _, err := zk.Connect([]string{srv.Addr()}, 10*time.Second, zk.WithLogger(quiet{}))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close()
	_, err = conn.Create("/candidate", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
	fmt.Println("the client knows:", err == nil)
	srv.View(func(v *zkmem.View) { fmt.Println("the server has it:", v.Exists("/candidate")) })
	// Output:
	// the client knows: false
	// the server has it: true
}

// A follower that is cut off: it answers reads from an old state, until it notices. Its client goes on at another
// server.
func ExampleEnsemble() {
	e, err := zkmem.NewEnsemble(3, zkmem.Options{}) // a test calls zkmem.StartEnsemble(t, 3), which listens, too
	if err != nil {
		fmt.Println(err)
		return
	}
	defer e.Close()
	for _, s := range e.Servers() {
		if err := s.Listen("127.0.0.1:0"); err != nil {
			fmt.Println(err)
			return
		}
	}
	cut, at := e.Followers()[0], &oneServer{}
	at.addr.Store(cut.Addr())
	conn, _, err := zk.Connect([]string{cut.Addr()}, 10*time.Second, zk.WithLogger(quiet{}), zk.WithHostProvider(at))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close()
	conn.Exists("/") // it is connected
	session := conn.SessionID()

	e.Isolate(cut)
	e.Leader().Create("/news", nil, zkmem.Persistent)
	there, _, err := conn.Exists("/news")
	fmt.Println("cut off:", there, err)

	at.addr.Store(e.Leader().Addr())
	e.Advance(10 * time.Second) // the follower notices, and ends its connections
	for there = false; !there; {
		there, _, _ = conn.Exists("/news")
	}
	fmt.Println("at the leader:", there, conn.SessionID() == session)
	e.Heal()
	cut.WaitFor(context.Background(), func(v *zkmem.View) bool { return v.Exists("/news") })
	fmt.Println("healed:", len(e.Followers()), "followers")
	// Output:
	// cut off: false <nil>
	// at the leader: true true
	// healed: 2 followers
}

// oneServer has a client connect to one server only, which the example changes.
type oneServer struct{ addr atomic.Value }

func (p *oneServer) Init([]string) error                    { return nil }
func (p *oneServer) Len() int                               { return 1 }
func (p *oneServer) Connected()                             {}
func (p *oneServer) Next() (server string, retryStart bool) { return p.addr.Load().(string), false }
