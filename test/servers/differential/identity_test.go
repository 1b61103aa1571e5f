package differential

import (
	"fmt"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// TestIdentitiesAreShownAsByTheRealServer proves identities, and compares what whoAmI and an ACL of scheme "auth" make
// of them.
func TestIdentitiesAreShownAsByTheRealServer(t *testing.T) {
	onReleases(t, func(t *testing.T, r release) {
		digest := "zookeeper.DigestAuthenticationProvider.superDigest=" + superDigest
		apache, mem := r.start(t, realzk.Options{Properties: []string{digest}},
			zkmem.Options{SuperDigest: superDigest})
		for i, proven := range [][]string{{}, {"u1:p"}, {superUser}, {"u1:p", superUser}, {superUser, superUser},
			{"nocolon"}, {"u1:p:q"}, {":"}, {""}} {
			got := [2]string{identities(apache.Addr(), i, proven), identities(mem.Addr(), i, proven)}
			if got[0] != got[1] {
				t.Error(played{number: i, name: fmt.Sprintf("whoAmI and an ACL after %q", proven), real: got[0],
					mem: got[1]}.differs())
			}
		}
	})
}

func identities(addr string, number int, proven []string) string {
	w := newWorld(addr)
	c := w.clients[0]
	lines := []string{c.connect(0, make([]byte, 16), 0, 30000, "me")}
	for _, credentials := range proven {
		lines = append(lines, withoutZxid(c.ask(opAuth, enc{}.i32(0).str("digest").str(credentials))))
	}
	path := fmt.Sprintf("/who%d", number)
	lines = append(lines, withoutZxid(c.ask(opWhoAmI, nil)))
	lines = append(lines, withoutZxid(c.ask(opCreate, enc{}.str(path).i32(-1).acls([]acl{{31, "auth", ""}}).i32(1))))
	answer := withoutZxid(c.ask(opGetACL, enc{}.str(path)))
	before, _, _ := strings.Cut(answer, "{") // its Stat differs from server to server
	w.end()
	return strings.Join(append(lines, before), "\n")
}
