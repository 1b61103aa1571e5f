package zkmem

import (
	"fmt"
	"testing"
	"time"
)

func digest(who string) func(*encoder) {
	return func(e *encoder) { e.int32(0); e.text("digest"); e.bytes([]byte(who)) }
}

// kazoo writes an empty ID as null, in CREATOR_ALL_ACL too.
func TestAnIDThatIsNull(t *testing.T) {
	s := Start(t)
	c := newSession(t, s, time.Minute)
	c.ask(OpAuth, digest("me:secret"))
	for scheme, want := range map[string]Code{"auth": OK, "world": MarshallingError, "digest": MarshallingError,
		"magic": InvalidACL} {
		code, _, err := c.ask(OpCreate, func(e *encoder) {
			e.text("/" + scheme)
			e.bytes(nil)
			e.int32(1)
			e.int32(PermAll)
			e.text(scheme)
			e.int32(-1)
			e.int32(0)
		})
		if code != want || err != nil {
			t.Errorf("%s: %v %v, want %v", scheme, code, err, want)
		}
	}
	if acl, _, _ := s.Snapshot().ACL("/auth"); len(acl) != 1 ||
		acl[0] != (ACL{PermAll, "digest", DigestAuth("me:secret").ID}) {
		t.Error(acl)
	}
}

// The super user may do everything. whoAmI shows users without their digests, and the scheme of the super user.
func TestTheSuperUser(t *testing.T) {
	s := Start(t, Options{SuperDigest: DigestAuth("root:secret").ID})
	if _, err := s.Do(Op{Code: OpCreate, Path: "/closed", ACL: []ACL{{PermRead, "world", "anyone"}}}); err != nil {
		t.Fatal(err)
	}
	for who, want := range map[string]struct {
		code  Code
		shown string
	}{"root:secret": {OK, "ip pipe;super ;digest root;"}, "root:guess": {NoAuth, "ip pipe;digest root;"}} {
		c := newSession(t, s, time.Minute)
		c.ask(OpAuth, digest(who))
		code, _, err := c.ask(OpSetData, func(e *encoder) { e.text("/closed"); e.bytes(nil); e.int32(-1) })
		if code != want.code || err != nil {
			t.Errorf("%s: %v %v, want %v", who, code, err, want.code)
		}
		_, d, err := c.ask(OpWhoAmI, nil)
		if err != nil {
			t.Fatal(err)
		}
		var shown string
		for range d.int32() {
			shown += fmt.Sprint(d.text(), " ", d.text(), ";")
		}
		if shown != want.shown {
			t.Errorf("%s: whoAmI shows %q, want %q", who, shown, want.shown)
		}
	}
}

// Each read of a multiRead fails by itself.
func TestReadsTogether(t *testing.T) {
	s := Start(t)
	c := newSession(t, s, time.Minute)
	code, d, err := c.ask(OpMultiRead, func(e *encoder) {
		for _, path := range []string{"/missing", "/zookeeper"} {
			e.multiHeader(OpGetChildren, false, -1)
			e.text(path)
			e.bool(true)
		}
		e.multiHeader(OpError, true, -1)
	})
	if code != OK || err != nil {
		t.Fatal(code, err)
	}
	type head struct {
		op   int32
		done bool
		code int32
	}
	next := func() head { return head{d.int32(), d.bool(), d.int32()} }
	if got, want := next(), (head{-1, false, int32(NoNode)}); got != want || Code(d.int32()) != NoNode {
		t.Error(got)
	}
	if got, names := next(), d.texts(); got != (head{int32(OpGetChildren), false, 0}) || len(names) != 2 {
		t.Error(got, names)
	}
	if got := next(); got != (head{-1, true, -1}) || d.bad {
		t.Error(got)
	}
	s.View(func(v *View) {
		if v.WatchCount() != 0 {
			t.Error("a read of a multiRead set a watch")
		}
	})
}
