// Slog runs a job in one process at a time, and writes everything, the library's lines included, as JSON by log/slog.
// Start it on several hosts; copy it, and put your job into work.
package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/slogger"
)

func main() {
	logger := slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelInfo}))
	if len(os.Args) != 2 {
		logger.Error("usage: slog ZOOKEEPER:PORT,…")
		os.Exit(64)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1], logger); err != nil {
		logger.Error("the end", "error", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, servers string, logger *slog.Logger) error {
	library := slogger.New(logger.WithGroup("incumbent").Handler()) // its attributes are in a group of their own
	client, err := incumbent.Open(ctx, incumbent.Config{Servers: servers, Logger: library})
	if err != nil {
		return err
	}
	latch, err := client.Latch("/jobs/slog", incumbent.LatchOptions{})
	if err != nil {
		return errors.Join(err, client.Close(ctx))
	}
	err = latch.Run(ctx, func(l *incumbent.Leadership) error {
		return work(l.Context(), logger.With("line", latch.Path(), "id", latch.ID(), "token", l.Token()))
	})
	return errors.Join(err, client.Close(ctx))
}

// work is one term. All its lines name the term's token. It returns when its context ends, whose cause says why.
func work(ctx context.Context, logger *slog.Logger) error {
	logger.InfoContext(ctx, "work begins")
	<-ctx.Done()
	cause := context.Cause(ctx)
	logger.InfoContext(ctx, "work has ended", "reason", incumbent.LostReason(cause), "cause", cause)
	return nil
}
