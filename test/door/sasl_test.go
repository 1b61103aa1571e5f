package door_test

import (
	"context"
	"errors"
	"maps"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// demandsLogin are the options of a server that serves only users who have logged in.
var demandsLogin = zkmem.Options{EnforceAuth: []string{"sasl"},
	SASLUsers: map[string]string{"bob": "bobsecret", "Jürgen": "größer🔑"}}

func as(user, password string) func(*incumbent.Config) {
	return func(c *incumbent.Config) { c.SASL = incumbent.DigestMD5(user, password) }
}

// A client that logs in leads, and its nodes are its own: another user may not touch them. After a cut it logs in
// again, in the same session and term. Nothing of a login is in its log or its recording.
func TestAClientLogsIn(t *testing.T) {
	bubble(t, demandsLogin, func(t *testing.T, w *world) {
		log, config := logged()
		n := w.start(config, as("Jürgen", "größer🔑"), func(c *incumbent.Config) { c.RideOut = true })
		term := must(n.latch.Await(t.Context()))
		defer term.Release()
		session := n.session()
		n.cut()
		pass(time.Second)
		if term.Context().Err() != nil || n.session() != session {
			t.Error("a cut has ended the session or the term")
		}
		if logins := w.srv.Counts().ByOp[zkmem.OpSASL]; logins != 4 {
			t.Errorf("%d tokens, want 4: two for each connection", logins)
		}
		acl, _, err := w.srv.Snapshot().ACL("/line")
		if err != nil || !slices.Equal(acl, []zkmem.ACL{{Perms: zkmem.PermAll, Scheme: "sasl", ID: "Jürgen"}}) {
			t.Errorf("the access list of the directory is %v, %v", acl, err)
		}
		other := w.open(as("bob", "bobsecret"))
		if _, err := other.Get("/line").Do(t.Context()); !errors.Is(err, incumbent.ErrNoAuth) {
			t.Errorf("another user reads it: %v", err)
		}
		written := log.String() + n.tape.Tail(1000)
		for _, secret := range []string{"größer", "gr\xf6\xdfer", "bobsecret", "rspauth", "nonce", "response="} {
			if strings.Contains(written, secret) {
				t.Errorf("%q is written", secret)
			}
		}
		if !strings.Contains(written, "set Config.TLS") {
			t.Error("no warning says that the connection is not protected")
		}
	})
}

// A login that is refused is ErrAuthFailed with the reason. Without a login, the error says that one is missing.
func TestALoginIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		options zkmem.Options
		login   incumbent.Mechanism
		want    string
	}{
		"a wrong password": {demandsLogin, incumbent.DigestMD5("bob", "hunter2"),
			"192.0.2.1:2181: the SASL login by DIGEST-MD5 (bob) was refused by the server " +
				"(SESSIONCLOSEDREQUIRESASLAUTH)"},
		"not demanded": {zkmem.Options{SASLUsers: demandsLogin.SASLUsers}, incumbent.DigestMD5("carol", "hunter2"),
			"was refused by the server (AUTHFAILED)"},
		"a server without a login": {zkmem.Options{}, incumbent.DigestMD5("bob", "hunter2"),
			"failed: the server has no SASL login"},
		"a KDC":       {demandsLogin, failing{incumbent.SASLTransient(errors.New("the KDC is silent"))}, ""},
		"a mechanism": {demandsLogin, failing{errors.New("no ticket")}, "SASL login by FAILING failed: no ticket"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, c.options, func(t *testing.T, w *world) {
				client, err := incumbent.Open(t.Context(),
					incumbent.Config{Servers: "192.0.2.1:2181", Silent: true, SASL: c.login,
						Dial: dialing(w)})
				fails(t, err)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				err = client.WaitConnected(ctx)
				refused := c.want != ""
				if err == nil || errors.Is(err, incumbent.ErrAuthFailed) != refused ||
					!strings.Contains(err.Error(), c.want) ||
					strings.Contains(err.Error(), "hunter2") {
					t.Errorf("%v, want %q", err, c.want)
				}
				if ctx.Err() != nil == refused {
					t.Errorf("it waited to the end: %t", !refused)
				}
				if !refused && !strings.Contains(err.Error(), "failed, and is tried again: the KDC is silent") {
					t.Errorf("it does not say why: %v", err)
				}
				fails(t, client.Close(t.Context()))
			})
		})
	}
}

// Nothing protects what follows a login by any mechanism: without TLS, a warning says so, and what it is of DIGEST-MD5.
func TestALoginWithoutTLSIsWarnedOf(t *testing.T) {
	type another struct{ incumbent.Mechanism }
	digest := incumbent.DigestMD5("bob", "bobsecret")
	for want, login := range map[string]incumbent.Mechanism{
		"nothing protects what follows the login by SASL: set Config.TLS": another{digest},
		"the login by DIGEST-MD5 can be read, so its password can be guessed at, " +
			"and nothing protects what follows: set Config.TLS": digest,
	} {
		bubble(t, demandsLogin, func(t *testing.T, w *world) {
			log, config := logged()
			w.open(config, func(c *incumbent.Config) { c.SASL = login })
			pass(time.Second)
			if strings.Count(log.String(), want) != 1 || strings.Count(log.String(), "nothing protects") != 1 {
				t.Errorf("want one warning, %q:\n%s", want, log.String())
			}
		})
	}
	bubble(t, demandsLogin, func(t *testing.T, w *world) {
		log, logTo := logged()
		config := incumbent.Config{Servers: "192.0.2.1:2181", SASL: digest, TLS: &incumbent.TLS{}, Dial: dialing(w)}
		logTo(&config)
		c, err := incumbent.Open(t.Context(), config)
		fails(t, err)
		pass(time.Second)
		if strings.Contains(log.String(), "nothing protects") {
			t.Errorf("a warning in spite of TLS:\n%s", log.String())
		}
		fails(t, c.Close(t.Context()))
	})
}

// dialing returns a way to the server for a client that is not one of the world's.
func dialing(w *world) func(context.Context, string, string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) { return w.dialSlow(0), nil }
}

// failing is a mechanism that cannot begin.
type failing struct{ err error }

func (failing) Name() string { return "FAILING" }

func (f failing) Start(context.Context, incumbent.SASLServer) (incumbent.SASLExchange, []byte, error) {
	return nil, nil, f.err
}

// A client that does not log in where that is demanded gets an error with the setting.
func TestALoginIsMissing(t *testing.T) {
	bubble(t, demandsLogin, func(t *testing.T, w *world) {
		client, err := incumbent.Open(t.Context(),
			incumbent.Config{Servers: "192.0.2.1:2181", Silent: true, Dial: dialing(w)})
		fails(t, err)
		_, err = client.Get("/").Do(t.Context())
		var refused *incumbent.Error
		if !errors.As(err, &refused) || refused.Code != events.RequiresSASL ||
			!strings.Contains(err.Error(), "set Config.SASL") {
			t.Errorf("%v", err)
		}
		_ = client.Close(t.Context()) // the server answers nothing else
	})
}

// Once it is logged in, a client sends what it sends without a login.
func TestALoginCostsNothingLater(t *testing.T) {
	costs := func(o zkmem.Options, change ...func(*incumbent.Config)) (counts map[zkmem.OpCode]int) {
		bubble(t, o, func(t *testing.T, w *world) {
			n := w.start(change...)
			pass(10 * time.Minute)
			fails(t, n.latch.Close(t.Context()))
			synctest.Wait()
			counts = w.srv.Counts().ByOp
		})
		return counts
	}
	plain, loggedIn := costs(zkmem.Options{}), costs(demandsLogin, as("bob", "bobsecret"))
	if loggedIn[zkmem.OpSASL] != 2 {
		t.Errorf("%d tokens, want 2", loggedIn[zkmem.OpSASL])
	}
	delete(loggedIn, zkmem.OpSASL)
	if !maps.Equal(plain, loggedIn) {
		t.Errorf("with a login %v, without %v", loggedIn, plain)
	}
}

// A user that cannot be one is refused at once.
func TestDigestMD5Refuses(t *testing.T) {
	for want, m := range map[string]incumbent.Mechanism{"the name of a user": incumbent.DigestMD5("", "hunter2"),
		"in UTF-8": incumbent.DigestMD5("bob", "hunter2\xff")} {
		_, err := incumbent.Open(t.Context(), incumbent.Config{Servers: "h1", SASL: m})
		mustSay(t, err, "incumbent: Config.SASL: ", want)
		if strings.Contains(err.Error(), "hunter2") {
			t.Error(err)
		}
	}
}

// A leader whose new connections are refused keeps its session for one more timeout at most: then the next leads.
// Calls that wait for a connection get the refusal from then on, and not before, and the client leads again afterwards.
func TestRefusedLoginsOfALeader(t *testing.T) {
	bubble(t, demandsLogin, func(t *testing.T, w *world) {
		first := w.start(as("bob", "bobsecret"))
		held := must(first.latch.Await(t.Context()))
		second := w.start(as("bob", "bobsecret"))
		other := second.session()
		accept := w.srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
			if r.Op == zkmem.OpSASL && r.Session != other {
				return zkmem.Verdict{Action: zkmem.Refuse, Code: zkmem.SessionRequiresAuth}
			}
			return zkmem.Verdict{}
		})
		pass(3 * time.Second)            // the last frame comes some time before the cut
		const timeout = 15 * time.Second // the default
		began := time.Now()
		first.cut()
		err := first.WaitConnected(t.Context())
		if !errors.Is(err, incumbent.ErrAuthFailed) || time.Since(began) < timeout/2 {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		if strings.Count(err.Error(), "was refused by the server") != 1 {
			t.Errorf("the reason is there more than once: %v", err)
		}
		mustSay(t, held.Check(), "connection")
		held.Release()
		next := must(second.latch.Await(t.Context()))
		if took := time.Since(began); took > 2*timeout+5*time.Second {
			t.Errorf("nobody led for %s", took)
		}
		accept()
		next.Release()
		fails(t, second.latch.Close(t.Context()))
		must(first.latch.Await(t.Context())).Release()
	})
}

// A term rides refused logins out, if one succeeds before its deadline.
func TestATermOutlastsARefusedLogin(t *testing.T) {
	bubble(t, demandsLogin, func(t *testing.T, w *world) {
		n := w.start(as("bob", "bobsecret"), func(c *incumbent.Config) { c.RideOut = true })
		held := must(n.latch.Await(t.Context()))
		defer held.Release()
		session, refused := n.session(), 0
		w.srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
			if r.Op != zkmem.OpSASL || refused == 3 {
				return zkmem.Verdict{}
			}
			refused++
			return zkmem.Verdict{Action: zkmem.Refuse, Code: zkmem.SessionRequiresAuth}
		})
		n.cut()
		fails(t, n.WaitConnected(t.Context()))
		if err := held.Check(); err != nil || n.session() != session || refused != 3 {
			t.Errorf("%d logins were refused, %v", refused, err)
		}
	})
}
