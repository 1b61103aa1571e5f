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

// pageServer serves a page to browsers: of serve, and of play.
type pageServer struct {
	*app
	listen string
	hosts  []string
}

// flags adds the flags that say who is answered.
func (s *pageServer) flags(c *cobra.Command) {
	c.Flags().StringVar(&s.listen, "listen", "127.0.0.1:0", "the address; port 0 is a free one")
	c.Flags().StringArrayVar(&s.hosts, "host", nil, "a name under which browsers may ask, besides loopback ones; may be repeated")
}

// serve serves the page until the context ends. It prints the address, with its token and with a text after that. The
// handler may be made from what says who is answered.
func (s *pageServer) serve(ctx context.Context, after string, handler func(live.Access) (http.Handler, error)) error {
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
	access := live.Access{Token: live.NewToken(), Hosts: append(s.hosts, host)}
	h, err := handler(access)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return cli.Exit(exitUnavailable, fmt.Errorf("--listen: %w", err))
	}
	listener = atMost(maxConnections, listener)
	server := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 1 << 16,
		BaseContext: func(net.Listener) context.Context { return ctx }}
	s.Out.Line("http://%s/%s/%s", listener.Addr(), access.Token, after)
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
