package differential

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// probe is one odd request on a session of its own.
type probe struct {
	op   int32
	body enc
}

// probes has every number that could be an operation, without a body, and bodies that only a broken or a rare client
// sends.
func probes() []probe {
	var list []probe
	for op := int32(-12); op < 130; op++ {
		list = append(list, probe{op, nil})
	}
	for _, scheme := range []string{"ip", "super", "world", "auth", "sasl", "x509", "key", "", null} {
		list = append(list, probe{opAuth, enc{}.i32(0).strOrNull(scheme).str("x")})
	}
	list = append(list, probe{opAuth, enc{}.i32(0).str("digest").i32(-1)},
		probe{opSASL, enc{}.str("token")}, probe{opSASL, enc{}.i32(-1)}, probe{1000, nil},
		probe{opReconfig, enc{}.i32(-1).i32(-1).i32(-1).i64(0)},
		probe{opDeleteContainer, enc{}.str("/")}, probe{opWhoAmI, enc{}.i32(1)})
	for _, path := range []string{"nope", "", "/", "/zz/../x", null} {
		for mode := int32(-1); mode <= 2; mode++ {
			list = append(list, probe{opAddWatch, enc{}.strOrNull(path).i32(mode)})
		}
		for kind := int32(0); kind <= 6; kind++ {
			body := enc{}.strOrNull(path).i32(kind)
			list = append(list, probe{opCheckWatches, body}, probe{opRemoveWatches, body})
		}
	}
	for _, scheme := range []string{"world", "digest", "ip", "auth", "sasl", "magic", "", null} {
		for _, id := range []string{"anyone", "", null} {
			list = append(list, probe{opCreate, enc{}.str("/p").i32(-1).acls([]acl{{31, scheme, id}}).i32(1)})
		}
	}
	return append(list, multiProbes()...)
}

// multiProbes mixes reads and writes. It leaves out what a real server refuses with a body behind its error code.
func multiProbes() (list []probe) {
	head := func(op int32) enc { return enc{}.i32(op).flag(false).i32(-1) }
	data, children := append(head(opGetData), enc{}.str("/").flag(true)...),
		append(head(opGetChildren), enc{}.str("/zookeeper").flag(false)...)
	missing, check := append(head(opGetData), enc{}.str("/none").flag(false)...),
		append(head(opCheck), enc{}.str("/").i32(-1)...)
	exists := append(head(opExists), enc{}.str("/").flag(false)...)
	for _, op := range []int32{opMulti, opMultiRead} {
		for _, parts := range [][]enc{{}, {data}, {children}, {missing, data}, {data, check}, {check, data}, {exists}} {
			var body enc
			for _, part := range parts {
				body = append(body, part...)
			}
			list = append(list, probe{op, body.i32(-1).flag(true).i32(-1)}, probe{op, body})
		}
	}
	return list
}

// TestOddRequestsAreAnsweredAsByTheRealServer compares what is answered, and whether the connection goes on: a ping
// follows each request.
func TestOddRequestsAreAnsweredAsByTheRealServer(t *testing.T) {
	onReleases(t, func(t *testing.T, r release) {
		apache, mem := r.start(t, realzk.Options{}, zkmem.Options{})
		differ := 0
		for _, p := range probes() {
			var got [2]string
			for side, addr := range []string{apache.Addr(), mem.Addr()} {
				got[side] = p.play(addr)
			}
			if got[0] != got[1] {
				differ++
				t.Errorf("operation %d with %q:\n  ZooKeeper: %s\n  zkmem:     %s", p.op, []byte(p.body), got[0],
					got[1])
			}
		}
		t.Logf("%d requests, %d answered otherwise", len(probes()), differ)
	})
}

// play returns the codes and lengths of what a server answers, until the ping behind the request, and how it ends.
func (p probe) play(addr string) string {
	w := newWorld(addr)
	c := w.clients[0]
	c.connect(0, make([]byte, 16), 0, 30000, "prober")
	defer c.hangUp()
	c.send(append(enc{}.i32(7).i32(p.op), p.body...))
	var lines []string
	for {
		frame, err := c.read()
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return strings.Join(append(lines, "silence"), ", ")
		case err != nil:
			return strings.Join(append(lines, "the end"), ", ")
		}
		d := &dec{buf: frame}
		xid, zxid, code := d.i32(), d.i64(), d.i32()
		if xid == -2 {
			return strings.Join(append(lines, "goes on"), ", ")
		}
		if zxid != -1 && code != -115 { // after those, a server ends the connection
			c.send(enc{}.i32(-2).i32(opPing))
		}
		// the reply to the handshake, again: zxid has the timeout in it, code is the session's
		if xid == 0 && p.op == opCreateSession {
			lines = append(lines, fmt.Sprintf("a handshake of %d bytes", len(frame)))
			continue
		}
		lines = append(lines, fmt.Sprintf("xid %d zxid %d code %d and %q", xid, min(zxid, 1), code, withoutStat(d.buf)))
	}
}

// withoutStat returns a body, or the length of one so long that it has a Stat in it, which differs from server to
// server.
func withoutStat(body []byte) string {
	if len(body) < 60 {
		return string(body)
	}
	return fmt.Sprintf("%d bytes", len(body))
}
