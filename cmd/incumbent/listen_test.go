package main

import (
	"bufio"
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
	return atMost(connections, l)
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

// Connections are bounded, one more is answered when another has gone, and a listener that is full can be closed.
func TestConnectionsAreBounded(t *testing.T) {
	l, began, free := loopback(t, 2), make(chan bool, 3), make(chan bool)
	stop := serve(l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close")
		began <- true
		<-free
	}), time.Minute)
	first := ask(t, l)
	ask(t, l)
	<-began
	<-began
	third := ask(t, l)
	_ = third.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if _, err := bufio.NewReader(third).ReadByte(); err == nil || len(began) > 0 {
		t.Errorf("a third connection was accepted, of two: %v", err)
	}
	free <- true
	<-began
	_ = third.SetReadDeadline(time.Time{})
	close(free)
	if line, err := bufio.NewReader(third).ReadString('\n'); err != nil || !strings.Contains(line, "200") {
		t.Errorf("%q, %v", line, err)
	}
	_ = first.Close()
	stop()
}
