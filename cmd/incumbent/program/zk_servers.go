package program

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/incumbent-go/incumbent/cmd/incumbent/control"
	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// zkServers are what incumbent zk serves: a standalone server, or the members of an ensemble.
type zkServers struct {
	all      []*zkmem.Server
	ensemble *zkmem.Ensemble // nil for a standalone server
}

// maxEnsemble is how many servers --ensemble takes. zkmem can have more, and nobody needs them.
const maxEnsemble = 9

func newZKServers(f zkFlags) (zkServers, error) {
	if f.ensemble == 0 {
		return zkServers{all: []*zkmem.Server{zkmem.New(f.options)}}, nil
	}
	e, err := zkmem.NewEnsemble(f.ensemble, f.options)
	if err != nil {
		return zkServers{}, err
	}
	return zkServers{e.Servers(), e}, nil
}

// checkEnsemble refuses a size, a host and ports that the servers cannot have.
func (f *zkFlags) checkEnsemble() error {
	switch {
	case f.ensemble < 0 || f.ensemble > maxEnsemble:
		return cli.Usage("--ensemble is %d: want 1 to %d servers, or 0 for a standalone one", f.ensemble, maxEnsemble)
	case f.advertise != "" && f.ensemble == 0:
		return cli.Usage("--advertise needs --ensemble: a standalone server says nowhere where it is")
	}
	if _, err := netip.ParseAddr(f.advertise); err != nil && strings.ContainsAny(f.advertise, ":;,= \t\r\n") {
		return cli.Usage("--advertise is %s: want a host without a port", events.Quote(f.advertise, events.MaxName))
	}
	for flag, addr := range map[string]string{"listen": f.listen, "tls-listen": f.tlsListen} {
		if _, err := portAt(addr, max(f.ensemble-1, 0)); err != nil && addr != "" && f.ensemble > 0 {
			return cli.Usage("--%s %s: %w", flag, events.Quote(addr, events.MaxName), err)
		}
	}
	return nil
}

// portAt returns the address of the server that is i behind the first one, whose address is given. Port 0 is any free
// one.
func portAt(first string, i int) (string, error) {
	host, text, err := net.SplitHostPort(first)
	if err != nil {
		return "", err
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return "", errors.New("want a number as the port")
	}
	if port > 0 {
		port += i
	}
	if port < 0 || port > 65535 {
		return "", fmt.Errorf("server %d would have port %d: want one of at most 65535", i+1, port)
	}
	return net.JoinHostPort(host, strconv.Itoa(port)), nil
}

// free returns an address to listen on. In place of any free port of 127.0.0.1 it has one that no program gets by
// connecting or listening while the server is stopped.
func free(addr string) string {
	if addr != "127.0.0.1:0" {
		return addr
	}
	if reserved, err := zkmem.FreeAddr(); err == nil {
		return reserved
	}
	return addr
}

// listen has the servers listen: on ports that follow each other.
func (s zkServers) listen(f zkFlags) error {
	for i, srv := range s.all {
		if err := s.listenAt(i, srv, f); err != nil {
			return cli.Exit(exitUnavailable, fmt.Errorf("cannot listen: %w: give another address", err))
		}
	}
	return nil
}

func (s zkServers) listenAt(i int, srv *zkmem.Server, f zkFlags) error {
	at := func(first string) string {
		if s.ensemble == nil {
			return free(first) // whose port may be a name
		}
		addr, _ := portAt(first, i) // checkEnsemble has looked at it
		return free(addr)
	}
	if err := srv.Listen(at(f.listen)); err != nil {
		return err
	}
	if f.advertise != "" {
		_, port, _ := net.SplitHostPort(srv.Addr())
		if err := s.ensemble.Advertise(srv, net.JoinHostPort(f.advertise, port)); err != nil {
			return err
		}
	}
	if f.tls == nil {
		return nil
	}
	return srv.ListenTLS(at(f.tlsListen), f.tls)
}

// controlled returns the servers for package control.
func (s zkServers) controlled() control.Servers {
	if s.ensemble != nil {
		return control.Members(s.ensemble)
	}
	return control.Standalone(s.all[0])
}

// addresses returns the servers' addresses by one of their methods, as a connection string.
func (s zkServers) addresses(of func(*zkmem.Server) string) string {
	var all []string
	for _, srv := range s.all {
		all = append(all, of(srv))
	}
	return strings.Join(all, ",")
}

// failed returns a channel that gets the error of the first listener that ends by itself, until stop is called.
func (s zkServers) failed() (failed <-chan error, stop func()) {
	first, ended := make(chan error, 1), make(chan struct{})
	for _, srv := range s.all {
		go func() {
			select {
			case err := <-srv.ListenerFailed():
				select {
				case first <- err:
				default: // there is an earlier one
				}
			case <-ended:
			}
		}()
	}
	return first, func() { close(ended) }
}

// stop stops all servers, and returns one that has the longest history, to be saved.
func (s zkServers) stop() (latest *zkmem.Server) {
	for _, srv := range s.all {
		srv.Stop()
		if latest == nil || srv.Snapshot().Zxid() >= latest.Snapshot().Zxid() {
			latest = srv
		}
	}
	return latest
}

func (s zkServers) close() {
	if s.ensemble != nil {
		s.ensemble.Close()
		return
	}
	s.all[0].Close()
}

// listed describes the servers of an ensemble for --json.
func (s zkServers) listed() []map[string]any {
	var all []map[string]any
	for i, srv := range s.all {
		one := map[string]any{"server": i + 1, "address": srv.Addr()}
		if addr := srv.TLSAddr(); addr != "" {
			one["tlsAddress"] = addr
		}
		all = append(all, one)
	}
	return all
}
