package program

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// piped is a listener in memory.
type piped struct {
	conns chan net.Conn
	over  chan struct{}
}

func (p *piped) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.over:
		return nil, net.ErrClosed
	}
}

func (p *piped) Close() error   { close(p.over); return nil }
func (p *piped) Addr() net.Addr { return &net.TCPAddr{} }

func (p *piped) dial() net.Conn {
	own, other := net.Pipe()
	p.conns <- other
	return own
}

// Clients that send a byte now and then hold every connection of a server. A probe is answered at once all the time,
// and none of them keeps its connection for longer than the 5 s in which a header has to come.
func TestTricklersKeepNoProbeOut(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		const most, pace = 8, 100 * time.Millisecond
		l := &piped{make(chan net.Conn), make(chan struct{})}
		stop := serve(atMost(most, 0, l),
			http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }), maxWait)
		defer stop()
		ended := make(chan time.Duration, most)
		for range most {
			conn, began := l.dial(), time.Now()
			go func() {
				_, err := io.WriteString(conn, "GET /livez HTTP/1.1\r\nX: ")
				for err == nil {
					virtual.Sleep(pace)
					_, err = conn.Write([]byte("x"))
				}
				ended <- time.Since(began)
			}()
		}
		for range 20 {
			virtual.Sleep(200 * time.Millisecond)
			began, conn := time.Now(), l.dial()
			if _, err := io.WriteString(conn,
				"GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			if _, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil || time.Since(began) > 0 {
				t.Fatalf("a probe got %v after %v", err, time.Since(began))
			}
			_ = conn.Close()
		}
		for range most {
			if held := <-ended; held > 5*time.Second+2*pace {
				t.Errorf("a connection was held for %v", held)
			}
		}
	})
}

// A write that nobody reads fails after the time that was given, and each write has that time.
func TestAWriteHasADeadline(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		l := &piped{make(chan net.Conn, 1), make(chan struct{})}
		own := l.dial()
		defer func() { _ = own.Close() }()
		conn, err := atMost(1, maxWait, l).Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		for range 2 {
			read := make(chan error, 1)
			go func() {
				_, err := io.ReadFull(own, make([]byte, 2))
				read <- err
			}()
			virtual.Sleep(maxWait - time.Second)
			if _, err := conn.Write([]byte("ok")); err != nil || <-read != nil {
				t.Fatal(err)
			}
		}
		began := time.Now()
		if _, err := conn.Write([]byte("x")); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != maxWait {
			t.Errorf("%v after %v, want the deadline after %v", err, time.Since(began), maxWait)
		}
	})
}

// zk ends with 69 when it can no longer be reached, and with 0 when it is interrupted.
func TestZkEndsWithItsListener(t *testing.T) {
	srv := zkmem.New(zkmem.Options{})
	defer srv.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	_ = l.Close()
	var coded *cli.ExitError
	servers := zkServers{all: []*zkmem.Server{zkmem.New(zkmem.Options{}), srv}}
	defer servers.all[0].Close()
	err = whileListening(context.Background(), servers)
	if !errors.As(err, &coded) || coded.Code != exitUnavailable || !errors.Is(err, net.ErrClosed) {
		t.Errorf("%v, want exit code %d", err, exitUnavailable)
	}
	if err := <-served; !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := whileListening(ctx, servers); err != nil {
		t.Error(err)
	}
}
