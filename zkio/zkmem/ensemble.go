//go:build !js

package zkmem

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/incumbent-go/incumbent/internal/quorum"
)

// Ensemble is several servers in memory with one history. A write is committed when a quorum of the servers with a vote
// acknowledges it. Each server applies it on its own, so a server that lags answers reads from an older state. The
// leader decides which sessions expire. A client may connect to any server, and reconnect to another one with the same
// session.
//
// Each member is a [Server], with all that tests can ask of one: [Server.Stop] and [Server.Restart] are the crash and
// the start of one member, [Server.View] shows what that member has applied, and [Server.Do] has the leader commit an
// operation. Faults between members are methods of Ensemble: Isolate, Depose, Freeze and Lag. The node
// /zookeeper/config names the addresses of the members' listeners, for clients that follow it: see Advertise. All
// methods are safe to call from anywhere, with the exceptions that [Server] has.
type Ensemble struct {
	opts Options
	mu   *sync.Mutex // all members'; it guards everything below

	servers  []*Server
	quorum   *quorum.Ensemble
	config   configuration
	sessions map[int64]*session // as the leader knows them; all members'
	turns    *time.Timer
	closed   bool
}

// maxServers is how many servers an ensemble may have: each has a byte in the ids of the sessions that it creates.
const maxServers = 255

// NewEnsemble returns an ensemble of size servers, one of which leads. They serve no client yet: call Serve or
// ServeConn of each. Its only goroutines are those of its timers, so it works within testing/synctest. The error says
// how many servers there may be.
func NewEnsemble(size int, o Options) (*Ensemble, error) {
	e, err := newEnsemble(size, o)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.begin()
	return e, nil
}

func newEnsemble(size int, o Options) (*Ensemble, error) {
	if size < 1 || size > maxServers {
		return nil, fmt.Errorf("zkmem: an ensemble of %d servers: it has 1 to %d", size, maxServers)
	}
	e := &Ensemble{opts: o.withDefaults(), mu: new(sync.Mutex), quorum: quorum.New(size, 0),
		sessions: map[int64]*session{}}
	var secret [16]byte
	rand.Read(secret[:])
	for _, m := range e.quorum.Members() {
		s := newServer(o, e.mu, byte(m.ID()+1))
		s.secret, s.sessions = secret, e.sessions
		s.member = &member{Member: m, srv: s, ens: e, heardOf: map[*session]bool{}, local: map[int64]*session{}}
		e.servers = append(e.servers, s)
	}
	return e, nil
}

// begin elects the first leader. Under Ensemble.mu.
func (e *Ensemble) begin() {
	e.config = newConfiguration(e.servers)
	for _, s := range e.servers {
		s.member.named = s.clientAddr()
	}
	e.settle()
	e.config.version = e.leader().zxid
	at := e.servers[0].now()
	for _, s := range e.servers {
		s.tree.setConfig(e.config.String(), e.config.version, at)
	}
	e.turns = time.AfterFunc(e.opts.Tick/2, e.turn)
}

// Servers returns the members, in the order of their numbers, which begin with 1.
func (e *Ensemble) Servers() []*Server { return append([]*Server(nil), e.servers...) }

// Addr returns the connection string of all members that have a listener without TLS: host:port, separated by commas.
func (e *Ensemble) Addr() string {
	var addrs []string
	for _, s := range e.servers {
		if addr := s.Addr(); addr != "" {
			addrs = append(addrs, addr)
		}
	}
	return strings.Join(addrs, ",")
}

// Leader returns the member that a quorum elected last, or nil while there is none. An election takes no time, so after
// a fault that causes one, Leader returns the new leader.
func (e *Ensemble) Leader() *Server {
	e.mu.Lock()
	defer e.mu.Unlock()
	if l := e.leader(); l != nil && l.Leads() {
		return l.srv
	}
	return nil
}

// Followers returns the members that serve and do not lead, observers and members that lag or are cut off included.
func (e *Ensemble) Followers() []*Server {
	e.mu.Lock()
	defer e.mu.Unlock()
	var all []*Server
	for _, s := range e.servers {
		if s.member.Serving() && !s.member.Leads() {
			all = append(all, s)
		}
	}
	return all
}

// Config returns the committed configuration, as the data of /zookeeper/config has it.
func (e *Ensemble) Config() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.config.String()
}

// Advance is [Server.Advance] for all members: time goes on by d in this call. Members that are cut off notice it if
// they would within d, the others elect a leader if they would, and sessions expire whose timeout ends by then.
func (e *Ensemble) Advance(d time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.advance(d)
}

// Close stops all members for good and waits until none of their goroutines is left.
func (e *Ensemble) Close() {
	e.mu.Lock()
	e.closed = true
	if e.turns != nil {
		e.turns.Stop()
	}
	for _, session := range e.sessions {
		session.timer.Stop()
	}
	e.mu.Unlock()
	for _, s := range e.servers {
		s.Close()
	}
}

// leader returns the member that a quorum elected last, nil for none. Under Ensemble.mu, as all that follows.
func (e *Ensemble) leader() *member {
	if l := e.quorum.Leader(); l != nil {
		return e.servers[l.ID()].member
	}
	return nil
}

// mayCommit reports whether a write is committed now.
func (e *Ensemble) mayCommit() bool {
	l := e.leader()
	return l != nil && l.MayCommit() && !l.Frozen()
}

// notify checks the conditions of all members' waiters.
func (e *Ensemble) notify() {
	for _, s := range e.servers {
		s.checkWaiters()
	}
}

// errNoQuorum is what an operator gets whose write cannot be committed now.
var errNoQuorum = errors.New("zkmem: no leader with a quorum: heal or restart members first")

// operate has the leader commit a write that comes over no connection.
func (e *Ensemble) operate(caller Caller, op Op) (Result, error) {
	if !e.mayCommit() {
		return Result{Code: OpError, Err: ConnectionLoss}, errNoQuorum
	}
	p := &proposal{caller: caller, op: op}
	l := e.leader()
	l.propose(p)
	e.flow()
	return p.result, p.result.Err.err()
}
