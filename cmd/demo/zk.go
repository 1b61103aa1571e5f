package main

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/spf13/cobra"

	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

func (a *app) zk() *cobra.Command {
	var listen string
	var tick time.Duration
	c := &cobra.Command{
		Use:   "zk",
		Short: "serve an in-memory ZooKeeper, to try things with",
		Long: `Serve ZooKeeper's protocol from memory until interrupted: one server, for trying
things out and for tests. Nothing is kept, and nobody is asked who they are: do
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
				return usage("--tick is %s: give a positive time, such as 2s", tick)
			}
			if _, _, err := net.SplitHostPort(listen); err != nil {
				return usage("--listen %s: want host:port, such as 127.0.0.1:2181", quote(listen))
			}
			return a.serve(c.Context(), listen, tick)
		},
	}
	c.Flags().StringVar(&listen, "listen", "127.0.0.1:2181", "the address; port 0 takes any free one")
	c.Flags().DurationVar(&tick, "tick", 2*time.Second, "tickTime: the unit of all session times")
	a.jsonFlag(c)
	return c
}

func (a *app) serve(ctx context.Context, listen string, tick time.Duration) error {
	ctx, stop := interruptible(ctx)
	defer stop()
	srv := zkmem.New(zkmem.Options{Tick: tick})
	if err := srv.Listen(listen); err != nil {
		return exit(exitUnavailable, fmt.Errorf("cannot listen: %w", err))
	}
	if a.json {
		a.out.object(map[string]any{"address": srv.Addr(), "tickMs": tick.Milliseconds()})
	} else {
		a.out.line("ZooKeeper in memory on %s, tick %s: --servers %s, or", srv.Addr(), tick, srv.Addr())
		a.out.line("  export INCUMBENT_SERVERS=%s", srv.Addr())
	}
	a.note("nothing is kept: everything is gone when this program ends")
	<-ctx.Done()
	before := len(srv.Sessions())
	srv.Close()
	a.note("closed, with %s", plural(before, "session"))
	return nil
}
