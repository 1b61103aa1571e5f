// Shards deals the shards of a job out to its instances. Each instance works on those that it owns; the shards of a
// dead one are others' when its session has ended. Start it on several machines; copy it, and put your job into work.
package main

import (
	"context"
	"flag"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/incumbent-go/incumbent"
)

func main() {
	servers := flag.String("servers", "127.0.0.1:2181", "the ensemble")
	group := flag.String("group", "/jobs/shards", "the group's node, which no other program uses")
	shards := flag.Int("shards", 5, "how many shards the job has")
	id := flag.String("id", "", "what this instance is called, also after a restart; empty: host and process")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	client, err := incumbent.Open(ctx, incumbent.Config{Servers: *servers})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close(context.WithoutCancel(ctx))
	options := incumbent.ShardsOptions{ID: *id}
	if err := run(ctx, client, *group, *shards, options, work); err != nil {
		log.Print(err)
	}
}

// run works on the shards of this instance until the context ends.
func run(ctx context.Context, client *incumbent.Client, group string, shards int, options incumbent.ShardsOptions,
	work func(*incumbent.Shard) error) error {
	s, err := client.Shards(group, shards, options)
	if err != nil {
		return err
	}
	return s.Run(ctx, work)
}

// work works on one shard until its context ends: then it has to return, and another instance may own the shard. Hand
// the token to the stores that the work writes to, so that they can refuse an older one.
func work(s *incumbent.Shard) error {
	log.Printf("shard %d is ours, under token %d", s.ID, s.Token())
	<-s.Context().Done() // the job comes here
	log.Printf("shard %d is ours no longer: %v", s.ID, context.Cause(s.Context()))
	return nil
}
