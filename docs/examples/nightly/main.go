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
	if err := lead(ctx, os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func lead(ctx context.Context, servers string) error {
	client, err := incumbent.Open(ctx, incumbent.Config{Servers: servers})
	if err != nil {
		return err
	}
	latch, err := client.Latch("/jobs/nightly", incumbent.LatchOptions{})
	if err != nil {
		return err
	}
	err = latch.Run(ctx, func(l *incumbent.Leadership) error { // called in each term until it returns
		return importOrders(l.Context(), l.Token()) // must return when the context ends
	}) // nil after SIGTERM
	return errors.Join(err, client.Close(ctx)) // at most a session timeout
}

// importOrders is the job. It gives the token to every store that it writes to.
func importOrders(ctx context.Context, token int64) error {
	log.Printf("leading with token %d", token)
	return ctx.Err()
}
