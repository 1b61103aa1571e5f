package zkmem_test

import (
	"fmt"
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
