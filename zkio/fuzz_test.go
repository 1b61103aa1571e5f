package zkio_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio"
)

// zeros returns n bytes of an answer's body without content.
func zeros(n int) string { return strings.Repeat("\x00", n) }

// stat is the length of a node's stat on the wire.
const stat = 68

// oneRequestOfEachKind returns one request of each kind, with the xids 1 to 7.
func oneRequestOfEachKind(r *rig) []events.Request {
	any := events.Op{Path: "/n", Version: -1}
	ops := make([]events.Op, 4)
	for i, verb := range []string{"check", "set", "create", "delete"} {
		ops[i] = any
		ops[i].Verb, ops[i].Mode = verb, events.Persistent
	}
	return []events.Request{
		events.Get{Call: r.call(), Path: "/n", Watch: true, Data: true},
		events.Exists{Call: r.call(), Path: "/n", Watch: true},
		events.Children{Call: r.call(), Path: "/n", Watch: true},
		events.Create{Call: r.call(), Path: "/n", Mode: events.EphemeralSequential},
		events.Delete{Call: r.call(), Path: "/n"},
		events.Multi{Call: r.call(), Ops: ops},
		events.Sync{Call: r.call(), Path: "/n"},
	}
}

// FuzzServerBytes: whatever a server sends after its handshake, every request gets exactly
// one reply, in bounded time and memory, and the adapter closes.
func FuzzServerBytes(f *testing.F) {
	all := func(frames ...[]byte) {
		var b []byte
		for _, frame := range frames {
			b = append(b, frame...)
		}
		f.Add(b)
	}
	all(frame(1, 7, "\x00\x00\x00\x01d"+zeros(stat)), frame(2, 7, zeros(stat)),
		frame(3, 7, "\x00\x00\x00\x01\x00\x00\x00\x01a"+zeros(stat)))
	all(frame(4, 8, "\x00\x00\x00\x02/n"), frame(5, 9, ""), frame(7, 9, "\x00\x00\x00\x02/n"))
	all(frame(6, 9, "\x00\x00\x00\x0d\x00\xff\xff\xff\xff"+"\x00\x00\x00\x05\x00\xff\xff\xff\xff"+zeros(stat)+
		"\x00\x00\x00\x01\x00\xff\xff\xff\xff\x00\x00\x00\x02/n"+"\x00\x00\x00\x02\x00\xff\xff\xff\xff"+
		"\xff\xff\xff\xff\x01\xff\xff\xff\xff"))
	all(frame(6, 9, "\xff\xff\xff\xff\x00\xff\xff\xff\x9b\xff\xff\xff\x9b"+"\xff\xff\xff\xff\x01\xff\xff\xff\xff"))
	all(event("/n"), event("/other"), frame(-2, 1, ""), frame(-4, 1, ""), frame(-8, 1, ""), frame(99, 1, ""))
	all(frame(3, 7, "\x7f\xff\xff\xff"), frame(1, 7, "\xff\xff\xff\xfe"))
	all([]byte("\x7f\xff\xff\xff"), []byte("\x00\x00\x00\x10"))
	all(frame(1, -1, ""), frame(1, 1<<62, zeros(4+stat)), frame(1, 5, zeros(4+stat)))
	f.Fuzz(func(t *testing.T, said []byte) {
		virtual.Test(t, func(t *testing.T) {
			r := badServerRig(t, zkio.Config{MaxAnswer: 1 << 16}, func(v badServer) {
				go func() { _, _ = v.Write(said) }()
				_, _ = io.Copy(io.Discard, v)
			})
			r.await(events.ConnectionAttached)
			asked := oneRequestOfEachKind(r)
			replies := map[uint64]int{}
			for _, q := range asked {
				r.Execute(machine, q)
			}
			for len(replies) < len(asked) {
				if e := r.take(); e.To == machine {
					count(t, replies, e.Event)
				}
			}
			synctest.Wait()
			for _, e := range r.rest() {
				if e.To == machine {
					count(t, replies, e.Event)
				}
			}
		})
	})
}

// count counts a reply, of which there may be only one, and ignores watch events that the
// machine asked for.
func count(t *testing.T, replies map[uint64]int, e events.Event) {
	t.Helper()
	if strings.HasPrefix(string(e.Kind), "watch.") {
		if e.Path != "/n" {
			t.Errorf("nobody watches %q", e.Path)
		}
		return
	}
	if replies[e.Request]++; replies[e.Request] > 1 {
		t.Errorf("request %d got a second reply: %+v", e.Request, e)
	}
}

// FuzzGreeting: whatever a server sends instead of its connect response, the attempt ends
// in one of the ways that the session machine knows, and the adapter closes.
func FuzzGreeting(f *testing.F) {
	granted := "\x00\x00\x00\x00\x00\x00\x3a\x98" + zeros(7) + "\x01\x00\x00\x00\x10" + strings.Repeat("p", 16)
	for _, body := range []string{granted, granted + "\x00", granted + "\x01", granted[:20], zeros(36),
		"\x00\x00\x00\x00\x00\x00\x00\x01" + granted[8:]} {
		f.Add([]byte(fmt.Sprintf("\x00\x00\x00%c%s", len(body), body)))
	}
	f.Add([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
	f.Add([]byte("\x15\x03\x01\x00\x02\x02\x16"))
	f.Fuzz(func(t *testing.T, said []byte) {
		virtual.Test(t, func(t *testing.T) {
			r := unservedRig(t, zkio.Config{}, func(v badServer) {
				go func() { _, _ = v.Write(said) }()
				_, _ = io.Copy(io.Discard, v)
			})
			r.Execute(events.SessionMachine, events.Connect{Session: 1})
			if e := r.await(events.ConnectionAttached, events.ConnectionRefused, events.ConnectionLost); e.Kind ==
				events.ConnectionAttached && (e.Timeout <= 0 || e.SessionID == 0) {
				t.Errorf("attached: %+v", e)
			}
		})
	})
}
