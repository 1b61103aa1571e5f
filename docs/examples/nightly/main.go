// Nightly runs a job in one process at a time: the one that leads. Start it on
// several hosts, with the servers of your ensemble as its argument; copy it, and
// put your job into importOrders.
package main

import (
	"context"
	"errors"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/incumbent-go/incumbent"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: nightly HOST:PORT,…")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	switch err := lead(ctx, os.Args[1]); {
	case err != nil && ctx.Err() == nil:
		log.Fatal(err)
	case err != nil:
		log.Print(err) // a signal ended it: systemd and Kubernetes expect the exit code 0 then
	}
}

func lead(ctx context.Context, servers string) error { // "zk1:2181,zk2:2181,zk3:2181"
	client, err := incumbent.Open(ctx, incumbent.Config{Servers: servers})
	if err != nil {
		return err
	}
	latch, err := client.Latch("/jobs/nightly", incumbent.LatchOptions{})
	if err != nil {
		return err
	}
	err = latch.Run(ctx, func(l *incumbent.Leadership) error { // called in each term until it finishes
		return importOrders(l.Context(), l.Token()) // must return when the context ends
	}) // nil after SIGTERM
	return errors.Join(err, client.Close(ctx)) // at most a session timeout
}

// importOrders is the job. It gives the token to every store that it writes to, so
// that a store can refuse a process that was paused.
func importOrders(ctx context.Context, token int64) error {
	log.Printf("leading with token %d", token)
	return ctx.Err()
}
