package differential

import (
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// TestAServerThatRequiresAnIdentityRefusesAsTheRealServer sends each request without an identity of the schemes that
// are required, and with one.
func TestAServerThatRequiresAnIdentityRefusesAsTheRealServer(t *testing.T) {
	onReleases(t, func(t *testing.T, r release) {
		for _, schemes := range []string{"digest", "sasl", "sasl,ip"} {
			apache, mem := r.start(t, realzk.Options{MaxTimeout: lasting, Properties: []string{
				"zookeeper.enforce.auth.enabled=true", "zookeeper.enforce.auth.schemes=" + schemes,
				"zookeeper.authProvider.sasl=org.apache.zookeeper.server.auth.SASLAuthenticationProvider"}},
				zkmem.Options{EnforceAuth: strings.Split(schemes, ","), MaxSessionTimeout: lasting})
			var heard [2]string
			for side, addr := range []string{apache.Addr(), mem.Addr()} {
				heard[side] = strings.Join(withoutIdentity(newWorld(addr)), "\n")
			}
			if heard[0] != heard[1] {
				t.Error(played{name: "requests where an identity of " + schemes + " is required", real: heard[0],
					mem: heard[1]}.differs())
			}
			t.Logf("%s:\n%s", schemes, heard[1])
		}
	})
}

// withoutIdentity returns what clients hear that have proven no identity, a wrong one, and one of the scheme digest.
func withoutIdentity(w *world) (heard []string) {
	c := w.clients[0]
	connect := func() {
		c.hangUp()
		heard = append(heard, c.connect(0, make([]byte, 16), 0, lastingMs, "me"))
	}
	ask := func(op int32, body enc) {
		heard = append(heard, opNames[op])
		heard = append(heard, c.ask(op, body)...)
		if last := heard[len(heard)-1]; strings.Contains(last, " code -1") && !strings.Contains(last, " code -10") {
			heard = append(heard, c.expectEnd())
		}
	}
	for _, r := range []struct {
		op   int32
		body enc
	}{{opPing, nil}, {opExists, read("/", true)}, {opCreate, create("/a", everybody, 0)}, {opMulti, together()},
		{opWhoAmI, nil}, {opCloseSession, nil},
		{opSync, enc{}.str("/")}, {opAddWatch, kind("/", 0)}, {opSetWatches, enc{}.i64(0).i32(0).i32(0).i32(0)}} {
		connect()
		w.base = 0
		ask(r.op, r.body)
	}
	connect()
	ask(opSASL, enc{}.str(""))
	ask(opAuth, enc{}.i32(0).str("digest").str("ann:pw"))
	if c.conn != nil {
		ask(opWhoAmI, nil)
	}
	return heard
}
