package zkmem

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// The ports that FreeAddr gives out. They end where those begin that Linux gives to whoever asks for any port and to
// outgoing connections, which is at 32768; macOS and Windows begin later.
const (
	firstPort = 20_000
	blockSize = 128
	blocks    = (32_768 - firstPort) / blockSize
)

var reserved ports

// ports are those of this process, in blocks: whoever listens on the first of a block has the others, so that test
// programs that run side by side do not take what another one has given up for a moment.
type ports struct {
	mu    sync.Mutex
	locks []net.Listener // on the first port of every block that is ours
	block int            // the first port of the newest
	next  int            // from 1 to blockSize-1
}

// FreeAddr is an address on the loopback (127.0.0.1) that nobody listens on, for a server that a test starts, stops and
// starts again, or for one that must not be there. The system gives its port to nobody, and no other program that uses
// FreeAddr takes it as long as this one lives; within this one it comes again after 126 others at the earliest. It fails
// where no port from 20000 to 32767 can be listened on. It is safe to call from anywhere.
func FreeAddr() (string, error) {
	l, err := reserved.listen()
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// listen listens on the next port of ours that nobody listens on.
func (p *ports) listen() (net.Listener, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		if l := p.unused(); l != nil {
			return l, nil
		}
		if !p.take() {
			return nil, errors.New("zkmem: no port from 20000 to 32767 of 127.0.0.1 can be listened on")
		}
	}
}

// unused is a listener on the next port of the newest block that has one, or nil.
func (p *ports) unused() net.Listener {
	if p.block == 0 {
		return nil
	}
	for range blockSize - 1 {
		p.next = p.next%(blockSize-1) + 1
		if l, err := listen(p.block + p.next); err == nil {
			return l
		}
	}
	return nil
}

// take makes a block ours that nobody has.
func (p *ports) take() bool {
	for _, i := range rand.Perm(blocks) {
		first := firstPort + i*blockSize
		if l, err := listen(first); err == nil {
			p.locks, p.block, p.next = append(p.locks, l), first, 0
			return true
		}
	}
	return false
}

// relisten listens again where a listener was closed. For a moment that may be
// refused: a program that this process is starting has a copy of the listener until
// it runs.
func relisten(addr net.Addr) (net.Listener, error) {
	for tries := 100; ; tries-- {
		l, err := net.Listen(addr.Network(), addr.String())
		if tries == 0 || !errors.Is(err, syscall.EADDRINUSE) {
			return l, err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func listen(port int) (net.Listener, error) {
	return net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
}
