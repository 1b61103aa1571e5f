package incumbent_test

import (
	"context"
	"fmt"

	"github.com/incumbent-go/incumbent"
)

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
