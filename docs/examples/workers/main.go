// Workers runs a pool of workers in one process at a time: the one that holds a lock. If the lock is lost, all workers
// stop, and the process waits for the lock again. Start it on several hosts; copy it, and put your work into resize.
package main

import (
	"context"
	"errors"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/incumbent-go/incumbent"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: workers ZOOKEEPER:PORT,…")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1]); err != nil && !errors.Is(err, context.Canceled) {
		log.Fatal(err)
	}
}

func run(ctx context.Context, servers string) error {
	client, err := incumbent.Open(ctx, incumbent.Config{Servers: servers})
	if err != nil {
		return err
	}
	mutex, err := client.Mutex("/locks/workers", incumbent.MutexOptions{})
	for err == nil && ctx.Err() == nil {
		err = turn(ctx, mutex)
	}
	return errors.Join(err, client.Close(ctx))
}

// turn waits for the lock, and runs the pool until ctx ends or the lock is lost, which is no error.
func turn(ctx context.Context, mutex *incumbent.Mutex) error {
	hold, err := mutex.Lock(ctx)
	if err != nil {
		return err
	}
	log.Printf("holding, token %d", hold.Token())
	held, cancel := context.WithCancel(hold.Context()) // ends with the hold, and
	defer context.AfterFunc(ctx, cancel)()             // with the program
	defer cancel()
	err = pool(held, 4, hold.Token())
	unlocking, stop := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer stop()
	unlocked := hold.Unlock(unlocking) // after the last worker has returned
	if errors.Is(unlocked, incumbent.ErrLockLost) {
		log.Print(unlocked)
		unlocked = nil
	}
	return errors.Join(err, unlocked)
}

// pool runs workers until one fails or the context ends, and returns when all have returned.
func pool(ctx context.Context, workers int, token int64) error {
	group, ctx := errgroup.WithContext(ctx)
	for worker := range workers {
		group.Go(func() error { return resize(ctx, worker, token) })
	}
	return group.Wait()
}

// resize is the work of one worker. It returns when its context ends, and gives the token to the stores that it writes
// to, so that a store can refuse a process that was paused.
func resize(ctx context.Context, worker int, token int64) error {
	log.Printf("worker %d of token %d", worker, token)
	<-ctx.Done() // take pictures from a queue until then
	log.Printf("worker %d of token %d has ended", worker, token)
	return nil
}
