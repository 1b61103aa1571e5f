package zkio

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// Config says which ensemble is used and how. Servers, Timeout, Now and Post are required;
// every other zero value has a good default.
type Config struct {
	// Servers are "host", "host:port" or "[ipv6]:port". Names are resolved again at every
	// attempt; if that fails, the addresses of the last answer serve. The addresses of a name are
	// dialled in one attempt, each with a head start of 300 ms at most. Servers that were silent are tried
	// last. ParseServers makes the list from a string.
	Servers []string
	// Unrooted is a path that no chroot applies to, "" for none: that of the ensemble's configuration, which
	// Adapter.Follow takes.
	Unrooted string
	// Chroot is added before every path sent and removed from every path received: "" or
	// "/app".
	Chroot string
	// Timeout is the session timeout that is asked for; the ensemble may grant another
	// (Event.Timeout of connection.attached). At least 100 ms; 15 s is usual.
	Timeout time.Duration

	// Lag returns how long a server may take to report a session, after the client's
	// request, to the ensemble's leader: half of the ensemble's tick, and a whole one behind
	// an observer master. It must not block, and is called for each request that is sent. Its
	// result may grow with a timeout that is granted: Post gets connection.attached before
	// the first request of the connection is sent. Default 1.5 s, for a tick of 3 s.
	Lag func() time.Duration

	// SASL logs in on every connection before anything else. Nil is no login.
	SASL Mechanism
	// Auth is sent on every connection before any request.
	Auth []Auth
	// ACL is given to all nodes created. Nil means CreatorAll if the client has an identity,
	// which is SASL, Auth or a client certificate in TLS, and WorldAll (with a warning) if it has none.
	ACL []ACL
	// TLS encrypts the connection when it is not nil.
	TLS *TLS
	// Dial replaces the network: tests use it. It gets "host:port" as configured.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	// Now is the loop's clock in nanoseconds. Event.SentAt is read from it.
	Now func() int64
	// Post takes an event to the loop's inbox. It must not block and must not
	// call the adapter; it is called from many goroutines, one at a time for
	// each session.
	Post func(events.Envelope)
	// Keep gets the part of a reply that is for the user, if the request asks for it
	// (Call.Keep), just before the event is posted, under the same rules. The event does
	// not have it.
	Keep func(events.ID, uint64, Kept)
	// SignOfLife asks the loop for a sign that it runs: the channel is closed when the loop
	// has ended a step, or has nothing to do. If one is outstanding for a third of the
	// session timeout, nothing is sent and nothing dialled until it comes, so that the
	// session of a loop that stands still ends. SignOfLife must not block. Nil stands for a
	// loop that always runs.
	SignOfLife func() <-chan struct{}
	// Paused returns for how long this process has not run: the sum of its pauses that ended
	// after an instant of the loop's clock, where one that has just ended counts. It must not
	// block, and is called when a connection ends. The events and texts of what a pause
	// explains name the pause in place of the server. Nil stands for a process that always runs.
	Paused func(since int64) time.Duration
	// Warn is called with texts that a person should read, without secrets. It must not
	// block.
	Warn func(text string)

	// Handshake bounds one attempt: dialling, TLS, the session's handshake, authentication
	// and the re-arming of watches; and the wait for the reply to a close. A server that is silent is left
	// earlier if there are others: a round over all of them is a part of Timeout. Default: a
	// third of Timeout, 5 s at most.
	Handshake time.Duration
	// Backoff is the longest pause between two rounds over the servers.
	// Default: 1 s.
	Backoff time.Duration
	// Window is how many requests of one lane may be pending. Default: 64.
	Window int
	// MaxRequest and MaxAnswer bound one message in bytes. Defaults: 1 MiB (a
	// server's own limit) and 4 MiB (about 70,000 names in a listing).
	MaxRequest, MaxAnswer int
}

// complete returns the settings with the defaults filled in.
func (c Config) complete() (Config, error) {
	switch {
	case len(c.Servers) == 0:
		return c, errors.New("no servers: name at least one, like \"zk1:2181\"")
	case c.Timeout < leastTimeout:
		return c, fmt.Errorf("the session timeout is %v: a session timeout is at least 100ms, 15s is usual", c.Timeout)
	case c.Timeout > math.MaxInt32*time.Millisecond:
		return c,
			fmt.Errorf("the session timeout is %v: the maximum of ZooKeeper's protocol is %v", c.Timeout,
				math.MaxInt32*time.Millisecond)
	case c.Now == nil:
		return c, errors.New("no clock: give the loop's clock")
	case c.Post == nil:
		return c, errors.New("no inbox: give the loop's inbox")
	}
	if c.Keep == nil {
		c.Keep = func(events.ID, uint64, Kept) {}
	}
	servers := make([]string, len(c.Servers))
	for i, entry := range c.Servers {
		server, err := parseServer(entry)
		if err != nil {
			return c, err
		}
		servers[i] = server
	}
	c.Servers = servers
	chroot, err := parseChroot(c.Chroot)
	if err != nil {
		return c, err
	}
	c.Chroot = chroot
	for _, auth := range c.Auth {
		if err := auth.check(); err != nil {
			return c, err
		}
	}
	if c.TLS != nil {
		if err := c.TLS.check(); err != nil {
			return c, err
		}
	}
	c.fill()
	return c, nil
}

func (c *Config) fill() {
	if c.ACL == nil {
		c.ACL = WorldAll
		if c.identified() {
			c.ACL = CreatorAll
		}
	}
	if c.Warn == nil {
		c.Warn = func(string) {}
	}
	if c.Handshake <= 0 {
		c.Handshake = min(c.Timeout/3, 5*time.Second)
	}
	if c.Backoff <= 0 {
		c.Backoff = time.Second
	}
	if c.Lag == nil {
		c.Lag = func() time.Duration { return 1500 * time.Millisecond }
	}
	if c.Paused == nil {
		c.Paused = func(int64) time.Duration { return 0 }
	}
	if c.Window <= 0 {
		c.Window = 64
	}
	if c.MaxRequest <= 0 {
		c.MaxRequest = 1 << 20
	}
	if c.MaxAnswer <= 0 {
		c.MaxAnswer = 4 << 20
	}
}

// identified reports whether the client shows the ensemble who it is.
func (c Config) identified() bool { return c.SASL != nil || len(c.Auth) > 0 || c.TLS.certified() }

// warnings lists settings that are allowed but seldom meant.
func (c Config) warnings() []string {
	var texts []string
	if !c.identified() && worldWritable(c.ACL) {
		texts = append(texts, "nodes are created without authentication and writable for every client: "+
			"any client of the ensemble can end or take over an election; set Config.Auth, Config.SASL, "+
			"a client certificate in Config.TLS, or Config.ACL")
	}
	for _, auth := range c.Auth {
		if auth.Scheme == "digest" && c.TLS == nil {
			texts = append(texts, "digest credentials are sent in the clear: set Config.TLS")
			break
		}
	}
	return texts
}

// leastTimeout is the shortest session timeout that is asked for, and that is taken for one: all paces are parts of it,
// and no server is to set them to microseconds.
const leastTimeout = 100 * time.Millisecond

// Mechanism is a SASL mechanism with one identity: incumbent.Mechanism, which has the rules.
type Mechanism interface {
	Name() string
	Start(ctx context.Context, server SASLServer) (SASLExchange, []byte, error)
}

// SASLExchange is the client's side of one connection's login.
type SASLExchange interface {
	Next(ctx context.Context, token []byte) (answer []byte, done bool, err error)
}

// SASLServer is the server that a connection is logged in to: its host and port as configured, and "ip:port", "" if it
// is not known.
type SASLServer struct {
	Host, Port, Address string
}
