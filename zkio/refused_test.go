package zkio_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// demanding serves by TLS, and demands a certificate of "client.example" from its clients.
func demanding(t *testing.T, version uint16) (srv *zkmem.Server, good zkio.TLS) {
	t.Helper()
	cert, key := certificate(t, "zk.example")
	clientCert, clientKey := certificate(t, "client.example")
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	pem, err := os.ReadFile(clientCert)
	if err != nil {
		t.Fatal(err)
	}
	known := x509.NewCertPool()
	known.AppendCertsFromPEM(pem)
	srv = zkmem.Start(t)
	if err := srv.ListenTLS("127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{pair}, MinVersion: version, MaxVersion: version,
		ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: known,
	}); err != nil {
		t.Fatal(err)
	}
	return srv, zkio.TLS{CA: cert, Cert: clientCert, Key: clientKey, Config: &tls.Config{ServerName: "zk.example"}}
}

// The reason for which a server does not accept a client's certificate is an alert. By TLS 1.3 it comes after the
// client's handshake, with the first read. In each case it is in the error.
func TestAnAlertIsInTheError(t *testing.T) {
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		srv, good := demanding(t, version)
		foreign, none := good, good
		foreign.Cert, foreign.Key = certificate(t, "foreign.example")
		none.Cert, none.Key = "", ""
		for name, c := range map[string]struct {
			tls  zkio.TLS
			want string
		}{
			"none":    {none, "certificate required"},
			"foreign": {foreign, "certificate"},
		} {
			if version == tls.VersionTLS12 && name == "none" {
				c.want = "handshake failure"
			}
			t.Run(fmt.Sprint(tls.VersionName(version), " ", name), func(t *testing.T) {
				r := newRig(t, zkio.Config{Servers: []string{srv.TLSAddr()}, TLS: &c.tls})
				r.Execute(events.SessionMachine, events.Connect{Session: 1})
				refused := r.await(events.ConnectionRefused, events.ConnectionAttached)
				if !strings.Contains(refused.Text, "remote error: tls: ") || !strings.Contains(refused.Text, c.want) {
					t.Errorf("the alert is not in %q", refused.Text)
				}
			})
		}
		r := newRig(t, zkio.Config{Servers: []string{srv.TLSAddr()}, TLS: &good})
		r.Execute(events.SessionMachine, events.Connect{Session: 1})
		if e := r.await(events.ConnectionRefused, events.ConnectionAttached); e.Kind != events.ConnectionAttached {
			t.Fatalf("the right certificate: %q", e.Text)
		}
	}
}

// lateConn is a client's end of a connection on which the server has ended before the connect request is written.
type lateConn struct {
	net.Conn
	writes int
	ended  <-chan struct{}
	err    error
}

func (c *lateConn) Write(b []byte) (int, error) {
	if c.writes++; c.writes > 2 { // behind what the client says in the handshake of TLS 1.3
		<-c.ended
		return 0, &net.OpError{Op: "write", Net: "tcp", Err: os.NewSyscallError("write", c.err)}
	}
	return c.Conn.Write(b)
}

// A server refuses a certificate and closes the connection before the client has written its connect request, so that
// this write fails. The alert is there to be read, and is in the error.
func TestAnAlertBeforeTheConnectRequest(t *testing.T) {
	for _, failure := range []error{syscall.EPIPE, syscall.ECONNRESET} {
		t.Run(failure.Error(), func(t *testing.T) {
			cert, key := certificate(t, "zk.example")
			pair, err := tls.LoadX509KeyPair(cert, key)
			if err != nil {
				t.Fatal(err)
			}
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
				client, err := (&net.Dialer{}).DialContext(ctx, "tcp", l.Addr().String())
				if err != nil {
					return nil, err
				}
				server, err := l.Accept()
				if err != nil {
					return nil, err
				}
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					defer server.Close()
					_ = tls.Server(server,
						&tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAnyClientCert}).
						Handshake()
				}()
				return &lateConn{client, 0, ended, failure}, nil
			}
			r := newRig(t, zkio.Config{
				Servers: []string{"zk.example"}, Dial: dial, TLS: &zkio.TLS{CA: cert}, Backoff: time.Second,
			})
			r.Execute(events.SessionMachine, events.Connect{Session: 1})
			if refused := r.await(events.ConnectionRefused); !strings.Contains(refused.Text,
				"tls: certificate required") {
				t.Errorf("the alert is not in %q", refused.Text)
			}
		})
	}
}

// A server that serves too many connections closes further ones without a word, before or after it has read the connect
// request. The error has that among the reasons, however the client notices.
func TestTooManyConnectionsAreAmongTheReasons(t *testing.T) {
	for name, dial := range map[string]func(net.Conn) net.Conn{
		"after the connect request":  func(c net.Conn) net.Conn { return c },
		"before the connect request": func(c net.Conn) net.Conn { return &brokenPipe{c} },
	} {
		t.Run(name, func(t *testing.T) {
			srv := zkmem.Start(t, zkmem.Options{MaxConnections: 1})
			attachedRig(t, srv)
			r := newRig(t, zkio.Config{Servers: []string{srv.Addr()}, Backoff: time.Second,
				Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
					c, err := (&net.Dialer{}).DialContext(ctx, network, address)
					if err != nil {
						return nil, err
					}
					return dial(c), nil
				}})
			r.Execute(events.SessionMachine, events.Connect{Session: 1})
			refused := r.await(events.ConnectionRefused)
			for _, reason := range []string{"maxClientCnxns", "read-only", "lags behind", "expects TLS"} {
				if !strings.Contains(refused.Text, reason) {
					t.Errorf("%q is not in %q", reason, refused.Text)
				}
			}
		})
	}
}

// brokenPipe is a connection that the server has closed before the first write.
type brokenPipe struct{ net.Conn }

func (c *brokenPipe) Write([]byte) (int, error) {
	if _, err := io.Copy(io.Discard, c.Conn); err != nil && !errors.Is(err, syscall.ECONNRESET) {
		return 0, err
	}
	return 0, &net.OpError{Op: "write", Net: "tcp", Err: os.NewSyscallError("write", syscall.EPIPE)}
}

// The connect request has the byte that asks for no read-only server: servers warn of clients that leave it out.
func TestTheConnectRequestHasTheReadOnlyByte(t *testing.T) {
	frames := make(chan []byte, 1)
	r := unservedRig(t, zkio.Config{}, func(v badServer) {
		frame := make([]byte, 4+45)
		n, _ := io.ReadFull(v, frame)
		frames <- frame[:n]
		v.send(granted)
		_, _ = io.Copy(io.Discard, v)
	})
	r.Execute(events.SessionMachine, events.Connect{Session: 1})
	if e := r.await(events.ConnectionAttached, events.ConnectionRefused); e.Kind != events.ConnectionAttached {
		t.Fatalf("refused: %q", e.Text)
	}
	if frame := <-frames; len(frame) != 49 || frame[3] != 45 || frame[48] != 0 {
		t.Errorf("the connect request is % x", frame)
	}
}
