package program

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/incumbent-go/incumbent/cmd/incumbent/control"
	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// zkFlags are what the command line of incumbent zk says.
type zkFlags struct {
	listen, tlsListen, cert, key, clientCA string
	load, save, control, advertise         string
	ensemble                               int
	saslUsers                              []string
	httpHosts                              hostNames
	options                                zkmem.Options
	tls                                    *tls.Config
}

func (a *app) zk() *cobra.Command {
	var f zkFlags
	c := &cobra.Command{
		Use:   "zk",
		Short: "serve an in-memory ZooKeeper, to try things with",
		Long: `Serve ZooKeeper's protocol from memory until interrupted: one server, or with
--ensemble several with one history, for trying things out and for tests in any
language. Nothing is kept but by --save. Everybody who reaches it is served, and
only access lists protect nodes: do not expose it.

Session timeouts are between 2 and 20 ticks, unless flags say otherwise; clients
of this library take the same tick with --tick.

With --control, a test controls the servers by HTTP with JSON: see
docs/testing.md. The address has to be on the loopback, unless
INCUMBENT_CONTROL_TOKEN holds a token, which each request then has to have.

Exit codes:
   0  interrupted, by SIGINT or SIGTERM
  64  the command line is wrong
  69  an address cannot be listened on, or no longer
  74  a file cannot be read or written`,
		Example: "  incumbent zk --listen 127.0.0.1:2181\n" +
			"  incumbent zk --listen 127.0.0.1:0 --json --control 127.0.0.1:0\n" +
			"  incumbent zk --ensemble 3 --control 127.0.0.1:8080",
		Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.check(c); err != nil {
				return err
			}
			if err := f.loadUsers(a.noteIfOthersMayRead); err != nil {
				return err
			}
			return a.serve(c.Context(), f)
		},
	}
	o := &f.options
	c.Flags().StringVar(&f.listen, "listen", "127.0.0.1:2181",
		"the address; without a host it is on the loopback only; port 0 takes any free one")
	c.Flags().IntVar(&f.ensemble, "ensemble", 0,
		"serve an ensemble of this many servers, on ports from that of --listen on; 0: one standalone server")
	c.Flags().StringVar(&f.advertise, "advertise", "",
		"with --ensemble: the host that /zookeeper/config has for the servers (default that of --listen)")
	c.Flags().DurationVar(&o.Tick, "tick", 2*time.Second, "tickTime: the unit of all session times")
	c.Flags().DurationVar(&o.MinSessionTimeout, "min-session-timeout", 0, "minSessionTimeout (default 2 ticks)")
	c.Flags().DurationVar(&o.MaxSessionTimeout, "max-session-timeout", 0, "maxSessionTimeout (default 20 ticks)")
	c.Flags().DurationVar(&o.ContainerInterval, "container-interval", time.Minute,
		"how often empty containers and nodes past their TTL are deleted")
	c.Flags().IntVar(&o.MaxFrame, "max-frame", 1<<20-1, "jute.maxbuffer: the longest request, in bytes")
	c.Flags().BoolVar(&o.ExtendedTypes, "ttl", false, "extendedTypesEnabled: accept nodes with a TTL")
	c.Flags().StringVar(&o.SuperDigest, "super-digest", "", "superDigest: who may do everything, as user:digest")
	c.Flags().StringVar(&f.tlsListen, "tls-listen", "", "a second address, for clients that connect by TLS")
	c.Flags().StringVar(&f.cert, "tls-cert", "", "the server's certificate, a PEM file")
	c.Flags().StringVar(&f.key, "tls-key", "", "its private key, a PEM file")
	c.Flags().StringVar(&f.clientCA, "tls-client-ca", "", "demand a client certificate of one of these CAs, a PEM file")
	c.Flags().StringVar(&f.load, "load", "", "create the nodes of this file first; none if it does not exist")
	c.Flags().StringVar(&f.save, "save", "", "write the nodes to this file at the end")
	c.Flags().StringVar(&f.control, "control", "", "serve control of the servers by HTTP on this address")
	c.Flags().StringArrayVar(&f.saslUsers, "sasl-user", nil,
		"a user who can log in by SASL (DIGEST-MD5), as USER=FILE with the password in FILE\n(may be repeated)")
	f.releaseFlags(c.Flags())
	f.httpHosts.flags(c.Flags())
	a.JSONFlag(c)
	return c
}

// check refuses what the server would not accept.
func (f *zkFlags) check(c *cobra.Command) error {
	o := &f.options
	for flag, given := range map[string]time.Duration{"tick": o.Tick, "container-interval": o.ContainerInterval,
		"min-session-timeout": o.MinSessionTimeout, "max-session-timeout": o.MaxSessionTimeout} {
		if given < time.Millisecond && c.Flags().Changed(flag) {
			return cli.Usage("--%s is %s: give a positive time, such as 2s", flag, given)
		}
	}
	shortest, longest := o.MinSessionTimeout, o.MaxSessionTimeout
	if shortest == 0 {
		shortest = 2 * o.Tick
	}
	if longest != 0 && longest < shortest {
		return cli.Usage("--max-session-timeout is %s, and the shortest timeout %s: give a longer one, or a shorter "+
			"--min-session-timeout", longest, shortest)
	}
	if o.MaxFrame < 64 {
		return cli.Usage("--max-frame is %d: give at least 64 bytes", o.MaxFrame)
	}
	for _, address := range []struct {
		flag  string
		value *string
	}{{"listen", &f.listen}, {"tls-listen", &f.tlsListen}, {"control", &f.control}} {
		if _, _, err := net.SplitHostPort(*address.value); err != nil &&
			(*address.value != "" || address.flag == "listen") {
			return cli.Usage("--%s %s: want host:port, such as 127.0.0.1:2181", address.flag,
				events.Quote(*address.value, events.MaxName))
		}
		*address.value = onLoopback(*address.value)
	}
	if err := f.checkEnsemble(); err != nil {
		return err
	}
	if err := f.checkRelease(); err != nil {
		return err
	}
	if err := f.httpHosts.check(); err != nil {
		return err
	}
	if f.control != "" {
		if err := control.Check(f.control, os.Getenv(controlToken)); err != nil {
			return cli.Usage("--%w (the token is in %s)", err, controlToken)
		}
	}
	return f.loadTLS()
}

// controlToken is the environment variable that holds the token, which a command line would show to everybody.
const controlToken = "INCUMBENT_CONTROL_TOKEN"

func (a *app) serve(ctx context.Context, f zkFlags) error {
	ctx, stop := cli.Interruptible(ctx)
	defer stop()
	a.LongRunning()
	servers, err := newZKServers(f)
	if err != nil {
		return err
	}
	defer servers.close()
	if f.load != "" {
		count, err := load(servers.all[0], f.load)
		if err != nil {
			return cli.Exit(exitIO, fmt.Errorf("cannot load: %w", err))
		}
		a.Note("loaded %s from %s", cli.Plural(count, "node"), events.Quote(f.load, events.MaxText))
	}
	if err := servers.listen(f); err != nil {
		return err
	}
	controlled := ""
	if f.control != "" {
		l, err := control.Listen(f.control, os.Getenv(controlToken))
		if err != nil {
			return cli.Exit(exitUnavailable, err)
		}
		controlled = "http://" + l.Addr().String()
		defer control.Serve(atMost(maxConnections, maxWait, l), servers.controlled(), os.Getenv(controlToken),
			func(host string) bool { return f.httpHosts.expected(f.control, host) })()
	}
	a.announce(servers, f, controlled)
	failed := whileListening(ctx, servers)
	before := len(servers.all[0].Sessions())
	latest := servers.stop()
	a.Note("closed, with %s", cli.Plural(before, "session"))
	if f.save == "" {
		return failed
	}
	count, err := save(latest, f.save)
	if err != nil {
		return cli.Exit(exitIO, fmt.Errorf("cannot save: %w", err))
	}
	a.Note("saved %s in %s", cli.Plural(count, "node"), events.Quote(f.save, events.MaxText))
	return failed
}

// whileListening waits until the context ends, and before that for the end of a listener, which is an error.
func whileListening(ctx context.Context, servers zkServers) error {
	failed, stop := servers.failed()
	defer stop()
	select {
	case <-ctx.Done():
		return nil
	case err := <-failed:
		return cli.Exit(exitUnavailable, fmt.Errorf("no client can connect any more: %w", err))
	}
}

// announce says where the servers are.
func (a *app) announce(servers zkServers, f zkFlags, controlled string) {
	addr, tlsAddr := servers.addresses((*zkmem.Server).Addr), servers.addresses((*zkmem.Server).TLSAddr)
	if a.JSON {
		line := map[string]any{"address": addr, "tickMs": f.options.Tick.Milliseconds()}
		if controlled != "" {
			line["control"] = controlled
		}
		if f.tls != nil {
			line["tlsAddress"] = tlsAddr
		}
		if servers.ensemble != nil {
			line["servers"] = servers.listed()
		}
		a.Out.Object(line)
	} else {
		a.Out.Line("ZooKeeper in memory on %s, tick %s: --servers %s, or", addr, f.options.Tick, addr)
		a.Out.Line("  export INCUMBENT_SERVERS=%s", addr)
		if f.tls != nil {
			a.Out.Line("  by TLS: %s", tlsAddr)
		}
		if controlled != "" {
			a.Out.Line("  control: %s", controlled)
		}
	}
	if f.save == "" {
		a.Note("nothing is kept: everything is gone when this program ends")
	}
}
