package slogger_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/slogger"
)

// A client logs to where the program logs.
func Example() {
	client, err := incumbent.Open(context.Background(), incumbent.Config{
		Servers: "zk1:2181,zk2:2181,zk3:2181",
		Logger:  slogger.New(slog.Default().Handler().WithGroup("incumbent")),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = client.Close(context.Background())
}

// What the library logs has the handler's own attributes and groups.
func ExampleNew() {
	noTime := func(groups []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey && len(groups) == 0 {
			return slog.Attr{}
		}
		return a
	}
	h := slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{Level: slog.LevelInfo, ReplaceAttr: noTime})
	log := slogger.New(h.WithAttrs([]slog.Attr{slog.String("service", "billing")}).WithGroup("incumbent"))
	log.Info().Str("path", "/jobs/nightly").Int64("token", 21).Msg("leading")
	log.Debug().Msg("is not enabled")
	// Output:
	// level=INFO msg=leading service=billing incumbent.path=/jobs/nightly incumbent.token=21
}
