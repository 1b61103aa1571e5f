package main

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/spf13/cobra"

	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

func (a *app) zk() *cobra.Command {
	var listen string
	var tick time.Duration
	c := &cobra.Command{
		Use:   "zk",
		Short: "serve an in-memory ZooKeeper, to try things with",
		Long: `Serve ZooKeeper's protocol from memory until interrupted: one server, for trying
things out and for tests. Nothing is kept, and no credentials are checked: do
not expose it.

Session timeouts are between 2 and 20 ticks; clients of this library take the
same tick with --tick.

Exit codes:
   0  interrupted, by SIGINT or SIGTERM
  64  the command line is wrong
  69  the address cannot be listened on`,
		Example: "  incumbent zk --listen 127.0.0.1:2181\n  incumbent zk --listen 127.0.0.1:0 --json",
		Args:    exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			if tick <= 0 {
				return cli.Usage("--tick is %s: give a positive time, such as 2s", tick)
			}
			if _, _, err := net.SplitHostPort(listen); err != nil {
				return cli.Usage("--listen %s: want host:port, such as 127.0.0.1:2181", cli.Quote(listen))
			}
			return a.serve(c.Context(), listen, tick)
		},
	}
	c.Flags().StringVar(&listen, "listen", "127.0.0.1:2181", "the address; port 0 takes any free one")
	c.Flags().DurationVar(&tick, "tick", 2*time.Second, "tickTime: the unit of all session times")
	a.JSONFlag(c)
	return c
}

func (a *app) serve(ctx context.Context, listen string, tick time.Duration) error {
	ctx, stop := cli.Interruptible(ctx)
	defer stop()
	srv := zkmem.New(zkmem.Options{Tick: tick})
	if err := srv.Listen(listen); err != nil {
		return cli.Exit(exitUnavailable, fmt.Errorf("cannot listen: %w", err))
	}
	if a.JSON {
		a.Out.Object(map[string]any{"address": srv.Addr(), "tickMs": tick.Milliseconds()})
	} else {
		a.Out.Line("ZooKeeper in memory on %s, tick %s: --servers %s, or", srv.Addr(), tick, srv.Addr())
		a.Out.Line("  export INCUMBENT_SERVERS=%s", srv.Addr())
	}
	a.Note("nothing is kept: everything is gone when this program ends")
	<-ctx.Done()
	before := len(srv.Sessions())
	srv.Close()
	a.Note("closed, with %s", cli.Plural(before, "session"))
	return nil
}
