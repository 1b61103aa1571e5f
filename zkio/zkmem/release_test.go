package zkmem

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// on runs a test on a server of each release, with two clients.
func on(t *testing.T, test func(t *testing.T, old bool, s *Server, c, other *rawClient)) {
	t.Helper()
	for _, r := range []Release{Release38, Release39} {
		t.Run(string(r), func(t *testing.T) {
			s := Start(t, Options{Release: r})
			test(t, r == Release38, s, newSession(t, s, time.Minute), newSession(t, s, time.Minute))
		})
	}
}

// either returns what 3.8.0 answers, or what 3.9 does.
func either[T any](old bool, then, now T) T {
	if old {
		return then
	}
	return now
}

func (c *rawClient) hears(want Code, op OpCode, body func(*encoder)) *decoder {
	c.t.Helper()
	code, d, err := c.ask(op, body)
	if code != want || err != nil {
		c.t.Errorf("%v: %v %v, want %v", op, code, err, want)
	}
	return d
}

func multiOf(op OpCode, body func(*encoder)) func(*encoder) {
	return func(e *encoder) {
		e.multiHeader(op, false, -1)
		body(e)
		e.multiHeader(OpError, true, -1)
	}
}

func hiddenNode(path string) func(*encoder) {
	return func(e *encoder) { e.text(path); e.bytes(nil); e.acls([]ACL{{30, "world", "anyone"}}); e.int32(0) }
}

func setTo(path, data string) func(*encoder) {
	return func(e *encoder) { e.text(path); e.bytes([]byte(data)); e.int32(-1) }
}

func numbered(path string, number int32) func(*encoder) {
	return func(e *encoder) { e.text(path); e.int32(number) }
}

func TestExistsOfAHiddenNode(t *testing.T) {
	on(t, func(t *testing.T, old bool, s *Server, c, _ *rawClient) {
		c.hears(OK, OpCreate, hiddenNode("/hid"))
		c.hears(either(old, OK, NoAuth), OpExists, read("/hid", true))
		if got := s.watchesOn("/hid"); got != either(old, 1, 0) {
			t.Errorf("%d watches", got)
		}
	})
	later := newSession(t, Start(t, Options{Release: Release38, ExistsNeedsRead: true}), time.Minute)
	later.hears(OK, OpCreate, hiddenNode("/hid"))
	later.hears(NoAuth, OpExists, read("/hid", false))
}

func (s *Server) watchesOn(path string) (count int) {
	s.View(func(v *View) { count = v.Watches(DataWatch, path) })
	return count
}

func TestAnEventNamesItsTransaction(t *testing.T) {
	on(t, func(t *testing.T, old bool, s *Server, c, other *rawClient) {
		other.hears(NoNode, OpExists, read("/a", true))
		c.mustCreate("/a", Persistent)
		if code, _, err := other.reply(-1); code != OK || err != nil || other.zxid != either(old, -1, c.zxid) {
			t.Errorf("the event of %d says %d: %v %v", c.zxid, other.zxid, code, err)
		}
		again := either(old, OpSetWatches, OpSetWatches2)
		other.send(again, func(e *encoder) {
			e.int64(0)
			for range either(old, 3, 5) {
				e.texts([]string{"/gone"})
			}
		})
		if _, _, err := other.reply(-1); err != nil || other.zxid != -1 {
			t.Errorf("the event of a watch that is set again says %d, %v", other.zxid, err)
		}
	})
}

// The modes of one watcher's watches on one path.
func TestWatchesOfSeveralModesOnOnePath(t *testing.T) {
	on(t, func(t *testing.T, old bool, s *Server, c, other *rawClient) {
		c.mustCreate("/a", Persistent)
		other.hears(OK, OpAddWatch, numbered("/a", int32(RecursiveWatch)))
		other.hears(OK, OpExists, read("/a", true))
		total := 0
		s.View(func(v *View) { total = v.WatchCount() })
		if total != either(old, 2, 1) {
			t.Errorf("%d watches", total)
		}
		for number, want := range []int{1, either(old, 0, 1)} {
			c.hears(OK, OpSetData, setTo("/a", fmt.Sprint(number)))
			xid, events := other.send(OpPing, nil), 0
			for {
				if _, _, err := other.reply(xid); err == nil {
					break
				}
				events++
			}
			if events != want {
				t.Errorf("change %d: %d events, want %d", number, events, want)
			}
		}
	})
}

func TestKindsOfWatches(t *testing.T) {
	on(t, func(t *testing.T, old bool, s *Server, c, other *rawClient) {
		c.hears(OK, OpAddWatch, numbered("/a", int32(PersistentWatch)))
		for kind, want := range map[int32]Code{0: MarshallingError, 1: either(old, OK, NoWatcher),
			2: either(old, OK, NoWatcher), 3: OK,
			4: either(old, MarshallingError, OK), 5: either(old, MarshallingError, NoWatcher), 6: MarshallingError} {
			c.hears(want, OpCheckWatches, numbered("/a", kind))
		}
		other.hears(either(old, OK, NoWatcher), OpCheckWatches, numbered("/a", 3)) // another's
		c.hears(either(old, MarshallingError, NoWatcher), OpRemoveWatches, numbered("/a", 5))
		c.hears(either(old, MarshallingError, OK), OpRemoveWatches, numbered("/a", 4))
		c.hears(either(old, OK, NoWatcher), OpRemoveWatches, numbered("/a", 3))
		if got, want := s.wchs(),
			fmt.Sprintf("%d connections watching 0 paths\nTotal watches:0\n", either(old, 1, 0)); got != want {
			t.Errorf("wchs: %q, want %q", got, want)
		}
	})
}

func TestCreatesInAMulti(t *testing.T) {
	on(t, func(t *testing.T, old bool, s *Server, c, _ *rawClient) {
		shows := func(op OpCode, path string, mode Mode, want OpCode) {
			t.Helper()
			d := c.hears(OK, OpMulti, multiOf(op, create(path, mode)))
			if got := OpCode(d.int32()); got != want {
				t.Errorf("%v of mode %d is answered as %v, want %v", op, mode, got, want)
			}
		}
		shows(OpCreate, "/a", Persistent, OpCreate)
		shows(OpCreate2, "/b", Persistent, either(old, OpCreate, OpCreate2))
		shows(OpCreateContainer, "/c", Persistent, either(old, OpCreate, OpCreate2))
		shows(OpCreateContainer, "/d", Ephemeral, either(old, OpCreate, OpCreate2))
		if own := s.Snapshot().Ephemerals(c.session); slices.Contains(own, "/d") != old {
			t.Errorf("ephemeral: %q", own)
		}
	})
}

// A multi that 3.9 refuses as a whole.
func TestAMultiThatIsRefusedAsAWhole(t *testing.T) {
	on(t, func(t *testing.T, old bool, _ *Server, c, _ *rawClient) {
		for name, bad := range map[string]func(*encoder){
			"flags":     create("/a", 99),
			"null list": func(e *encoder) { e.text("/a"); e.bytes(nil); e.int32(-1); e.int32(0) },
			"a TTL":     create("/a", TTL),
		} {
			if name == "a TTL" && old {
				continue // it is not answered so there
			}
			before := c.zxid
			c.hears(either(old, OK, MarshallingError), OpMulti, multiOf(OpCreate, bad))
			if spared := c.zxid == before; spared != (!old && name != "flags") && before != 0 {
				t.Errorf("%s: zxid %d after %d", name, c.zxid, before)
			}
		}
	})
}

func TestAClientDeletesAContainer(t *testing.T) {
	on(t, func(t *testing.T, old bool, _ *Server, c, _ *rawClient) {
		c.mustCreate("/plain", Persistent)
		c.mustCreate("/full", Persistent)
		c.mustCreate("/full/x", Persistent)
		c.mustCreate("/mine", Ephemeral)
		for path, want := range map[string]Code{"/plain": OK, "/none": NoNode, "/full": NotEmpty, "/mine": BadVersion,
			"/": BadArguments} {
			c.hears(either(old, BadArguments, want), OpDeleteContainer, func(e *encoder) { e.text(path) })
		}
	})
}

func TestACheckAlone(t *testing.T) {
	on(t, func(t *testing.T, old bool, _ *Server, c, _ *rawClient) {
		xid := c.send(OpCheck, numbered("/", -1))
		if !old {
			if code, _, err := c.reply(xid); code != Unimplemented || err != nil || c.zxid != -1 {
				t.Error(code, err, c.zxid)
			}
			c.gone()
			return
		}
		c.hears(OK, OpPing, nil) // the check gets no answer
		c.hears(BadVersion, OpCheck, numbered("/", 7))
	})
}

// A write with a length that is none is refused; since 3.9 that uses up no zxid, but for a path that is null.
func TestAWriteThatCannotBeRead(t *testing.T) {
	on(t, func(t *testing.T, old bool, _ *Server, c, _ *rawClient) {
		c.mustCreate("/a", Persistent)
		for _, test := range []struct {
			op    OpCode
			body  func(*encoder)
			spent bool
		}{
			{OpDelete, func(e *encoder) { e.int32(1000) }, old}, {OpSetData, func(e *encoder) { e.int32(-7) }, old},
			{OpCreate, nil, old},
			{OpMulti, func(e *encoder) { e.int32(7) }, true},
			{OpDelete, func(e *encoder) { e.int32(-1); e.int32(0) }, true},
		} {
			before := c.zxid
			c.hears(MarshallingError, test.op, test.body)
			if got := c.zxid - before; got != either[int64](test.spent, 1, 0) {
				t.Errorf("%v used up %d zxids", test.op, got)
			}
		}
	})
}

func TestAServerNamesItsRelease(t *testing.T) {
	on(t, func(t *testing.T, old bool, s *Server, _, _ *rawClient) {
		want := "Zookeeper version: " + either(old, "3.8.0", "3.9.5") + "-"
		s.mu.Lock()
		got := s.srvr()
		s.mu.Unlock()
		if !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	})
	for want, o := range map[Release][]Options{Release39: {{}, {ReadOnly: true}},
		Release38: {Keeper(), {NoContainers: true}, {NoCreate2: true}}} {
		for _, o := range o {
			s := New(o)
			if got := s.opts.Release; got != want {
				t.Errorf("the default is %q, want %q", got, want)
			}
			s.Close()
		}
	}
}

func TestOptionsThatAreNone(t *testing.T) {
	for want, o := range map[string]Options{
		`Options.Release is "3.7": it is one of "3.9" and "3.8.0"`: {Release: "3.7"},
		`Options.EnforceAuth has "magic": it may have digest, ip, sasl, x509`: {EnforceAuth: []string{"digest",
			"magic"}}} {
		func() {
			defer func() {
				if text, _ := recover().(string); !strings.Contains(text, want) {
					t.Errorf("it panics with %q, want %q", text, want)
				}
			}()
			New(o).Close()
		}()
	}
}

// A client that has not proven an identity of a scheme that is required gets no answer but the refusal, at a member of
// an ensemble, too.
func TestAnIdentityIsRequired(t *testing.T) {
	o := Options{EnforceAuth: []string{"sasl", "digest"}}
	for name, s := range map[string]*Server{"alone": Start(t, o), "leader": StartEnsemble(t, 3, o).Leader(),
		"follower": StartEnsemble(t, 3, o).Followers()[0]} {
		t.Run(name, func(t *testing.T) {
			for _, op := range []OpCode{OpPing, OpCreate, OpExists, OpCloseSession} {
				c := newSession(t, s, time.Minute)
				c.hears(SessionRequiresAuth, op, create("/a", Persistent))
				if c.zxid != 0 {
					t.Errorf("zxid %d", c.zxid)
				}
				c.gone()
			}
			c := newSession(t, s, time.Minute)
			c.hears(OK, OpSASL, func(e *encoder) { e.text("") })
			c.send(OpAuth, func(e *encoder) { e.int32(0); e.text("digest"); e.text("ann:pw") })
			if code, _, err := c.reply(c.xid); code != OK || err != nil {
				t.Fatal(code, err)
			}
			c.mustCreate("/a", Persistent)
		})
	}
}
