package differential

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// asked is one request of a client. A client that is not connected begins a session first.
type asked struct {
	slot int
	name string
	op   int32
	body enc
}

// lasting is the timeout of a session that is left behind by a test: its end would use up a zxid.
const (
	lasting   = time.Hour
	lastingMs = int32(lasting / time.Millisecond)
)

// TestTheRequestsThatReleasesAnswerInTheirOwnWay asks for everything in which releases differ, and for much in which
// they do not. All that a client gets is compared: replies, Stats, zxids, events, and whether the connection goes on.
func TestTheRequestsThatReleasesAnswerInTheirOwnWay(t *testing.T) {
	onReleases(t, func(t *testing.T, r release) {
		apache, mem := r.start(t, realzk.Options{MaxTimeout: lasting},
			zkmem.Options{MaxSessionTimeout: lasting})
		requests, differ := 0, 0
		for number, group := range groups(r.imitated(t, apache.Addr())) {
			root := rootOf(uint64(number))
			worlds := []*world{newWorld(apache.Addr()), newWorld(mem.Addr())}
			for _, w := range worlds {
				if refused := w.begin(root, false); refused != nil {
					t.Fatalf("there is nothing to ask about: %q", refused)
				}
			}
			for _, a := range group(root) {
				requests++
				var heard [2]string
				for side, w := range worlds {
					heard[side] = w.perform(step{slot: a.slot, do: a.do})
				}
				if heard[0] != heard[1] {
					differ++
					t.Error(played{number: requests, slot: a.slot, name: a.String(), real: heard[0],
						mem: heard[1]}.differs())
				}
			}
			for _, w := range worlds {
				w.end()
			}
		}
		t.Logf("%d requests, %d answered otherwise", requests, differ)
	})
}

func (a asked) String() string {
	return fmt.Sprintf("%s: %s %q", a.name, opNames[a.op], []byte(a.body))
}

// silent reports whether a release gives no answer.
func (a asked) silent() bool { return a.op == opCheck }

// do sends the request and tells what the client hears. Behind one that gets no answer it sends a ping, whose answer
// ends what is heard. An answer after which the server hangs up is followed by nothing else.
func (a asked) do(c *client) (heard []string) {
	if c.conn == nil {
		heard = append(heard, c.connect(0, make([]byte, 16), 0, lastingMs, fmt.Sprintf("session%d", len(c.w.names))))
	}
	c.xid++
	xid := c.xid
	if a.op == opAuth {
		xid = -4
	}
	c.send(append(enc{}.i32(xid).i32(a.op), a.body...))
	if a.silent() {
		c.send(enc{}.i32(-2).i32(opPing))
		heard = append(heard, c.await(-2, a.op)...)
		if slices.ContainsFunc(heard, endsConnection) { // the ping may have been answered before the end
			c.hangUp()
			return heard[:len(heard)-1]
		}
		return heard
	}
	heard = append(heard, c.await(xid, a.op)...)
	if slices.ContainsFunc(heard, endsConnection) {
		heard = append(heard, c.expectEnd())
	}
	return heard
}

// endsConnection reports whether the server hangs up after an answer.
func endsConnection(answer string) bool {
	return strings.Contains(answer, " zxid -1 code -6") || strings.Contains(answer, " code -115")
}
