package chaos

import (
	"bufio"
	"fmt"
	"net"
	"sync"
)

// store is where clients write: a number for each line. A line that is fenced has requests refused whose token is below
// the highest that was seen; on all others every request is taken. It is never stopped.
type store struct {
	listener net.Listener
	now      func() int64
	fenced   map[string]bool

	mu    sync.Mutex
	lines map[string]*shelf
}

// shelf is one line's number.
type shelf struct {
	value, highest int64
	arrivals       []arrival
}

func openStore(now func() int64, fenced map[string]bool) (*store, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &store{listener: listener, now: now, fenced: fenced, lines: map[string]*shelf{}}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go s.serve(conn)
		}
	}()
	return s, nil
}

func (s *store) addr() string { return s.listener.Addr().String() }
func (s *store) close()       { s.listener.Close() }

// serve takes "hello LINE ID" and then requests, one to a line: "load TOKEN", "save TOKEN VALUE". Each is answered by
// "ok VALUE" or "stale".
func (s *store) serve(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewScanner(conn)
	var line, id string
	if !in.Scan() {
		return
	}
	if _, err := fmt.Sscanf(in.Text(), "hello %s %s", &line, &id); err != nil {
		return
	}
	for in.Scan() {
		a := arrival{id: id}
		if n, _ := fmt.Sscan(in.Text(), &a.verb, &a.token, &a.value); n < 2 {
			return
		}
		if _, err := fmt.Fprintln(conn, s.take(line, a)); err != nil {
			return
		}
	}
}

func (s *store) take(line string, a arrival) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lines[line]
	if l == nil {
		l = &shelf{}
		s.lines[line] = l
	}
	a.at = s.now()
	a.taken = !s.fenced[line] || a.token >= l.highest
	if a.taken {
		l.highest = max(l.highest, a.token)
		if a.verb == save {
			l.value = a.value
		}
	}
	l.arrivals = append(l.arrivals, a)
	if !a.taken {
		return "stale"
	}
	return fmt.Sprintf("ok %d", l.value)
}

// arrivals returns all requests on a line, in the order in which they were taken.
func (s *store) arrivals(line string) []arrival {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lines[line] == nil {
		return nil
	}
	return s.lines[line].arrivals[:len(s.lines[line].arrivals):len(s.lines[line].arrivals)]
}
