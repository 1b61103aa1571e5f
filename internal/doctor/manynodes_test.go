package doctor

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/link"
)

// A line of 1,000 nodes at a server that is 30 ms away is examined within the time that all may take by default. Read
// one after another, the nodes alone would take a minute.
func TestALongLineFarAway(t *testing.T) {
	inBubble(t, "30 ms", func(t *testing.T) {
		l := newLineWorld(t)
		for n := range maxRead {
			l.place(fmt.Sprint("id-", n), n)
		}
		l.Dial = func(_ context.Context, address string) (net.Conn, error) {
			return link.Dial(30*time.Millisecond, l.s.ServeConn), nil
		}
		begun := time.Now()
		report := Examine(t.Context(), l.Settings)
		if took := time.Since(begun); took > 10*time.Second {
			t.Errorf("it took %s", took)
		}
		if line := report.Lines[0]; line.Participants != maxRead || len(line.line.Participants) != maxRead {
			t.Errorf("%d nodes, of which %d were read", line.Participants, len(line.line.Participants))
		}
		found(t, report)
	})
}
