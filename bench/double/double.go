// Package double measures the in-memory ZooKeeper, which stands in for a real one in tests, and real ones: how soon
// each serves, what it holds in memory, and how soon it answers.
package double

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent/bench/machine"
	"github.com/incumbent-go/incumbent/bench/stats"
)

// Load is what a server is given in a round.
type Load struct {
	Sessions int           // of go-zookeeper, all in this process
	Nodes    int           // that they create, at once
	Rate     int           // requests a second, of all: four reads, then a write
	For      time.Duration // how long they are sent
}

// Usual is the load of the table.
var Usual = Load{Sessions: 200, Nodes: 50_000, Rate: 2000, For: 5 * time.Second}

// Server is one that is measured.
type Server struct {
	Label string // for people
	// Start returns when the server serves. The process with this number, and its children, are the server.
	Start func(context.Context) (addr string, pid int, end func(), err error)
}

// Figures are of one server in one round.
type Figures struct {
	Start   time.Duration // until the first session is there
	Creates time.Duration // until all nodes are there
	Answers []float64     // how long each request took, in nanoseconds
	CPU     time.Duration // of the server, while the requests were sent
	RSS     int64         // bytes of the server, after all
}

const (
	sessionTimeout = 15 * time.Second
	payload        = 100 // bytes of each node
	perFolder      = 1000
)

// Measure starts a server, gives it the load, and ends it.
func (l Load) Measure(ctx context.Context, s Server) (f Figures, err error) {
	begin := time.Now()
	addr, pid, end, err := s.Start(ctx)
	if err != nil {
		return f, err
	}
	defer end()
	conns := make([]*zk.Conn, l.Sessions)
	defer func() {
		for _, conn := range conns {
			if conn != nil {
				conn.Close()
			}
		}
	}()
	if conns[0], err = open(addr); err != nil {
		return f, err
	}
	f.Start = time.Since(begin)
	if err := each(conns[1:], func(i int, _ *zk.Conn) (err error) { conns[i+1], err = open(addr); return err }); err !=
		nil {
		return f, err
	}
	begin = time.Now()
	if err := l.create(conns); err != nil {
		return f, err
	}
	f.Creates = time.Since(begin)
	before, err := machine.CPUOfAll(pid)
	if err != nil {
		return f, err
	}
	if f.Answers, err = l.traffic(ctx, conns); err != nil {
		return f, err
	}
	after, err := machine.CPUOfAll(pid)
	f.CPU = after - before
	if err != nil {
		return f, err
	}
	f.RSS, err = machine.RSSOfAll(pid)
	return f, err
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

// open returns a client that has a session.
func open(addr string) (*zk.Conn, error) {
	conn, seen, err := zk.Connect([]string{addr}, sessionTimeout, zk.WithLogger(quiet{}), zk.WithLogInfo(false))
	if err != nil {
		return nil, err
	}
	for e := range seen {
		if e.State == zk.StateHasSession {
			return conn, nil
		}
	}
	return nil, errors.New("double: the connection ended before it had a session")
}

// each calls f for every client at once and returns when all calls have returned.
func each(conns []*zk.Conn, f func(i int, conn *zk.Conn) error) error {
	failed := make([]error, len(conns))
	var all sync.WaitGroup
	for i, conn := range conns {
		all.Go(func() { failed[i] = f(i, conn) })
	}
	all.Wait()
	return errors.Join(failed...)
}

func node(i int) string { return fmt.Sprintf("/%d/%d", i/perFolder, i%perFolder) }

// create creates the nodes: each client sends one request after the other.
func (l Load) create(conns []*zk.Conn) error {
	world, data := zk.WorldACL(zk.PermAll), make([]byte, payload)
	for i := 0; i < l.Nodes; i += perFolder {
		if _, err := conns[0].Create(fmt.Sprintf("/%d", i/perFolder), nil, 0, world); err != nil {
			return err
		}
	}
	return each(conns, func(c int, conn *zk.Conn) error {
		for i := c; i < l.Nodes; i += len(conns) {
			if _, err := conn.Create(node(i), data, 0, world); err != nil {
				return err
			}
		}
		return nil
	})
}

// traffic sends requests at the rate, and returns how long each took. A client sends its next one when its last one was
// answered.
func (l Load) traffic(ctx context.Context, conns []*zk.Conn) ([]float64, error) {
	between := time.Duration(len(conns)) * time.Second / time.Duration(l.Rate)
	begin, data := time.Now(), make([]byte, payload)
	took := make([][]float64, len(conns))
	err := each(conns, func(c int, conn *zk.Conn) error {
		due := begin.Add(between * time.Duration(c) / time.Duration(len(conns)))
		for n := 0; due.Before(begin.Add(l.For)) && ctx.Err() == nil; n++ {
			time.Sleep(time.Until(due))
			sent := time.Now()
			if err := ask(conn, node((c+n*len(conns))%l.Nodes), n%5 == 4, data); err != nil {
				return err
			}
			took[c] = append(took[c], float64(time.Since(sent)))
			due = due.Add(between)
		}
		return ctx.Err()
	})
	return slices.Concat(took...), err
}

// ask sends one request.
func ask(conn *zk.Conn, path string, write bool, data []byte) (err error) {
	if write {
		_, err = conn.Set(path, data, -1)
	} else {
		_, _, err = conn.Get(path)
	}
	return err
}

// Rounds measures each server in each round; the order changes from round to round. It returns the figures by label.
func (l Load) Rounds(ctx context.Context, rounds int, servers []Server,
	log func(string, ...any)) (map[string][]Figures, error) {
	all := map[string][]Figures{}
	for round := range rounds {
		for i := range servers {
			s := servers[(i+round)%len(servers)]
			f, err := l.Measure(ctx, s)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.Label, err)
			}
			all[s.Label] = append(all[s.Label], f)
			log("double: round %d: %s answered in %.0f µs", round+1, s.Label, stats.Median(f.Answers)/1e3)
		}
	}
	return all, nil
}
