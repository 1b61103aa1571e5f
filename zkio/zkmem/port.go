//go:build !js

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

// The ports that FreeAddr returns. They end where the ports begin that Linux assigns to listeners on port 0 and to
// outgoing connections, which is at 32768; on macOS and Windows those begin later.
const (
	firstPort = 20_000
	blockSize = 128
	blocks    = (32_768 - firstPort) / blockSize
)

var reserved ports

// ports are those of this process, in blocks. The process that listens on the first port of a block owns the others,
// so that test programs that run concurrently do not take a port that another has closed for a moment.
type ports struct {
	mu    sync.Mutex
	locks []net.Listener // on the first port of every block that is ours
	block int            // the first port of the newest
	next  int            // from 1 to blockSize-1
}

// FreeAddr returns an address on the loopback (127.0.0.1) on which nothing listens, for a server that a test starts,
// stops and starts again, or for one that must not exist. The system assigns its port to no other program, and no
// other program that uses FreeAddr takes it while this one lives; within this program it comes again after 126 others
// at the earliest. FreeAddr fails if no port from 20000 to 32767 can be listened on. It is safe to call from
// anywhere.
func FreeAddr() (string, error) {
	l, err := reserved.listen()
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// listen listens on the next own port on which nothing listens.
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

// unused returns a listener on the next free port of the newest block, or nil.
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

// take takes a block that no process has.
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

// relisten listens again where a listener was closed. For a moment that may be refused: a program that this process
// is starting has a copy of the listener until it runs.
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
