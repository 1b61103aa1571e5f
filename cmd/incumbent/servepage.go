package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/page/live"
)

// pageServer is one run of serve.
type pageServer struct {
	*app
	listen string
	hosts  []string
}

func (a *app) servePages() *cobra.Command {
	s := &pageServer{app: a}
	c := &cobra.Command{
		Use:   "serve DIR",
		Short: "show recorded logs in a browser while they are written",
		Long: `Show the logs that --record DIR writes as a page: the one of "incumbent why --html",
drawn again as records come. Nothing is written. Files with other names than --record
gives them are not read, nor are links and directories. A line here says which, and so
does the page. For copied logs with other names: "incumbent why --html".

The address is printed. It has a token that is another one each time: who knows the
address may read the logs. The server is on the loopback interface, and answers only
under its names and those of --host, so that another site cannot ask it through your
browser. To look from elsewhere, forward a port: ssh -L 8080:127.0.0.1:8080 HOST.

Exit codes:
   0  ended by a signal
  64  the command line is wrong
  66  there is no such directory
  69  the address cannot be listened on`,
		Example: "  incumbent serve /var/log/incumbent\n  incumbent serve /var/log/incumbent --listen 127.0.0.1:8080",
		Args:    exactly("a DIR"),
		RunE: func(c *cobra.Command, args []string) error {
			ctx, stop := cli.Interruptible(c.Context())
			defer stop()
			return s.run(ctx, args[0])
		},
	}
	c.Flags().StringVar(&s.listen, "listen", "127.0.0.1:0", "the address; port 0 is a free one")
	c.Flags().StringArrayVar(&s.hosts, "host", nil, "a name under which browsers may ask, besides loopback ones; may be repeated")
	return c
}

func (s *pageServer) run(ctx context.Context, dir string) error {
	host, port, err := net.SplitHostPort(s.listen)
	if err != nil {
		return cli.Usage("--listen takes an address, such as 127.0.0.1:8080: %w", err)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	for _, name := range s.hosts {
		if _, err := url.Parse("http://" + name + "/"); err != nil || name == "" || strings.ContainsAny(name, "/: *") && net.ParseIP(name) == nil {
			return cli.Usage("--host takes a name without a port, such as ops.example.com, not %s", cli.Quote(name))
		}
	}
	token := live.NewToken()
	handler, err := live.Handler(dir, live.Options{Token: token, Hosts: append(s.hosts, host)})
	if err != nil {
		return cli.Exit(exitNoInput, err)
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return cli.Exit(exitUnavailable, fmt.Errorf("--listen: %w", err))
	}
	listener = atMost(maxConnections, listener)
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 1 << 16,
		BaseContext: func(net.Listener) context.Context { return ctx }}
	if others, err := live.Unread(dir); err == nil && others != "" { // the page has the error, too
		s.Note("%s", others)
	}
	s.Out.Line("http://%s/%s/", listener.Addr(), token)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err = <-served:
	case <-ctx.Done():
		_ = server.Close()
		err = <-served
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return cli.Exit(exitUnavailable, err)
}
