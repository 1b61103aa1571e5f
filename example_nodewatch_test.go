package incumbent_test

import (
	"context"
	"fmt"

	"github.com/incumbent-go/incumbent"
)

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
			if _, err := client.Multi(incumbent.CreateNode("/jobs", nil), incumbent.CreateNode("/jobs/nightly", nil)).Do(ctx); err != nil {
				panic(err)
			}
		}
	}
	// Output:
	// false []
	// true [nightly]
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
