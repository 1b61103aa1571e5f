package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/instances"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

func TestMain(m *testing.M) { instances.Main(m, main) }

const line = "/services/web"

// client has a bound on each answer, so that nothing hangs.
var client = &http.Client{Timeout: time.Minute, Transport: &http.Transport{
	DisableKeepAlives: true, ExpectContinueTimeout: time.Minute,
}}

// order sends five bytes, and returns the token of the answer.
func order(addr string, body io.Reader) (token int64, err error) {
	req, err := http.NewRequest(http.MethodPost, "http://"+addr+"/orders", body)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Expect", "100-continue") // the body is read when the handler asks for it
	resp, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = fmt.Fscanf(resp.Body, "5 bytes, token %d", &token)
	return token, err
}

// ordered sends an order, and wants an answer with a token above the last one.
func ordered(t *testing.T, addr string, last int64) (token int64) {
	t.Helper()
	token, err := order(addr, strings.NewReader("bread"))
	if err != nil || token <= last {
		t.Fatalf("the answer has the token %d after %d: %v", token, last, err)
	}
	return token
}

// Only the leader listens. When it is killed, the next in line does, under a higher token.
func TestOnlyTheLeaderServes(t *testing.T) {
	srv := zkmem.Start(t)
	a := instances.Start(t, srv.Addr(), "127.0.0.1:0")
	addr := a.Says(t, "serving on ")
	b := instances.Start(t, srv.Addr(), "127.0.0.1:0")
	instances.InLine(t, srv, line, 2)
	first := ordered(t, addr, 0)
	if said := strings.Join(b.Lines(), "\n"); strings.Contains(said, "serving on ") {
		t.Errorf("the standby says %s", said)
	}
	a.Kill()
	if conn, err := net.Dial("tcp", addr); err == nil {
		t.Errorf("the dead leader listens: %v", conn.Close())
	}
	instances.ExpireFirst(t, srv, line)
	ordered(t, b.Says(t, "serving on "), first)
	b.Stop(t)
	instances.InLine(t, srv, line, 0)
}

// The context of a request that is under way ends with the term. If it goes on, it is answered before the next term.
func TestRequestsEndWithTheTerm(t *testing.T) {
	srv := zkmem.Start(t)
	a := instances.Start(t, srv.Addr(), "127.0.0.1:0")
	addr := a.Says(t, "serving on ")
	body, rest := io.Pipe()
	answered := make(chan error, 1)
	go func() {
		_, err := order(addr, body)
		answered <- err
	}()
	if _, err := io.WriteString(rest, "bre"); err != nil { // returns when its handler has begun
		t.Fatal(err)
	}
	resp, err := client.Get("http://" + addr + "/orders/new")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	instances.ExpireFirst(t, srv, line)
	if all, err := io.ReadAll(resp.Body); err != nil || string(all) != "ask the next leader\n" {
		t.Errorf("the answer ends with %q, %v", all, err)
	}
	for conn, err := net.Dial("tcp", addr); err == nil; conn, err = net.Dial("tcp", addr) {
		_ = conn.Close() // it listens still
	}
	_, err = io.WriteString(rest, "ad")
	if err := errors.Join(err, rest.Close(), <-answered); err != nil {
		t.Errorf("the request that goes on: %v", err)
	}
	ordered(t, a.SaysTimes(t, "serving on ", 2), 0)
	a.Stop(t)
}

// SIGTERM to the leader hands over at once: no session has to expire.
func TestAPlannedHandOver(t *testing.T) {
	srv := zkmem.Start(t)
	a := instances.Start(t, srv.Addr(), "127.0.0.1:0")
	a.Says(t, "serving on ")
	b := instances.Start(t, srv.Addr(), "127.0.0.1:0")
	instances.InLine(t, srv, line, 2)
	a.Stop(t)
	ordered(t, b.Says(t, "serving on "), 0)
	b.Stop(t)
}
