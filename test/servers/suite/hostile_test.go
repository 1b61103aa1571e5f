package suite

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// unreachable opens a client that fails to connect, waits for the words about
// it in the log, and returns what WaitConnected says of it then.
func unreachable(t *testing.T, config incumbent.Config, words ...string) error {
	t.Helper()
	c := open(t, place(config.Servers), func(c *incumbent.Config) {
		config.Record, config.ConnectRetry = c.Record, incumbent.RetryForever(0)
		config.SessionTimeout, config.Tick = 2*time.Second, time.Second // what is silent is given up after a third
		*c = config
	})
	c.tape.Until("words about "+strings.Join(words, " and "), func(records []events.Record) bool {
		for _, r := range records {
			all := true
			for _, w := range words {
				all = all && strings.Contains(r.Event.Text, w)
			}
			if all && (r.Event.Kind == events.ConnectionRefused || r.Event.Kind == events.ConnectionLost) {
				return true
			}
		}
		return false
	})
	err := c.WaitConnected(brief())
	if !errors.Is(err, incumbent.ErrAuthFailed) { // which does not wait for the context
		is(t, err, context.Canceled)
	}
	for _, w := range append(words, config.Servers) {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("the error does not say %q: %v", w, err)
		}
	}
	ok(t, c.Close(c.ctx)) // there was no session to end
	return err
}

// nowhere is an ensemble of which there is only the address; sessions are short.
type nowhere struct{ memory }

func place(servers string) ensemble { return elsewhere{nowhere{}, servers} }

type elsewhere struct {
	nowhere
	address string
}

func (e elsewhere) servers() string { return e.address }

// served returns the address of a server that does this with each connection.
func served(t testing.TB, serve func(net.Conn)) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	ok(t, err)
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			all.Go(func() { serve(conn); _ = conn.Close() })
		}
	})
	t.Cleanup(func() { _ = listener.Close(); all.Wait() })
	return listener.Addr().String()
}

func TestAServerThatAcceptsAndSaysNothing(t *testing.T) {
	addr := served(t, func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) })
	unreachable(t, incumbent.Config{Servers: addr}, addr, "silent")
}

func TestEveryHostNameWrong(t *testing.T) {
	err := unreachable(t, incumbent.Config{Servers: "zk1.invalid:2181"}, "zk1.invalid")
	if !strings.Contains(err.Error(), "no such host") && !strings.Contains(err.Error(), "resolving") {
		t.Fatal(err)
	}
}

func TestAServerThatRefusesEveryConnection(t *testing.T) {
	addr, err := zkmem.FreeAddr()
	ok(t, err)
	unreachable(t, incumbent.Config{Servers: addr}, addr, "refused")
}

func TestAServerThatIsReadOnly(t *testing.T) {
	e := inMemory(t, zkmem.Options{ReadOnly: true})
	unreachable(t, incumbent.Config{Servers: e.Addr()}, e.Addr(), "read-only")
}

func TestAServerOfAnotherProtocol(t *testing.T) {
	addr := served(t, func(conn net.Conn) {
		_, _ = io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\n\r\n\x1b[31m<b>")
	})
	unreachable(t, incumbent.Config{Servers: addr}, addr)
}

func TestCredentialsThatTheEnsembleRefuses(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		auth := incumbent.AuthOf("nosuchscheme", []byte("secret-word"))
		err := unreachable(t, incumbent.Config{Servers: e.servers(), Auth: []incumbent.Auth{auth}}, e.servers())
		is(t, err, incumbent.ErrAuthFailed)
		if strings.Contains(err.Error(), "secret-word") {
			t.Fatal("the error tells the secret")
		}
	})
}

func TestAWrongPasswordIsNoAuth(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		as := func(password string) func(*incumbent.Config) {
			return func(c *incumbent.Config) {
				auth, err := incumbent.ParseAuth("digest:ann:" + password)
				ok(t, err)
				c.Auth = []incumbent.Auth{auth}
			}
		}
		right := connected(t, e, as("right")).start(e.dir(), "leading")
		wrong := connected(t, e, as("wrong"))
		l := refused(t, wrong, e, incumbent.LatchOptions{}, incumbent.ErrNoAuth)
		_, err := wrong.Line(wrong.ctx, e.dir())
		is(t, err, incumbent.ErrNoAuth)
		ok(t, l.Close(wrong.ctx))
		right.close()
		// The real server's directory is this user's own: it goes with its user.
		ok(t, cleaned(right, e))
		log := right.c.log() + wrong.log()
		for _, secret := range []string{"right", "wrong"} {
			if strings.Contains(log, secret) {
				t.Errorf("the log holds the password %q", secret)
			}
		}
	})
}

// cleaned deletes a directory that only its owner may empty.
func cleaned(l latch, e ensemble) error {
	again := l.c.start(e.dir(), "leading")
	held := again.lead()
	_, err := held.Write(l.c.ctx, incumbent.DeleteNode(held.Term().Path, incumbent.AnyVersion),
		incumbent.DeleteNode(e.dir(), incumbent.AnyVersion))
	held.Release()
	if err != nil {
		return err
	}
	return again.Close(l.c.ctx)
}

func TestAChrootThatDoesNotExist(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		c := connected(t, elsewhere{nowhere{memory{t: t}}, e.servers() + "/no/such/place"}, func(c *incumbent.Config) {
			c.SessionTimeout, c.Tick = e.timeout(), e.tick()
		})
		l := c.newLatch("/line", incumbent.LatchOptions{})
		ok(t, l.Start())
		_, err := l.Await(c.ctx)
		var refused *incumbent.Error
		if !errors.As(err, &refused) || refused.Code != events.NoNode {
			t.Fatal(err)
		}
		if !strings.Contains(err.Error(), "/no/such/place/line") ||
			!strings.Contains(err.Error(), "the chroot /no/such/place has to exist") || l.Err() == nil ||
			l.Err().Error() != err.Error() {
			t.Fatalf("Await says %v, Err says %v", err, l.Err())
		}
		if line, err := c.Line(c.ctx, "/line"); err != nil || len(line.Participants) != 0 {
			t.Fatal(line, err)
		}
	})
}

func TestAChrootIsInvisible(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		plain := connected(t, e).start(e.dir(), "leading")
		chroot, name := e.dir()[:strings.LastIndex(e.dir(), "/")], e.dir()[strings.LastIndex(e.dir(), "/"):]
		inside := connected(t, elsewhere{nowhere{memory{t: t}}, e.servers() + chroot}, func(c *incumbent.Config) {
			c.SessionTimeout, c.Tick = e.timeout(), e.tick()
		}).start(name, "waiting")
		plain.close()
		held := inside.lead()
		defer held.Release()
		if !strings.HasPrefix(held.Term().Path, name+"/_c_") {
			t.Fatal(held.Term().Path)
		}
	})
}
