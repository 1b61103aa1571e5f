package zkio_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"unicode"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio"
)

// forged is what a hostile text has: a line of a log, and what a terminal executes.
const forged = "evil\n2026-11-26T00:00:00Z INF leading path=/jobs/nightly token=99 \x1b[2J\u202e\xff"

// clean fails if a text has what forged has, or is long.
func clean(t *testing.T, text string) {
	t.Helper()
	if len(text) > 4096 || strings.ContainsFunc(text, func(r rune) bool {
		return !unicode.IsPrint(r) || r == unicode.ReplacementChar
	}) {
		t.Errorf("%d bytes: %.300q", len(text), text)
	}
}

// TestNamesOfAnUnverifiedCertificateAreCut connects to a server whose certificate has 3,000 names.
func TestNamesOfAnUnverifiedCertificateAreCut(t *testing.T) {
	names := []string{strings.ReplaceAll(forged, "\u202e\xff", "")} // a name is ASCII
	for i := range 3000 {
		names = append(names, fmt.Sprintf("host%d.%s.example", i, strings.Repeat("x", 40)))
	}
	pair, err := tls.LoadX509KeyPair(certificate(t, names...))
	if err != nil {
		t.Fatal(err)
	}
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_ = conn.(*tls.Conn).HandshakeContext(context.Background())
			_ = conn.Close()
		}
	}()
	r := newRig(t, zkio.Config{Servers: []string{l.Addr().String()}, TLS: &zkio.TLS{}})
	r.Execute(events.SessionMachine, events.Connect{Session: 1})
	text := r.await(events.ConnectionRefused).Text
	clean(t, text)
	if !strings.Contains(text, "the certificate is for ") || !strings.Contains(text, "more, not for 127.0.0.1") {
		t.Errorf("%q", text)
	}
}

// TestErrorsOfTheNetworkAreCut has a dialler whose errors have foreign text, as a resolver's may.
func TestErrorsOfTheNetworkAreCut(t *testing.T) {
	r := newRig(t, zkio.Config{Servers: []string{"zk1"}, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New(strings.Repeat(forged, 1000))
	}})
	r.Execute(events.SessionMachine, events.Connect{Session: 1})
	clean(t, r.await(events.ConnectionRefused).Text)
}

// TestNoConnectStringShowsAPassword tries connect strings of other programs' configurations.
func TestNoConnectStringShowsAPassword(t *testing.T) {
	for _, servers := range []string{
		"zk://bob:hunter2@zk1:2181,zk2:2181/mesos", "bob:hunter2@zk1:2181", "bob:hunter2@zk1", "zk1,bob:hunter2@zk2",
		"zk://hunter2@zk1",
		"bob:hunter2@zk1:2181/app//x", "zk://bob:hunter2@zk1,zk2", "zookeeper://bob:hunter2@zk1", "bob:hunter2 @zk1",
		"bob:x/hunter2@zk1",
		"bob:hunter2,x@zk1:2181", "bob:hunter2@[::1]:2181", "hunter2@zk1:99999", "bob:hunter2@",
		"zk1:2181,bob:a@hunter2@zk1",
	} {
		_, _, err := zkio.ParseServers(servers)
		if err == nil {
			t.Errorf("%s is taken", servers)
			continue
		}
		clean(t, err.Error())
		if strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "bob") {
			t.Errorf("%q: %v", servers, err)
		}
	}
	for _, servers := range []string{forged, strings.Repeat("x,", 10_000) + "/", "zk1/" + strings.Repeat("x\n", 10_000),
		"zk://" + strings.Repeat("x", 1<<20)} {
		if _, _, err := zkio.ParseServers(servers); err != nil {
			clean(t, err.Error())
		}
	}
	if _, chroot, err := zkio.ParseServers("zk1:2181/app@prod"); err != nil || chroot != "/app@prod" {
		t.Errorf("%q, %v", chroot, err)
	}
}
