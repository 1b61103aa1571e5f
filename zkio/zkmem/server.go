//go:build !js

package zkmem

import (
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"
)

// ErrClosed is returned by calls that need an open server after Close.
var ErrClosed = errors.New("zkmem: the server is closed")

// Server is a ZooKeeper in memory: a standalone one, or a member of an [Ensemble]. All methods are safe to call from
// anywhere, with two exceptions: callbacks that run "inside the server" (those of WaitFor, View and OnApply) must not
// call it, and an interceptor must not call Close.
type Server struct {
	opts   Options
	start  time.Time
	secret [16]byte
	closed chan struct{}
	failed chan error     // of a listener that has ended by itself
	work   sync.WaitGroup // the goroutines of connections and listeners
	hooks  hooks
	member *member // of an ensemble; nil for a standalone server

	mu         *sync.Mutex // guards everything below; all requests are served under it, one after the other
	stopped    bool        // by Stop or Close
	tree       *Tree
	watches    *Watches[*conn]
	sessions   map[int64]*session
	lastID     int64
	conns      map[*conn]struct{}
	listeners  map[net.Listener]struct{}
	addrs      []endpoint
	advertised string        // where clients reach it, if Ensemble.Advertise says so
	skew       time.Duration // how far Advance has moved the clock
	reaper     *time.Timer
	counts     Counts
	received   int64 // packets, since the start or the word srst
	sent       int64
	waiters    []*waiter
	onApply    func(Txn, Result)
}

// endpoint is where the server listens, now or after a Restart.
type endpoint struct {
	addr net.Addr
	tls  *tls.Config // nil for none
}

// New returns a standalone server that serves no client yet: give it a listener ([Server.Listen], [Server.Serve])
// or connections ([Server.ServeConn]). Until then its Addr is "". In a test, [Start] does that, too.
func New(o Options) *Server { return newServer(o, new(sync.Mutex), 1) }

// newServer returns a server with a number and a lock, which it may share.
func newServer(o Options, mu *sync.Mutex, number byte) *Server {
	o = o.withDefaults()
	s := &Server{
		mu:        mu,
		opts:      o,
		start:     time.Now(),
		closed:    make(chan struct{}),
		failed:    make(chan error, 1),
		watches:   NewWatches[*conn](o.Release),
		sessions:  map[int64]*session{},
		conns:     map[*conn]struct{}{},
		listeners: map[net.Listener]struct{}{},
		counts:    newCounts(),
	}
	rand.Read(s.secret[:])
	s.lastID = firstSessionID(s.start, number)
	s.mu.Lock() // the reaper may run before its timer is known here
	defer s.mu.Unlock()
	s.adopt(NewTree())
	s.reaper = time.AfterFunc(s.opts.ContainerInterval, s.reap)
	return s
}

// Listen opens a listener on a TCP address ("127.0.0.1:0" for any free port) and serves it in the background.
func (s *Server) Listen(addr string) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("zkmem: %w", err)
	}
	return s.serveInBackground(l)
}

// ListenTLS is Listen for clients that connect by TLS. config has the server's certificate; with its ClientAuth and
// ClientCAs, the server demands one of the clients, too.
func (s *Server) ListenTLS(addr string, config *tls.Config) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("zkmem: %w", err)
	}
	if l = tls.NewListener(l, config); !s.addEndpoint(l, config) {
		l.Close()
		return ErrClosed
	}
	go s.accept(l)
	return nil
}

// serveInBackground does what Serve does, in the background.
func (s *Server) serveInBackground(l net.Listener) error {
	if !s.addListener(l) {
		l.Close()
		return ErrClosed
	}
	go s.accept(l)
	return nil
}

// ListenAndServe serves a TCP address until the server is stopped, which is no error.
func (s *Server) ListenAndServe(addr string) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("zkmem: %w", err)
	}
	return s.Serve(l)
}

// Serve serves a listener's connections until the server is stopped, which is no error. It closes the listener.
func (s *Server) Serve(l net.Listener) error {
	if !s.addListener(l) {
		l.Close()
		return ErrClosed
	}
	return s.accept(l)
}

func (s *Server) addListener(l net.Listener) bool { return s.addEndpoint(l, nil) }

func (s *Server) addEndpoint(l net.Listener, config *tls.Config) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return false
	}
	s.listeners[l] = struct{}{}
	s.addrs = append(s.addrs, endpoint{l.Addr(), config})
	s.tree.schemes = s.schemes()
	s.work.Add(1)
	if s.member != nil {
		s.member.ens.readdress()
	}
	return true
}

// ListenerFailed returns a channel that gets the error of the first listener that ended although the server was not
// stopped: no client can connect there any more, until a Restart. It is safe to call from anywhere.
func (s *Server) ListenerFailed() <-chan error { return s.failed }

// accept goes on after transient errors, as for too many open files, for as long as they last.
func (s *Server) accept(l net.Listener) (err error) {
	defer s.work.Done()
	defer s.forget(l)
	defer func() {
		if err != nil && s.listens(l) {
			select {
			case s.failed <- err:
			default: // there is an earlier one
			}
		}
	}()
	for failures := 0; ; {
		nc, err := l.Accept()
		if err == nil {
			failures = 0
			go s.ServeConn(nc)
			continue
		}
		var transient interface{ Temporary() bool }
		if !errors.As(err, &transient) || !transient.Temporary() {
			failures++
		}
		switch {
		case s.isStopped():
			return nil
		case errors.Is(err, net.ErrClosed) || failures > 100:
			return fmt.Errorf("zkmem: %w", err)
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-s.closed:
		}
	}
}

func (s *Server) forget(l net.Listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.listeners, l)
	l.Close()
}

// listens reports whether a listener was not closed by Stop.
func (s *Server) listens(l net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, there := s.listeners[l]
	return there
}

func (s *Server) isStopped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopped
}

// Addr returns the address of the first listener without TLS, as host:port, or "" if there was none.
func (s *Server) Addr() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.endpoint(false)
}

// TLSAddr returns the address of the first listener for TLS, as host:port, or "" if there was none.
func (s *Server) TLSAddr() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.endpoint(true)
}

// schemes returns the schemes that the server knows: x509 with a listener for TLS, sasl with a login. Under Server.mu.
func (s *Server) schemes() schemes {
	login := len(s.opts.SASLUsers) > 0 || slices.Contains(s.opts.EnforceAuth, "sasl")
	return schemes{x509: s.endpoint(true) != "", sasl: login}
}

// adopt takes a copy of a tree, with what the server's settings say of it. Under Server.mu.
func (s *Server) adopt(tree *Tree) {
	s.tree = tree.Clone()
	s.tree.extended, s.tree.keeper, s.tree.schemes = s.opts.ExtendedTypes, s.opts.Keeper, s.schemes()
}

// endpoint returns the first address with or without TLS. Under Server.mu.
func (s *Server) endpoint(secure bool) string {
	for _, e := range s.addrs {
		if (e.tls != nil) == secure {
			return e.addr.String()
		}
	}
	return ""
}

// Stop closes listeners and connections immediately, as a crash would. The tree stays, and so do the sessions: they
// time out only while the server runs. The others of an ensemble notice that immediately. See Restart.
func (s *Server) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop()
}

func (s *Server) stop() {
	s.stopped = true
	for l := range s.listeners {
		l.Close()
	}
	clear(s.listeners)
	s.dropAll()
	s.reaper.Stop()
	if s.member != nil {
		s.member.crash()
	} else {
		for _, session := range s.sessions {
			session.timer.Stop()
		}
	}
	s.notify()
}

func (s *Server) dropAll() {
	for c := range s.conns {
		s.drop(c)
	}
}

// Restart lets a stopped server serve again, on the addresses it had. Every session gets its whole timeout again, as
// after the start of a real server. A member of an ensemble joins the others, or waits until they are a quorum. Restart
// fails, after a second, if an address has been taken meanwhile.
func (s *Server) Restart() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.closed:
		return ErrClosed
	default:
	}
	if !s.stopped {
		return nil
	}
	var again []net.Listener
	for _, e := range s.addrs {
		l, err := relisten(e.addr)
		if err != nil {
			for _, l := range again {
				l.Close()
			}
			return fmt.Errorf("zkmem: %w", err)
		}
		if e.tls != nil {
			l = tls.NewListener(l, e.tls)
		}
		again = append(again, l)
	}
	s.stopped = false
	for _, l := range again {
		s.listeners[l] = struct{}{}
		s.work.Add(1)
		go s.accept(l)
	}
	s.reaper.Reset(s.opts.ContainerInterval)
	if s.member != nil {
		s.member.start()
	} else {
		for _, session := range s.sessions {
			s.touch(session)
			session.arm()
		}
	}
	s.notify()
	return nil
}

// Close stops the server for good and waits until none of its goroutines is left.
func (s *Server) Close() {
	s.mu.Lock()
	select {
	case <-s.closed:
	default:
		close(s.closed)
	}
	s.stop()
	s.mu.Unlock()
	s.work.Wait()
}

// commit prepares and applies one operation and sends the watch events.
func (s *Server) commit(caller Caller, op Op) Result {
	return s.apply(s.tree.Prepare(caller, op, s.tree.Zxid()+1, s.now()))
}

// operate carries out a write that comes over no connection.
func (s *Server) operate(caller Caller, op Op) (Result, error) {
	if s.member != nil {
		return s.member.ens.operate(caller, op)
	}
	result := s.commit(caller, op)
	return result, result.Err.err()
}

func (s *Server) apply(txn Txn) Result {
	result, events := s.tree.Apply(txn)
	for _, event := range events {
		for _, c := range s.watches.Fire(event) {
			if allowed(event.ACL, PermRead, c.auth) == OK {
				c.sendWatchEvent(txn.Zxid, event)
			}
		}
	}
	if s.onApply != nil {
		s.onApply(txn, result)
	}
	return result
}

// refuse uses up a zxid for a write that could not even be prepared.
func (s *Server) refuse(session int64, code Code) {
	s.apply(Txn{Zxid: s.tree.Zxid() + 1, Time: s.now(), Session: session, Code: OpError, Err: code})
}

func (s *Server) reap() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return
	}
	if s.member == nil || s.member.ens.leader() == s.member {
		s.reapContainers()
	}
	s.reaper.Reset(s.opts.ContainerInterval)
}

func (s *Server) reapContainers() int {
	count := 0
	for _, path := range append(s.tree.EmptyContainers(), s.tree.Expired(s.now())...) {
		if result, err := s.operate(Operator(), Op{Code: OpDeleteContainer, Path: path}); err == nil &&
			result.Err == OK {
			count++
		}
	}
	s.notify()
	return count
}
