package differential

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// TestATimeoutIsRenegotiatedAsOnTheRealServer has sessions come back that ask for another timeout. The server says what
// it grants, and ends each session by that, whether it is longer or shorter than the timeout before. What ends first is
// seen from the order of the events: a session of 4 ticks that came back for 20 ticks outlives one of 6 ticks that
// began later, and one of 20 ticks that came back for 2 does not.
func TestATimeoutIsRenegotiatedAsOnTheRealServer(t *testing.T) {
	const tick = 500 * time.Millisecond
	onReleases(t, func(t *testing.T, r release) {
		apache, mem := r.start(t, realzk.Options{Tick: tick}, zkmem.Options{Tick: tick})
		var lines [2]string
		for side, addr := range []string{apache.Addr(), mem.Addr()} {
			lines[side] = renegotiate(newWorld(addr))
		}
		const ended = "/shortened, /sixTicks"
		if lines[0] != lines[1] || !strings.HasSuffix(lines[0], ended) {
			t.Errorf("the real server:\n%s\nzkmem:\n%s\nwant at the end: %s", lines[0], lines[1], ended)
		}
		t.Log(lines[0])
	})
}

// renegotiate returns what the clients were lines, and which nodes were deleted until that of the session of six
// ticks was.
func renegotiate(w *world) string {
	watcher, lengthened, shortened, sixTicks := w.clients[0], w.clients[1], w.clients[2], w.clients[3]
	lines := []string{watcher.connect(0, make([]byte, 16), 0, 10_000, "watcher")}
	begin := func(c *client, asked int32, name string) {
		lines = append(lines, c.connect(0, make([]byte, 16), 0, asked, name))
		c.ask(opCreate, enc{}.str("/"+name).i32(-1).acls([]acl{{31, "world", "anyone"}}).i32(1))
		watcher.ask(opExists, enc{}.str("/"+name).flag(true))
	}
	again := func(c *client, asked int32) {
		lines = append(lines, c.connect(c.session, c.password, 0, asked, ""))
	}
	begin(lengthened, 2_000, "lengthened")
	again(lengthened, 60_000) // more than is granted
	begin(shortened, 10_000, "shortened")
	again(shortened, 1) // less than is granted
	begin(sixTicks, 3_000, "sixTicks")
	for _, c := range []*client{lengthened, shortened, sixTicks} {
		c.hangUp()
	}
	var ended []string
	for !slices.Contains(ended, "/sixTicks") {
		frame, err := watcher.read()
		if err != nil {
			return err.Error()
		}
		event := watcher.tell(frame, 0)
		ended = append(ended, strings.Trim(event[strings.LastIndex(event, " ")+1:], `"`))
	}
	again(lengthened, 10_000)
	w.end()
	return strings.Join(lines, "\n") + "\n" + strings.Join(ended, ", ")
}
