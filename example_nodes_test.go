package incumbent_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/incumbent-go/incumbent"
)

func ExampleClient_Create() {
	servers, stop := ensemble()
	defer stop()
	ctx := context.Background()
	client := open(ctx, servers)
	defer client.Close(ctx)

	config, err := client.Create("/app/config", []byte("colour=green")).Parents().Do(ctx)
	if err != nil {
		panic(err)
	}
	job, err := client.Create("/app/job-", nil).Ephemeral().Sequential().Do(ctx)
	if err != nil {
		panic(err)
	}
	fmt.Println(config)
	fmt.Println(job)
	// Output:
	// /app/config
	// /app/job-0000000001
}

func ExampleClient_Set() {
	servers, stop := ensemble()
	defer stop()
	ctx := context.Background()
	client := open(ctx, servers)
	defer client.Close(ctx)

	if _, err := client.Create("/colour", []byte("green")).Do(ctx); err != nil {
		panic(err)
	}
	node, err := client.Get("/colour").Do(ctx)
	if err != nil {
		panic(err)
	}
	// Only if no other client has written meanwhile.
	stat, err := client.Set("/colour", []byte("blue")).Version(node.Stat.Version).Do(ctx)
	fmt.Println(stat.Version, err)
	_, err = client.Set("/colour", []byte("red")).Version(node.Stat.Version).Do(ctx)
	fmt.Println(err)
	// Output:
	// 1 <nil>
	// incumbent: BADVERSION (the node has another version): /colour
}

func ExampleClient_Multi() {
	servers, stop := ensemble()
	defer stop()
	ctx := context.Background()
	client := open(ctx, servers)
	defer client.Close(ctx)

	results, err := client.Multi(
		incumbent.CreateNode("/a", nil),
		incumbent.DeleteNode("/b", incumbent.AnyVersion), // there is none: nothing is done
	).Do(ctx)
	fmt.Println(err)
	fmt.Println(results[1].Code)
	stat, err := client.Exists("/a").Do(ctx)
	fmt.Println(stat, err)
	// Output:
	// incumbent: NONODE (no such node): /b
	// NONODE
	// <nil> <nil>
}

func ExampleRequest_Background() {
	servers, stop := ensemble()
	defer stop()
	ctx := context.Background()
	client := open(ctx, servers)
	defer client.Close(ctx)

	done := make(chan struct{})
	client.Create("/log/entry-", []byte("hello")).Sequential().Parents().Background(ctx, func(r incumbent.Result) {
		defer close(done)
		switch {
		case errors.Is(r.Err, incumbent.ErrOutcomeUnknown):
			fmt.Println("look before it is written again")
		case r.Err != nil:
			fmt.Println(r.Err)
		default:
			fmt.Println(r.Op, r.Created)
		}
	})
	<-done
	// Output: create /log/entry-0000000000
}

func ExampleDeleteRequest_Guaranteed() {
	servers, stop := ensemble()
	defer stop()
	ctx := context.Background()
	client := open(ctx, servers)
	defer client.Close(ctx)

	if _, err := client.Create("/obsolete", nil).Do(ctx); err != nil {
		panic(err)
	}
	deletion, err := client.Delete("/obsolete").Guaranteed() // goes on through outages and sessions
	if err != nil {
		panic(err)
	}
	fmt.Println(deletion.Wait(ctx), len(client.Deletions()))
	// Output: <nil> 0
}

func ExampleClient_WatchNode() {
	servers, stop := ensemble()
	defer stop()
	ctx := context.Background()
	client := open(ctx, servers)
	defer client.Close(ctx)

	if _, err := client.Create("/colour", []byte("green")).Do(ctx); err != nil {
		panic(err)
	}
	for change, err := range client.WatchNode(ctx, "/colour") {
		if err != nil {
			fmt.Println(err) // what is wrong now; the feed goes on
			continue
		}
		fmt.Printf("%q, unseen: %+v\n", change.Data, change.Missed)
		if change.Stat.Version > 0 {
			break // the feed ends with the loop
		}
		// Three writes in one transaction: no reader sees the first two.
		if _, err := client.Multi(
			incumbent.SetData("/colour", []byte("red"), incumbent.AnyVersion),
			incumbent.SetData("/colour", []byte("amber"), incumbent.AnyVersion),
			incumbent.SetData("/colour", []byte("blue"), incumbent.AnyVersion),
		).Do(ctx); err != nil {
			panic(err)
		}
	}
	// Output:
	// "green", unseen: {Outage:false Replaced:false Changes:0}
	// "blue", unseen: {Outage:false Replaced:false Changes:2}
}

func ExampleClient_WatchChildren() {
	servers, stop := ensemble()
	defer stop()
	ctx := context.Background()
	client := open(ctx, servers)
	defer client.Close(ctx)

	for change, err := range client.WatchChildren(ctx, "/jobs") {
		if err != nil {
			panic(err)
		}
		fmt.Println(change.Exists, change.Children)
		if len(change.Children) > 0 {
			break
		}
		if !change.Exists {
			create := client.Multi(incumbent.CreateNode("/jobs", nil), incumbent.CreateNode("/jobs/nightly", nil))
			if _, err := create.Do(ctx); err != nil {
				panic(err)
			}
		}
	}
	// Output:
	// false []
	// true [nightly]
}

func ExampleTreeCache() {
	servers, stop := ensemble()
	defer stop()
	ctx := context.Background()
	client := open(ctx, servers)
	defer client.Close(ctx)
	if _, err := client.Create("/app/db/host", []byte("db-1")).Parents().Do(ctx); err != nil {
		panic(err)
	}

	config, err := client.TreeCache("/app", incumbent.TreeCacheOptions{})
	if err != nil {
		panic(err)
	}
	if err := config.Start(); err != nil {
		panic(err)
	}
	if err := config.WaitReady(ctx); err != nil {
		panic(err)
	}
	if host, found := config.Get("/app/db/host"); found { // from memory: it never waits
		fmt.Printf("host %s, stale %t\n", host.Data, config.Stale())
	}

	for change, err := range config.Changes(ctx) { // first the present nodes, then the changes
		switch {
		case err != nil:
			fmt.Println(err) // what is wrong now; the feed goes on
		case change.Kind == incumbent.TreeReady:
			fmt.Println("ready")
			if _, err := client.Set("/app/db/host", []byte("db-2")).Do(ctx); err != nil {
				panic(err)
			}
		default:
			fmt.Printf("%s %s %q\n", change.Kind, change.Path, change.Data)
		}
		if change.Kind == incumbent.NodeChanged {
			break // the feed ends with the loop
		}
	}
	// Output:
	// host db-1, stale false
	// added /app ""
	// added /app/db ""
	// added /app/db/host "db-1"
	// ready
	// changed /app/db/host "db-2"
}

func ExampleSharedCount() {
	servers, stop := ensemble()
	defer stop()
	ctx := context.Background()
	client := open(ctx, servers)
	defer client.Close(ctx)

	limit, err := client.SharedCount("/config/limit", 10) // 10 if there is none yet
	if err != nil {
		panic(err)
	}
	was, err := limit.Get(ctx)
	if err != nil {
		panic(err)
	}
	fmt.Println(limit.TrySet(ctx, was, 20))
	fmt.Println(limit.TrySet(ctx, was, 30)) // it was written in between
	for count, err := range limit.Watch(ctx) {
		fmt.Println(count.Value, err)
		break
	}
	// Output:
	// {20 1} true <nil>
	// {20 1} false <nil>
	// 20 <nil>
}

func ExampleAtomicLong() {
	servers, stop := ensemble()
	defer stop()
	ctx := context.Background()
	client := open(ctx, servers)
	defer client.Close(ctx)

	visits, err := client.AtomicLong("/stats/visits", incumbent.AtomicLongOptions{Lock: "/stats/visits-lock"})
	if err != nil {
		panic(err)
	}
	for range 3 {
		if _, err := visits.Add(ctx, 2); err != nil {
			panic(err) // ErrOutcomeUnknown: it may have been added
		}
	}
	fmt.Println(visits.Get(ctx))
	fmt.Println(visits.CompareAndSet(ctx, 5, 0))
	// Output:
	// 6 <nil>
	// 6 false <nil>
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
