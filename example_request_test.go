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
