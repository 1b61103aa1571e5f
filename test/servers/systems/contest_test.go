package systems

import (
	"errors"
	"time"

	"github.com/go-zookeeper/zk"
)

// The faults whose times the table has.
const (
	expiry = "the elected one's session ends"
	kill   = "kill -9 of the elected one"
)

// place is the node of the one that is elected; the zero place says that nobody is.
type place struct {
	path, data     string
	czxid, session int64
}

// contest is an election: how to see who is elected, and what has to hold after each change.
type contest struct {
	look   func(*zk.Conn) (place, <-chan zk.Event, error) // the channel fires when that changes
	settle func(before, now place) string                 // waits until the system works, and returns what was seen
}

// nodeLook looks at an election for one ephemeral node.
func nodeLook(path string) func(*zk.Conn) (place, <-chan zk.Event, error) {
	return func(conn *zk.Conn) (place, <-chan zk.Event, error) {
		there, _, changed, err := conn.ExistsW(path)
		if err != nil || !there {
			return place{}, changed, err
		}
		found, err := read(conn, path)
		return found, changed, err
	}
}

// lineLook looks at an election in a line: the child with the lowest number at the end of its name is elected.
func lineLook(dir string) func(*zk.Conn) (place, <-chan zk.Event, error) {
	return func(conn *zk.Conn) (place, <-chan zk.Event, error) {
		names, _, changed, err := conn.ChildrenW(dir)
		if errors.Is(err, zk.ErrNoNode) {
			_, _, changed, err = conn.ExistsW(dir)
			return place{}, changed, err
		}
		first := ""
		for _, name := range names {
			if first == "" || number(name) < number(first) {
				first = name
			}
		}
		if err != nil || first == "" {
			return place{}, changed, err
		}
		found, err := read(conn, dir+"/"+first)
		return found, changed, err
	}
}

// number returns the number at the end of a name, as text of one length.
func number(name string) string { return name[max(0, len(name)-10):] }

func read(conn *zk.Conn, path string) (place, error) {
	data, stat, err := conn.Get(path)
	if errors.Is(err, zk.ErrNoNode) {
		return place{}, nil
	}
	if err != nil {
		return place{}, err
	}
	return place{path, string(data), stat.Czxid, stat.EphemeralOwner}, nil
}

// elected waits until one is elected that is not the one before.
func (s *stage) elected(c contest, before place) (now place) {
	s.t.Helper()
	s.untilHolds("the next to be elected", func(conn *zk.Conn) (holds bool, changed <-chan zk.Event, err error) {
		now, changed, err = c.look(conn)
		return now.session != 0 && now.czxid != before.czxid, changed, err
	})
	return now
}

// untilHolds looks at the server's data until a condition holds, each time something has changed, or a look has
// failed.
func (s *stage) untilHolds(what string, look func(*zk.Conn) (bool, <-chan zk.Event, error)) {
	s.t.Helper()
	deadline := time.NewTimer(within)
	defer deadline.Stop()
	for {
		holds, changed, err := look(s.conn)
		if err == nil && holds {
			return
		}
		if err != nil { // while a server is away, or before a node is there
			changed = nil
		}
		select {
		case <-changed:
		case <-time.After(tick / 10):
		case <-deadline.C:
			s.t.Fatalf("gave up waiting for %s.\n%s", what, s.picture())
		}
	}
}

// owner returns the process that has the place.
func (s *stage) owner(of place) *process {
	s.t.Helper()
	for _, p := range s.processes {
		if p.has(of.session) {
			return p
		}
	}
	s.t.Fatalf("no process has the session of %+v", of)
	return nil
}

// changes does something that ends the place of the elected one, waits for the next, and notes the step.
func (s *stage) changes(name string, c contest, do func(before place)) {
	s.t.Helper()
	before := s.elected(c, place{})
	s.from = s.now()
	begun := time.Now()
	do(before)
	now := s.elected(c, before)
	took := time.Since(begun)
	s.note(name, took, c.settle(before, now))
}

// expiries ends the session of the elected one a number of times.
func (s *stage) expiries(times int, c contest) {
	s.t.Helper()
	for range times {
		s.changes(expiry, c, func(before place) { s.owner(before).expire(before.session) })
	}
}

// endingExpiries is expiries of a system in which a process that has lost its session ends by itself.
func (s *stage) endingExpiries(times int, c contest) {
	s.t.Helper()
	s.mayEnd = true
	for range times {
		var expired *process
		revived := contest{c.look, func(before, now place) string {
			return s.revived(expired) + ", " + c.settle(before, now)
		}}
		s.changes(expiry, revived, func(before place) {
			expired = s.owner(before)
			expired.expire(before.session)
		})
	}
	s.mayEnd = false
}

// cuts cuts all connections a number of times. Sessions go on.
func (s *stage) cuts(times int, c contest) {
	s.t.Helper()
	for range times {
		before := s.elected(c, place{})
		s.from = s.now()
		again := s.connected()
		begun := time.Now()
		s.faulty(true)
		for _, p := range s.processes {
			for _, tap := range p.taps {
				tap.cut()
			}
		}
		s.faulty(false)
		again()
		outcome := c.settle(before, s.elected(c, place{}))
		s.note("all connections are cut", time.Since(begun), outcome)
	}
}

// outage stops all servers, and starts them again when clients have found none.
func (s *stage) outage(c contest) {
	s.t.Helper()
	before := s.elected(c, place{})
	s.from = s.now()
	again := s.connected()
	s.faulty(true)
	for i := range s.servers.addrs() {
		s.servers.stop(i)
	}
	s.awaitRefusals()
	begun := time.Now()
	for i := range s.servers.addrs() {
		s.servers.start(i)
	}
	s.servers.settled()
	again()
	outcome := c.settle(before, s.elected(c, place{}))
	s.faulty(false)
	s.note("the server is away and comes back", time.Since(begun), outcome)
}

// kills kills the process that is elected, waits for the next, and starts it again.
func (s *stage) kills(c contest, again func(*process) string) {
	s.t.Helper()
	var killed *process
	s.changes(kill, c, func(before place) {
		killed = s.owner(before)
		killed.kill()
	})
	s.timed("it starts again", func() string { return again(killed) })
}

// rolling stops and starts the servers of an ensemble, one after the other. The system works while one is away.
func (s *stage) rolling(c contest) {
	s.t.Helper()
	for i := range s.servers.addrs() {
		before := s.elected(c, place{})
		s.from = s.now()
		begun := time.Now()
		s.faulty(true)
		s.servers.stop(i)
		outcome := c.settle(before, s.elected(c, place{}))
		s.servers.start(i)
		s.servers.settled()
		s.faulty(false)
		s.note("one of the servers restarts", time.Since(begun), outcome)
	}
}
