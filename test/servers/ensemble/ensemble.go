// Package ensemble runs three real ZooKeeper servers on the loopback, for tests of what an ensemble does and what its
// network does to it. Where the servers come from, and what happens where there is none, is as in realzk.
//
// What needs no real server is tested on zkmem's ensemble, too, in virtual time: see memory_test.go.
//
// Servers talk to each other through links of package proxy, two for each ordered pair (for the quorum port and for the
// election port), so that any direction between any two can be silenced, delayed or cut. Clients reach the servers
// directly.
package ensemble

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/proxy"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/test/kit/repeat"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// Size is how many servers there are.
const Size = 3

const (
	within  = repeat.Enough          // for the ensemble to become what is waited for
	between = 100 * time.Millisecond // looks at it
)

// Options are the settings of an ensemble. The zero value has ZooKeeper's own.
type Options struct {
	Tick       time.Duration  // tickTime, default 2 s; sessions are 2–20 ticks
	SyncLimit  int            // default 5 ticks
	InitLimit  int            // default 10 ticks
	Properties []string       // further Java system properties
	Settings   []string       // further lines of zoo.cfg
	Release    realzk.Release // what the servers are
	Named      bool           // the servers' configuration has their addresses for clients
	Direct     bool           // Named, and no links: reconfig spreads the leader's addresses
}

// Ensemble is three servers and the links between them.
type Ensemble struct {
	t       testing.TB
	options Options
	dir     string
	servers [Size]*Server
	links   map[route]*proxy.Link
}

// route identifies a link: the dialling server, the other one, and which of the two ports.
type route struct {
	from, to int
	port     port
}

type port int

const (
	quorum port = iota
	election
)

// Start starts an ensemble and returns when it has a leader and two followers. It ends with the test.
func Start(t testing.TB, o Options) *Ensemble {
	t.Helper()
	o.Release.Require(t)
	if o.Tick == 0 {
		o.Tick = 2 * time.Second
	}
	if o.SyncLimit == 0 {
		o.SyncLimit = 5
	}
	if o.InitLimit == 0 {
		o.InitLimit = 10
	}
	e := &Ensemble{t: t, options: o, dir: t.TempDir(), links: map[route]*proxy.Link{}}
	t.Cleanup(e.end)
	if err := e.start(); err != nil {
		t.Fatalf("the ensemble does not start: %v\n%s", err, e.Logs())
	}
	for _, s := range e.servers {
		o.Release.At(t, s.client)
	}
	return e
}

func (e *Ensemble) start() error {
	for i := range e.servers {
		s := &Server{e: e, id: i + 1, release: e.options.Release, dir: filepath.Join(e.dir, fmt.Sprint(i+1))}
		for _, addr := range []*string{&s.client, &s.ports[quorum], &s.ports[election]} {
			var err error
			if *addr, err = zkmem.FreeAddr(); err != nil {
				return err
			}
		}
		e.servers[i] = s
	}
	if err := e.connect(); err != nil {
		return err
	}
	for _, s := range e.servers {
		if err := s.found(); err != nil {
			return err
		}
		if err := s.launch(); err != nil {
			return err
		}
	}
	_, err := e.settle()
	return err
}

// connect starts the links. A server whose election port is dialled by one with a smaller number closes the connection
// and dials back, at the address in the first message: that address is replaced by the link's.
func (e *Ensemble) connect() error {
	for from := range e.servers {
		for to := range e.servers {
			if from == to {
				continue
			}
			for _, port := range []port{quorum, election} {
				link, err := proxy.New(e.servers[to].ports[port], proxy.Rewrite(e.rename(from, to)))
				if err != nil {
					return err
				}
				e.links[route{from, to, port}] = link
			}
		}
	}
	return nil
}

func (e *Ensemble) rename(from, to int) func([]byte) []byte {
	return func(greeting []byte) []byte {
		back := e.links[route{to, from, election}].Addr()
		own := e.servers[from].ports[election]
		if len(own) != len(back) {
			return greeting // the length stands before it
		}
		return bytes.Replace(greeting, []byte(own), []byte(back), 1)
	}
}

func (e *Ensemble) end() {
	for _, s := range e.servers {
		if s != nil {
			s.kill()
		}
	}
	for _, l := range e.links {
		l.Close()
	}
}

// Addrs returns the connect string of some servers, or of all if none is given.
func (e *Ensemble) Addrs(some ...*Server) string {
	if len(some) == 0 {
		some = e.servers[:]
	}
	var addrs []string
	for _, s := range some {
		addrs = append(addrs, s.client)
	}
	return strings.Join(addrs, ",")
}

// Tick returns the ensemble's tickTime.
func (e *Ensemble) Tick() time.Duration { return e.options.Tick }

// SyncLimit returns the ensemble's syncLimit, in ticks.
func (e *Ensemble) SyncLimit() int { return e.options.SyncLimit }

// Servers returns all three.
func (e *Ensemble) Servers() []*Server { return e.servers[:] }

// Whole waits until all three serve, one of them as the leader, and returns the leader and the followers.
func (e *Ensemble) Whole() (leader *Server, followers []*Server) {
	e.t.Helper()
	roles, err := e.settle()
	if err != nil {
		e.t.Fatalf("%v\n%s", err, e.Logs())
	}
	return roles.leader, roles.followers
}

// Leader waits until one of these servers leads, or any if none is given, and returns it.
func (e *Ensemble) Leader(among ...*Server) *Server {
	e.t.Helper()
	if len(among) == 0 {
		among = e.servers[:]
	}
	var leader *Server
	err := e.until("a leader", func() bool {
		for _, s := range among {
			if s.Mode() == "leader" {
				leader = s
				return true
			}
		}
		return false
	})
	if err != nil {
		e.t.Fatalf("%v\n%s", err, e.Logs())
	}
	return leader
}

type roles struct {
	leader    *Server
	followers []*Server
}

func (e *Ensemble) settle() (r roles, err error) {
	err = e.until("a leader and two followers", func() bool {
		r = roles{}
		for _, s := range e.servers {
			switch s.Mode() {
			case "leader":
				r.leader = s
			case "follower":
				r.followers = append(r.followers, s)
			}
		}
		return r.leader != nil && len(r.followers) == Size-1 && r.leader.synced() == Size-1
	})
	return r, err
}

// until polls a condition, at a bounded rate.
func (e *Ensemble) until(what string, holds func() bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	ticker := time.NewTicker(between)
	defer ticker.Stop()
	for !holds() {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return fmt.Errorf("gave up waiting for %s", what)
		}
	}
	return nil
}

// Logs returns the output of the servers since they were started last.
func (e *Ensemble) Logs() string {
	var b strings.Builder
	for _, s := range e.servers {
		if s != nil && s.process != nil {
			fmt.Fprintf(&b, "== server %d\n%s\n", s.id, s.process.Log())
		}
	}
	return b.String()
}

// Wipe kills all servers, deletes everything that they kept, and starts them again: an ensemble without a past.
func (e *Ensemble) Wipe() {
	e.t.Helper()
	e.Rebuild(func(s *Server) error { return os.RemoveAll(s.data()) })
}

// Rebuild kills all servers, changes what each kept, and starts them again.
func (e *Ensemble) Rebuild(change func(*Server) error) {
	e.t.Helper()
	for _, s := range e.servers {
		s.kill()
	}
	for _, s := range e.servers {
		if err := change(s); err != nil {
			e.t.Fatal(err)
		}
		if err := s.found(); err != nil {
			e.t.Fatal(err)
		}
		s.Restart()
	}
	e.Whole()
}
