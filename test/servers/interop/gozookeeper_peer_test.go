package interop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent/test/kit/realzk"
)

// zkProgram is a program as it was before it came to this library: one connection, and go-zookeeper's Lock. It does
// what a careful program can do: it stops its work when the connection ends, because Lock does not tell it that the
// lock is lost.
type zkProgram struct {
	conn *zk.Conn

	mu        sync.Mutex
	connected context.Context // ends with the connection
	end       context.CancelFunc
	again     chan struct{} // closed when there is a session again
}

// beZkProgram is bePeer for such a program.
func (p *goPeer) beZkProgram(server string, timeout time.Duration) error {
	p.theirs = &zkProgram{again: make(chan struct{})}
	p.theirs.connected, p.theirs.end = context.WithCancel(context.Background())
	p.theirs.end()
	conn, _, err := zk.Connect([]string{server}, timeout, zk.WithDialer(realzk.Dial), zk.WithLogger(silent{}),
		zk.WithLogInfo(false), zk.WithEventCallback(p.theirs.note))
	if err != nil {
		return err
	}
	p.theirs.conn = conn
	p.theirs.session()
	return p.obeyAll()
}

// note takes what go-zookeeper says of the connection.
func (z *zkProgram) note(ev zk.Event) {
	z.mu.Lock()
	defer z.mu.Unlock()
	switch ev.State {
	case zk.StateHasSession:
		z.connected, z.end = context.WithCancel(context.Background())
		close(z.again)
	case zk.StateDisconnected, zk.StateExpired:
		if z.connected.Err() == nil {
			z.end()
			z.again = make(chan struct{})
		}
	}
}

// session waits for a session, and returns what ends with its connection.
func (z *zkProgram) session() context.Context {
	for {
		z.mu.Lock()
		connected, again := z.connected, z.again
		z.mu.Unlock()
		if connected.Err() == nil {
			return connected
		}
		<-again
	}
}

// lockOfGoZookeeper has the member lock again and again; each hold is a term.
func (m *goMember) lockOfGoZookeeper() error {
	var held atomic.Bool
	m.mark, m.leads = "-lock-", held.Load
	go func() {
		for {
			connected := m.peer.theirs.session()
			lock := zk.NewLock(m.peer.theirs.conn, m.path, zk.WorldACL(zk.PermAll))
			if err := lock.LockWithData([]byte(m.id)); err != nil {
				m.clear()
				continue
			}
			if connected.Err() == nil {
				held.Store(true)
				m.term(connected)
				held.Store(false)
			}
			for lock.Unlock() != nil { // also if the session is over
				if m.clear() {
					break
				}
			}
		}
	}()
	return nil
}

// clear deletes what a Lock that failed has left in the line: it would hold everybody up, this member too. It returns
// false if it could not find out.
func (m *goMember) clear() bool {
	m.peer.theirs.session()
	conn := m.peer.theirs.conn
	names, _, err := conn.Children(m.path)
	for _, name := range names {
		data, stat, failed := conn.Get(m.path + "/" + name)
		if failed == nil && string(data) == m.id && stat.EphemeralOwner == conn.SessionID() {
			failed = conn.Delete(m.path+"/"+name, -1)
		}
		if failed != nil && !errors.Is(failed, zk.ErrNoNode) {
			err = failed
		}
	}
	return err == nil || errors.Is(err, zk.ErrNoNode)
}

// zkRoll says the line, in queue order as go-zookeeper takes it, with a star at the first.
func (m *goMember) zkRoll() error {
	conn := m.peer.theirs.conn
	names, _, err := conn.Children(m.path)
	if err != nil {
		return err
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(number(a), number(b)) })
	var ids []string
	for i, name := range names {
		data, _, err := conn.Get(m.path + "/" + name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if i == 0 {
			data = append(data, '*')
		}
		ids = append(ids, string(data))
	}
	m.peer.say("line %s %s", m.id, strings.Join(ids, " "))
	return nil
}
