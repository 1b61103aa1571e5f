package zkio

import (
	"context"
	"io"
	"net"
	"sync"
	"time"

	"github.com/incumbent-go/incumbent/internal/jute"
)

// keeper keeps one session: it dials, sends the connect request, the pings and the close, and dials again after each
// end of a connection, until it is closed. The connections that it gets are wires: they read what the server sends, and
// hand on only the answers to the connect request and to the close.
//
// It writes what zk.Conn of go-zookeeper writes, and a byte that zk.Conn leaves out
// (TestTheKeeperWritesWhatZkConnWrites), without the buffer of 1.5 MB that zk.Conn allocates for each session.
type keeper struct {
	ctx     context.Context // nothing is dialled after its end
	dial    func() (net.Conn, error)
	closing chan struct{} // closed by close
	once    sync.Once
	gone    chan struct{} // closed when the last goroutine has ended

	// What the next connect request asks for. Only run uses them.
	timeout  time.Duration
	id       int64
	password []byte
}

const (
	protocolVersion = 0
	passwordSize    = 16
	closeXid        = 1
	pingsInTimeout  = 3
)

// keep returns a keeper that has begun to dial. Dial waits between two attempts by itself.
func keep(ctx context.Context, timeout time.Duration, dial func() (net.Conn, error)) *keeper {
	k := &keeper{ctx: ctx, dial: dial, closing: make(chan struct{}), gone: make(chan struct{}),
		timeout: timeout, password: make([]byte, passwordSize)}
	go k.run()
	return k
}

// close sends the request that closes the session, if there is a connection, and prevents another dial.
func (k *keeper) close() { k.once.Do(func() { close(k.closing) }) }

func (k *keeper) run() {
	defer close(k.gone)
	for !k.ended() {
		conn, err := k.dial()
		if err != nil {
			continue
		}
		if err := k.connect(conn); err != nil {
			_ = conn.Close()
			continue
		}
		k.serve(conn)
	}
}

func (k *keeper) ended() bool {
	select {
	case <-k.closing:
		return true
	case <-k.ctx.Done():
		return true
	default:
		return false
	}
}

// connect sends the connect request and reads its answer. The wire has checked it.
func (k *keeper) connect(conn net.Conn) error {
	const lastZxid = 0     // the wire writes the last that was seen
	const readOnly = false // a read-only server will not do; servers since 3.4 warn of a client that does not say so
	timeout := int32(k.timeout.Milliseconds())
	request := jute.NewFrame().Int32(protocolVersion).Int64(lastZxid).Int32(timeout).Int64(k.id).Bytes(k.password).
		Bool(readOnly)
	if _, err := conn.Write(request.Finish()); err != nil {
		return err
	}
	var length [jute.LengthSize]byte
	if _, err := io.ReadFull(conn, length[:]); err != nil {
		return err
	}
	size := jute.Decoder{Rest: length[:]}
	answer := jute.Decoder{Rest: make([]byte, size.Int32())}
	if _, err := io.ReadFull(conn, answer.Rest); err != nil {
		return err
	}
	answer.Int32() // the protocol version
	k.timeout, k.id = time.Duration(answer.Int32())*time.Millisecond, answer.Int64()
	k.password = append(k.password[:0], answer.Bytes()...)
	return nil
}

// serve sends the pings and the close until the connection has ended.
func (k *keeper) serve(conn net.Conn) {
	over, sent := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(sent)
		k.send(conn, over)
	}()
	var rest [jute.LengthSize + headerSize]byte // the answer to the close
	for err := error(nil); err == nil; {
		_, err = conn.Read(rest[:])
	}
	close(over)
	_ = conn.Close() // a write that waits for the server fails
	<-sent
}

func (k *keeper) send(conn net.Conn, over <-chan struct{}) {
	pings := time.NewTicker(k.timeout / pingsInTimeout)
	defer pings.Stop()
	closing := k.closing
	for {
		select {
		case <-closing:
			closing = nil
			_, _ = conn.Write(newFrame(closeXid, opClose).Finish())
		case <-pings.C:
			_, _ = conn.Write(newFrame(xidPing, opPing).Finish())
		case <-over:
			return
		}
	}
}
