package incumbent_test

import (
	"context"
	"fmt"

	"github.com/incumbent-go/incumbent"
)

func ExampleMembership() {
	servers, stop := ensemble()
	defer stop()
	ctx := context.Background()
	client := open(ctx, servers)
	defer client.Close(ctx)

	for _, id := range []string{"host-a", "host-b"} {
		member, err := client.Membership("/services/render", id, []byte(id+":8080"), incumbent.PersistentNodeOptions{})
		if err != nil {
			panic(err)
		}
		if err := member.Start(); err != nil {
			panic(err)
		}
		if err := member.WaitPresent(ctx); err != nil {
			panic(err)
		}
	}
	members, err := client.Members(ctx, "/services/render")
	if err != nil {
		panic(err)
	}
	for _, m := range members {
		fmt.Printf("%q at %q\n", m.ID, m.Payload) // both are foreign text: quote them
	}
	// Output:
	// "host-a" at "host-a:8080"
	// "host-b" at "host-b:8080"
}

func ExampleClient_WatchMembers() {
	servers, stop := ensemble()
	defer stop()
	ctx := context.Background()
	client := open(ctx, servers)
	defer client.Close(ctx)

	member, err := client.Membership("/services/render", "host-a", nil, incumbent.PersistentNodeOptions{})
	if err != nil {
		panic(err)
	}
	for ids, err := range client.WatchMembers(ctx, "/services/render") {
		if err != nil {
			fmt.Println(err) // what is wrong now; the feed goes on
			continue
		}
		fmt.Println(len(ids), "in the group")
		if len(ids) == 1 {
			break // the feed ends with the loop
		}
		if err := member.Start(); err != nil {
			panic(err)
		}
	}
	// Output:
	// 0 in the group
	// 1 in the group
}

func ExamplePersistentNode() {
	servers, stop := ensemble()
	defer stop()
	ctx := context.Background()
	client := open(ctx, servers)
	defer client.Close(ctx)

	node, err := client.PersistentNode("/services/render/active", []byte("starting"), incumbent.PersistentNodeOptions{})
	if err != nil {
		panic(err)
	}
	if err := node.Start(); err != nil {
		panic(err)
	}
	if err := node.WaitPresent(ctx); err != nil {
		panic(err)
	}
	fmt.Println("set:", node.SetData(ctx, []byte("ready")))
	fmt.Println("present:", node.Present())
	fmt.Println("closed:", node.Close(ctx))
	fmt.Println("present:", node.Present())
	// Output:
	// set: <nil>
	// present: true
	// closed: <nil>
	// present: false
}

func ExampleBarrier() {
	servers, stop := ensemble()
	defer stop()
	ctx := context.Background()
	client := open(ctx, servers)
	defer client.Close(ctx)

	barrier, err := client.Barrier("/jobs/migration")
	if err != nil {
		panic(err)
	}
	if err := barrier.Set(ctx); err != nil { // from here on all callers wait
		panic(err)
	}
	done := make(chan error)
	go func() { done <- barrier.Wait(ctx) }()
	fmt.Println("removed:", barrier.Remove(ctx))
	fmt.Println("through:", <-done)
	// Output:
	// removed: <nil>
	// through: <nil>
}

func ExampleGate() {
	servers, stop := ensemble()
	defer stop()
	ctx := context.Background()
	client := open(ctx, servers)
	defer client.Close(ctx)

	gate, err := client.Gate("/jobs/schema-is-there") // shut until it is opened
	if err != nil {
		panic(err)
	}
	done := make(chan error)
	go func() { done <- gate.Wait(ctx) }()
	fmt.Println("opened:", gate.Open(ctx))
	fmt.Println("through:", <-done)
	// Output:
	// opened: <nil>
	// through: <nil>
}

func ExampleDoubleBarrier() {
	servers, stop := ensemble()
	defer stop()
	ctx := context.Background()
	client := open(ctx, servers)
	defer client.Close(ctx)

	const workers = 3
	done := make(chan error)
	for range workers {
		go func() {
			member, err := client.DoubleBarrier("/jobs/simulation", workers, incumbent.DoubleBarrierOptions{})
			if err != nil {
				done <- err
				return
			}
			if err := member.Enter(ctx); err != nil { // all begin together
				done <- err
				return
			}
			// the work
			done <- member.Leave(ctx) // all end together
		}()
	}
	for range workers {
		fmt.Println(<-done)
	}
	// Output:
	// <nil>
	// <nil>
	// <nil>
}
