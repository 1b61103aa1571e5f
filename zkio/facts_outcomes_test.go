package zkio_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// Outcomes are: not sent (with the reason), a server's own code, or unknown.
func TestFact20_Outcomes(t *testing.T) {
	srv := zkmem.Start(t)
	r, _ := attachedRig(t, srv)
	srv.Create("/d", nil, zkmem.Persistent)
	srv.Create("/d/c", nil, zkmem.Persistent)
	big := make([]byte, 1<<20)
	cases := []struct {
		ask  func(events.Call) events.Request
		code events.Code
		text string
	}{
		{func(c events.Call) events.Request { return events.Get{Call: c, Path: "x"} }, events.NotSent,
			`path "x": a path begins with a slash`},
		{func(c events.Call) events.Request { return events.Get{Call: c, Path: "/x//y"} }, events.NotSent,
			"not a valid path"},
		{func(c events.Call) events.Request { return events.Create{Call: c, Path: "/x", Mode: "odd"} }, events.NotSent,
			`mode "odd" is not known`},
		{func(c events.Call) events.Request {
			return events.Create{Call: c, Path: "/x", Mode: events.Persistent, Data: big}
		}, events.NotSent, "the request takes 1049625 bytes, 1048576 are allowed: see Config.MaxRequest"},
		{func(c events.Call) events.Request {
			return events.Multi{Call: c}
		}, events.NotSent, "a multi without operations"},
		{func(c events.Call) events.Request {
			return events.Multi{Call: c, Ops: []events.Op{{Verb: "create", Path: "/x", Mode: events.Container}}}
		}, events.NotSent, `mode "container" cannot be made inside a multi`},
		{func(c events.Call) events.Request {
			return events.Multi{Call: c, Ops: []events.Op{{Verb: "wipe", Path: "/x"}}}
		}, events.NotSent, `verb "wipe" is none of check, create, delete, set`},
		{func(c events.Call) events.Request { return events.Delete{Call: c, Path: "/x"} }, events.NoNode, ""},
		{func(c events.Call) events.Request { return events.Delete{Call: c, Path: "/d"} }, events.NotEmpty, ""},
		{func(c events.Call) events.Request {
			return events.Create{Call: c, Path: "/d", Mode: events.Persistent}
		}, events.NodeExists, ""},
	}
	for _, c := range cases {
		if got := r.ask(c.ask(r.call())); got.Code != c.code || got.Text != c.text {
			t.Errorf("%s: %s %q, want %s %q", got.Path, got.Code, got.Text, c.code, c.text)
		}
	}
}

// Every code of the server keeps its meaning; one without a name keeps its number.
func TestFact20_ServerCodes(t *testing.T) {
	srv := zkmem.Start(t)
	r, _ := attachedRig(t, srv)
	want := map[zkmem.Code]events.Code{
		-6: events.Unimplemented, -8: events.BadArguments, -101: events.NoNode, -102: events.NoAuth,
		-103: events.BadVersion, -108: events.NoChildrenOfEphemerals, -110: events.NodeExists, -111: events.NotEmpty,
		-112: events.SessionExpired, -114: events.InvalidACL, -115: events.AuthFailed, -118: events.SessionMoved,
		-119: events.ReadOnly, -125: events.QuotaExceeded, -127: events.Throttled, -13: events.NewConfigNoQuorum,
		-1: events.SystemError, -7: events.OperationTimeout, -120: events.EphemeralOnLocalSession,
		-124: events.RequiresSASL, -126: events.ServerError,
	}
	for number, code := range want {
		remove := srv.Intercept(func(q zkmem.Request) zkmem.Verdict {
			if q.Op == zkmem.OpSync {
				return zkmem.Verdict{Action: zkmem.Refuse, Code: number}
			}
			return zkmem.Verdict{}
		})
		got := r.ask(events.Sync{Call: r.call(), Path: "/"})
		remove()
		if got.Code != code || got.SentAt == 0 {
			t.Errorf("%d: %+v", number, got)
		}
		if code == events.ServerError && !strings.Contains(got.Text, "-126") {
			t.Errorf("the number is lost: %q", got.Text)
		}
	}
}

// A create whose reply is lost is unknown, and it was done.
func TestFact21_UnknownCreate(t *testing.T) {
	srv := zkmem.Start(t)
	r, _ := attachedRig(t, srv)
	remove := srv.Intercept(func(q zkmem.Request) zkmem.Verdict {
		if q.Op == zkmem.OpCreate {
			return zkmem.Verdict{Action: zkmem.CutAfter}
		}
		return zkmem.Verdict{}
	})
	got := r.ask(events.Create{Call: r.call(), Path: "/own", Mode: events.Ephemeral})
	remove()
	if !got.Code.Unknown() {
		t.Errorf("got %+v", got)
	}
	again := r.await(events.ConnectionAttached)
	if read := r.ask(events.Get{Call: r.call(), Path: "/own"}); read.Code != "" ||
		read.Stat.EphemeralOwner != again.SessionID {
		t.Errorf("afterwards: %+v", read)
	}
}

func TestFact21_UnknownCommitIsNeverRetried(t *testing.T) {
	srv := zkmem.Start(t)
	r, _ := attachedRig(t, srv)
	attempts := 0
	srv.Intercept(func(q zkmem.Request) zkmem.Verdict {
		if q.Op == zkmem.OpMulti {
			attempts++
			return zkmem.Verdict{Action: zkmem.CutAfter}
		}
		return zkmem.Verdict{}
	})
	_, _, err := r.Commit(t.Context(), 1, []events.Op{{Verb: "create", Path: "/a", Mode: events.Persistent}})
	if !errors.Is(err, zkio.ErrOutcomeUnknown) {
		t.Errorf("Commit: %v", err)
	}
	r.await(events.ConnectionAttached)
	r.ask(events.Sync{Call: r.call(), Path: "/"})
	if attempts != 1 {
		t.Errorf("it was sent %d times", attempts)
	}
	if _, _, err := r.Commit(t.Context(), 2, []events.Op{{Verb: "check", Path: "/", Version: -1}}); !errors.Is(err,
		zkio.ErrOtherSession) {
		t.Errorf("Commit in session 2: %v", err)
	}
}
