package program

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

func loopback(t *testing.T, connections int) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return atMost(connections, 0, l)
}

func ask(t *testing.T, l net.Listener) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err == nil {
		_, err = conn.Write([]byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// A client that asks and does not read does not keep its connection, nor the goroutine that answers.
func TestASlowReaderIsCutOff(t *testing.T) {
	ended := make(chan error, 1)
	l := loopback(t, 1)
	stop := serve(l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		text := strings.Repeat("x", 1<<20)
		for {
			if _, err := w.Write([]byte(text)); err != nil {
				ended <- err
				return
			}
		}
	}), 100*time.Millisecond)
	defer stop()
	ask(t, l)
	if err := <-ended; err == nil {
		t.Error("no error")
	}
}

// A client that holds all connections keeps nobody out: for one more, the one that has been idle longest is closed.
func TestTheLongestIdleConnectionIsClosed(t *testing.T) {
	l := loopback(t, 2)
	stop := serve(l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) }),
		time.Minute)
	defer stop()
	answered := func(conn net.Conn) error {
		_, err := http.ReadResponse(bufio.NewReader(conn), nil)
		return err
	}
	first, second := ask(t, l), net.Conn(nil)
	if err := answered(first); err != nil {
		t.Fatal(err)
	}
	second = ask(t, l)
	if err := answered(second); err != nil {
		t.Fatal(err)
	}
	if _, err := first.Write([]byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")); err != nil ||
		answered(first) != nil {
		t.Fatal("the first one is not answered again", err)
	}
	if err := answered(ask(t, l)); err != nil {
		t.Errorf("a third connection, of two: %v", err)
	}
	if n, err := second.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the longest idle one goes on: %d bytes, %v", n, err)
	}
	if _, err := first.Write([]byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")); err != nil ||
		answered(first) != nil {
		t.Error("the other one was closed", err)
	}
}

// A host is not a matter of chance: without one, an address is on the loopback.
func TestAnAddressWithoutAHostIsOnTheLoopback(t *testing.T) {
	for given, want := range map[string]string{":4040": "127.0.0.1:4040", "0.0.0.0:4040": "0.0.0.0:4040",
		"[::1]:1": "[::1]:1", "x": "x"} {
		if got := onLoopback(given); got != want {
			t.Errorf("%s: %s, want %s", given, got, want)
		}
	}
}
