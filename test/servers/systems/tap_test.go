package systems

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/incumbent-go/incumbent/internal/jute"
	"github.com/incumbent-go/incumbent/test/kit/repeat"
)

// answer is an operation and the code that it got. An operation of a multi has the multi's name first, as in
// "multi/create".
type answer struct {
	op   string
	code int32
}

func (a answer) String() string {
	switch a.code {
	case 0:
		return a.op
	case noAnswer:
		return a.op + " without an answer"
	}
	return fmt.Sprintf("%s %d", a.op, a.code)
}

// tap listens on an address of its own and passes connections on to a server. It counts the answers, cuts
// connections and ends sessions.
type tap struct {
	listener net.Listener
	target   string
	all      sync.WaitGroup

	mu       sync.Mutex
	lines    map[*line]bool
	sessions map[int64]*line // the last connection of each
	counts   map[answer]int
	attached int  // handshakes that gave a session
	refused  int  // connections, because the server does not listen
	faulty   bool // the test breaks connections: a request without an answer is no finding
	closed   bool
	more     chan struct{} // closed and replaced when attached or refused has grown
}

// line is one connection through a tap.
type line struct {
	client, server net.Conn
	greeting       greeting
	pending        map[int32][]request // by xid, in order
	greeted        bool
}

func newTap(target string) (*tap, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &tap{
		listener: listener, target: target, more: make(chan struct{}),
		lines: map[*line]bool{}, sessions: map[int64]*line{}, counts: map[answer]int{},
	}
	p.all.Go(p.accept)
	return p, nil
}

func (p *tap) addr() string { return p.listener.Addr().String() }

func (p *tap) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.listener.Close()
	p.cut()
	p.all.Wait()
}

// cut cuts every connection. New ones are passed on.
func (p *tap) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.lines {
		l.close()
	}
}

func (l *line) close() {
	l.client.Close()
	l.server.Close()
}

func (p *tap) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.all.Go(func() { p.join(client) })
	}
}

// join passes a connection on until one end closes it.
func (p *tap) join(client net.Conn) {
	server, err := net.DialTimeout("tcp", p.target, repeat.Enough)
	p.mu.Lock()
	if err != nil || p.closed {
		p.refused++
		p.grown()
		p.mu.Unlock()
		client.Close()
		if err == nil {
			server.Close()
		}
		return
	}
	l := &line{client: client, server: server, pending: map[int32][]request{}}
	p.lines[l] = true
	p.mu.Unlock()
	var forth sync.WaitGroup
	forth.Go(func() {
		p.requests(l)
		l.close()
	})
	p.replies(l)
	l.close()
	forth.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.lines, l)
}

// grown wakes those that wait for a number to grow. The caller holds the lock.
func (p *tap) grown() {
	close(p.more)
	p.more = make(chan struct{})
}

// requests passes on what the client sends.
func (p *tap) requests(l *line) {
	for first := true; ; first = false {
		frame, err := readFrame(l.client)
		if err != nil {
			return
		}
		r := request{op: opConnect}
		if !first {
			r = decodeRequest(frame[jute.LengthSize:])
		}
		p.mu.Lock()
		l.pending[r.xid] = append(l.pending[r.xid], r)
		p.mu.Unlock()
		if _, err := l.server.Write(frame); err != nil {
			return
		}
	}
}

// replies passes on what the server sends, and counts it.
func (p *tap) replies(l *line) {
	for {
		frame, err := readFrame(l.server)
		if err != nil {
			p.ended(l, err)
			return
		}
		p.count(l, frame[jute.LengthSize:])
		if _, err := l.client.Write(frame); err != nil {
			return
		}
	}
}

// notification is the xid of what a watch sends.
const notification = -1

// count counts an answer.
func (p *tap) count(l *line, frame []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !l.greeted {
		l.greeted, l.greeting = true, decodeGreeting(frame)
		delete(l.pending, 0)
		if l.greeting.session == 0 {
			p.counts[answer{opConnect.String(), sessionExpired}]++
			return
		}
		p.sessions[l.greeting.session] = l
		p.counts[answer{opConnect.String(), 0}]++
		p.attached++
		p.grown()
		return
	}
	got, rest := decodeReply(frame)
	if got.xid == notification {
		return
	}
	asked := l.pending[got.xid]
	if len(asked) == 0 {
		p.counts[answer{"nothing", got.code}]++
		return
	}
	l.pending[got.xid] = asked[1:]
	p.counts[answer{asked[0].op.String(), got.code}]++
	if len(asked[0].parts) > 0 && len(rest.Rest) > 0 {
		for i, code := range decodeParts(rest) {
			name := "nothing"
			if i < len(asked[0].parts) {
				name = asked[0].parts[i].String()
			}
			p.counts[answer{asked[0].op.String() + "/" + name, code}]++
		}
	}
}

// ended counts what the server did not answer before it closed the connection.
func (p *tap) ended(l *line, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.faulty || p.closed || errors.Is(err, net.ErrClosed) {
		return
	}
	for _, asked := range l.pending {
		for _, r := range asked {
			if r.op != opPing && r.op != opCloseSession {
				p.counts[answer{r.op.String(), noAnswer}]++
			}
		}
	}
}

// setFaulty says whether the test breaks connections from now on.
func (p *tap) setFaulty(faulty bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faulty = faulty
}

// has reports whether the session came through this tap.
func (p *tap) has(session int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sessions[session] != nil
}

const expiryTimeout = 30000 // of the session, in milliseconds: it ends at once

// expire ends a session on any server: a second connection attaches to it, by its password, and closes it. Then the
// client's own connection is cut, so that it learns of it.
func (p *tap) expire(session int64) error {
	p.mu.Lock()
	l := p.sessions[session]
	p.mu.Unlock()
	if l == nil {
		return fmt.Errorf("session 0x%x did not come through this tap", session)
	}
	conn, err := net.Dial("tcp", p.target)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(repeat.Enough)); err != nil {
		return err
	}
	hello := jute.NewFrame().Int32(0).Int64(0).Int32(expiryTimeout).Int64(session)
	hello = hello.Bytes(l.greeting.password).Bool(false)
	if _, err := conn.Write(hello.Finish()); err != nil {
		return err
	}
	frame, err := readFrame(conn)
	if err != nil {
		return err
	}
	if got := decodeGreeting(frame[jute.LengthSize:]); got.session != session {
		return fmt.Errorf("attached to session 0x%x, want 0x%x", got.session, session)
	}
	if _, err := conn.Write(jute.NewFrame().Int32(1).Int32(int32(opCloseSession)).Finish()); err != nil {
		return err
	}
	if _, err := readFrame(conn); err != nil {
		return err
	}
	l.close()
	return nil
}
