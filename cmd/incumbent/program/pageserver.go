package program

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/spf13/cobra"

	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/page/live"
)

// maxHeader is how many bytes a request's header may have. An open page names in it which record of each log it has:
// there is room for some thousands of logs.
const maxHeader = 1 << 18

// pageServer serves a page to browsers: of serve, and of play.
type pageServer struct {
	*app
	listen string
	hosts  []string
}

// flags adds the flags that say who is answered.
func (s *pageServer) flags(c *cobra.Command) {
	c.Flags().StringVar(&s.listen, "listen", "127.0.0.1:0", "the address; port 0 is a free one")
	c.Flags().StringArrayVar(&s.hosts, "host", nil,
		"a name under which browsers may ask, besides loopback ones; may be repeated")
}

// serve serves the page until the context ends. It prints the address, with its token and with a text after that. The
// handler may be made from what says who is answered.
func (s *pageServer) serve(ctx context.Context, after string, handler func(live.Access) (http.Handler, error)) error {
	s.LongRunning()
	host, port, err := s.address()
	if err != nil {
		return err
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
	listener = atMost(maxConnections, 0, listener) // the handler bounds each answer
	server := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeader,
		BaseContext:    func(net.Listener) context.Context { return ctx }}
	s.Out.Line("http://%s/%s/%s", reached(host, listener.Addr()), access.Token, after)
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

// address returns what --listen names, and what is wrong with it or with --host.
func (s *pageServer) address() (host, port string, err error) {
	for _, name := range s.hosts {
		if !asked(name) {
			return "", "", cli.Usage("--host takes a name without a port, such as ops.example.com, not %s",
				events.Quote(name, events.MaxName))
		}
	}
	if host, port, err = net.SplitHostPort(s.listen); err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	switch {
	case err != nil:
		return "", "", cli.Usage("--listen takes an address, such as 127.0.0.1:8080: %w", err)
	case host == "":
		host = "127.0.0.1"
	case !asked(host):
		return "", "",
			cli.Usage("--listen takes an address, such as 127.0.0.1:8080: a browser cannot ask for the host %s",
				events.Quote(host, events.MaxName))
	}
	return host, port, nil
}

// asked reports whether a browser may ask under a name.
func asked(name string) bool {
	return live.Access{Token: live.NewToken(), Hosts: []string{name}}.Check() == nil
}

// reached returns the address under which a listener is answered: with the host that was named, not with what that
// leads to. All addresses of this host are reached by its loopback one.
func reached(host string, at net.Addr) string {
	if addr, err := netip.ParseAddr(host); err == nil && addr.IsUnspecified() {
		host = "127.0.0.1"
		if addr.Is6() {
			host = "::1"
		}
	}
	_, port, err := net.SplitHostPort(at.String())
	if err != nil {
		return at.String()
	}
	return net.JoinHostPort(host, port)
}
