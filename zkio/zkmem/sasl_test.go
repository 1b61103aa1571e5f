package zkmem

import (
	"context"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/internal/digestmd5"
)

// logIn logs in, and returns the code that ended it: OK if the server proved that it knows the password, too.
func (c *rawClient) logIn(user, password string) Code {
	c.t.Helper()
	login := digestmd5.NewClient(user, password).Begin()
	token := []byte{}
	for {
		code, d, err := c.ask(OpSASL, func(e *encoder) { e.bytes(token) })
		switch {
		case err != nil:
			c.t.Fatal(err)
		case code != OK:
			if d.bytes() != nil || d.bad || c.zxid != 0 {
				c.t.Error("a refusal has a token that is not null, or a zxid")
			}
			return code
		}
		var done bool
		if token, done, err = login.Next(context.Background(), d.bytes()); err != nil {
			c.t.Fatal(err)
		}
		if done {
			return OK
		}
	}
}

// A login that an interceptor refuses is answered with the zxid 0, as all logins are.
func TestARefusedLoginHasNoZxid(t *testing.T) {
	s := Start(t, Options{SASLUsers: map[string]string{"bob": "bobsecret"}})
	s.Intercept(func(r Request) Verdict {
		if r.Op == OpSASL {
			return Verdict{Action: Refuse, Code: SessionRequiresAuth}
		}
		return Verdict{}
	})
	if code := newSession(t, s, time.Minute).logIn("bob", "bobsecret"); code != SessionRequiresAuth {
		t.Error(code)
	}
}

// A user who logs in has an identity, alone and at a member of an ensemble. Another user's nodes are closed to it.
func TestAUserLogsIn(t *testing.T) {
	users := Options{SASLUsers: map[string]string{"bob": "bobsecret", "Jürgen": "größer"}}
	enforced := users
	enforced.EnforceAuth = []string{"sasl"}
	for name, s := range map[string]*Server{"alone": Start(t, users), "enforced": Start(t, enforced),
		"follower": StartEnsemble(t, 3, enforced).Followers()[0]} {
		t.Run(name, func(t *testing.T) {
			refusal := map[bool]Code{false: AuthFailed, true: SessionRequiresAuth}[name != "alone"]
			for user, password := range map[string]string{"bob": "wrong", "carol": "bobsecret"} {
				c := newSession(t, s, time.Minute)
				if code := c.logIn(user, password); code != refusal {
					t.Errorf("%s: %v, want %v", user, code, refusal)
				}
				c.gone()
			}
			bob, other := newSession(t, s, time.Minute), newSession(t, s, time.Minute)
			if code := bob.logIn("bob", "bobsecret"); code != OK {
				t.Fatal(code)
			}
			if code := other.logIn("Jürgen", "größer"); code != OK {
				t.Fatal(code)
			}
			bob.hears(OK, OpCreate, private("/bobs", "auth", ""))
			other.hears(NoAuth, OpGetData, read("/bobs", false))
			other.hears(NoAuth, OpDelete, func(e *encoder) { e.text("/bobs/none"); e.int32(-1) })
			bob.hears(OK, OpGetData, read("/bobs", false))
			other.hears(OK, OpCreate, private("/shared", "sasl", "bob"))
			bob.hears(OK, OpGetData, read("/shared", false))
			shown := bob.hears(OK, OpGetACL, func(e *encoder) { e.text("/bobs") }).acls()
			if !slices.Equal(shown, []ACL{{PermAll, "sasl", "bob"}}) {
				t.Errorf("the node of its creator has %v", shown)
			}
		})
	}
}

// private is a request for a node with one entry in its access list.
func private(path, scheme, id string) func(*encoder) {
	return func(e *encoder) {
		e.text(path)
		e.bytes(nil)
		e.acls([]ACL{{PermAll, scheme, id}})
		e.int32(0)
	}
}

// A server without users does not know the scheme, one that only demands a login does.
func TestTheSchemeSASLIsKnownWithALogin(t *testing.T) {
	newSession(t, Start(t), time.Minute).hears(InvalidACL, OpCreate, private("/a", "sasl", "bob"))
	s := New(Options{SASLUsers: map[string]string{"bob": "b"}}) // without a listener
	defer s.Close()
	c := newSession(t, s, time.Minute)
	c.hears(InvalidACL, OpCreate, private("/a", "auth", ""))
	for i, id := range []string{"bob", "a/b@C", "", "a/b"} {
		c.hears(OK, OpCreate, private("/n"+strconv.Itoa(i), "sasl", id))
	}
	for _, id := range []string{"a@b@c", "a/b/c@d", "a@b/c"} {
		c.hears(InvalidACL, OpCreate, private("/refused", "sasl", id))
	}
}
