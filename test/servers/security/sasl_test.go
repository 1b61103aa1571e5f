package security

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
)

// saslUsers have passwords that ISO 8859-1 has, and has not.
var saslUsers = map[string]string{"bob": "bob-Zw1ebel", "jörg": "größer-Zw1ebel",
	"山田": "パスワード🔑-Zw1ebel"}

func loggedInAs(user string) func(*incumbent.Config) {
	return func(c *incumbent.Config) { c.SASL = incumbent.DigestMD5(user, saslUsers[user]) }
}

// Users log in to a real server that demands it, in the clear and over TLS.
func TestUsersLogInToARealServer(t *testing.T) {
	realzk.Each(t, func(t *testing.T, release realzk.Release) {
		demanding := append(realzk.SASL(t, saslUsers), realzk.RequireSASL)
		t.Run("plain", func(t *testing.T) {
			s := realzk.Start(t, realzk.Options{Release: release, Tick: 200 * time.Millisecond, Properties: demanding})
			usersLogIn(t, place{addr: s.Addr(), root: "/sasl", tick: 200 * time.Millisecond, timeout: 4 * time.Second},
				func(*incumbent.Config) {}, nil)
		})
		t.Run("TLS", func(t *testing.T) {
			s := startSecuredFor(t, release, host, demanding...)
			over := s.settings(host, incumbent.TLS{CA: s.ours.file(), Cert: s.cert, Key: s.key})
			own := []incumbent.ACL{{Perms: incumbent.PermAll, Scheme: "sasl", ID: "jörg"}} // all have one certificate
			usersLogIn(t, place{addr: s.tls, root: "/sasl"}, over, own)
		})
	})
}

func usersLogIn(t *testing.T, p place, settings func(*incumbent.Config), acl []incumbent.ACL) {
	cut := &cutter{}
	states := make(chan incumbent.ConnectionState, 16)
	c := open(t, p, settings, loggedInAs("jörg"), cut.dialled, func(c *incumbent.Config) {
		c.RideOut, c.ACL = true, acl
	})
	c.OnConnection(func(s incumbent.ConnectionState) { states <- s })
	ok(t, c.WaitConnected(c.ctx))
	held := c.lead(c.latch(p.line()))
	defer held.Release()
	cut.now()
	for s := range states {
		if s == incumbent.Reconnected {
			break
		}
	}
	if err := held.Check(); err != nil {
		t.Errorf("a cut has ended the term: %v", err)
	}
	sessions := map[int64]int{}
	for _, r := range c.tape.Records() {
		if r.Event.Kind == events.ConnectionAttached {
			sessions[r.Event.SessionID]++
		}
	}
	if len(sessions) != 1 {
		t.Errorf("its connections were of the sessions %v, want one", sessions)
	}

	bob := connected(t, p, settings, loggedInAs("bob"))
	_, err := bob.Get(p.line()).Do(bob.ctx)
	is(t, err, incumbent.ErrNoAuth)
	own := connected(t, p, settings, loggedInAs("山田"), func(c *incumbent.Config) {
		c.ACL = []incumbent.ACL{{Perms: incumbent.PermAll, Scheme: "sasl", ID: "bob"}}
	})
	_, err = own.Create("/for-bob", nil).Do(own.ctx)
	ok(t, err)
	_, err = own.Get("/for-bob").Do(own.ctx)
	is(t, err, incumbent.ErrNoAuth)
	_, err = bob.Get("/for-bob").Do(bob.ctx)
	ok(t, err)

	wrong := open(t, p, settings, func(c *incumbent.Config) { c.SASL = incumbent.DigestMD5("bob", "wrong-Zw1ebel") })
	refused := wrong.WaitConnected(wrong.ctx)
	is(t, refused, incumbent.ErrAuthFailed)
	const want = "the SASL login by DIGEST-MD5 (bob) was refused by the server (SESSIONCLOSEDREQUIRESASLAUTH)"
	if !strings.Contains(refused.Error(), want) {
		t.Errorf("%v, want %q", refused, want)
	}
	none := open(t, p, settings)
	_, err = none.Get("/").Do(none.ctx)
	var coded *incumbent.Error
	if !errors.As(err, &coded) || coded.Code != events.RequiresSASL ||
		!strings.Contains(err.Error(), "set Config.SASL") {
		t.Errorf("without a login: %v", err)
	}
	for who, c := range map[string]*client{"jörg": c, "bob": bob, "山田": own, "wrong": wrong} {
		written := c.log.String() + string(c.tape.Bytes()) + refused.Error()
		search(t, "what is written of "+who, written, []byte(saslUsers["jörg"]), []byte(saslUsers["bob"]),
			[]byte(saslUsers["山田"]), []byte("wrong-Zw1ebel"))
		for _, token := range []string{"nonce", "rspauth", "md5-sess"} {
			if strings.Contains(written, token) {
				t.Errorf("what is written of %s has a token: %q", who, token)
			}
		}
	}
}

// cutter ends a client's newest connection.
type cutter struct {
	mu   sync.Mutex
	conn net.Conn
}

func (k *cutter) dialled(c *incumbent.Config) {
	dial := c.Dial
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	c.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		k.mu.Lock()
		defer k.mu.Unlock()
		k.conn = conn
		return conn, err
	}
}

func (k *cutter) now() {
	k.mu.Lock()
	defer k.mu.Unlock()
	_ = k.conn.Close()
}
