package zkio

import (
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// A request that is pending at the ends of connections waits after two of them, and is refused for a while after four.
// An answer ends that. Another size is another request, and a small one is never suspected.
func TestSuspects(t *testing.T) {
	large := func(size int) *call {
		return &call{kind: events.ReplyCreate, path: "/big", size: size, request: events.Create{Path: "/big"}}
	}
	var s suspects
	c, now := large(100_000), int64(time.Hour)
	check := func(waits, refused bool) {
		t.Helper()
		wait, why := s.judge(c, now)
		if wait > 0 != waits || why != "" != refused {
			t.Errorf("it waits %s, refused: %q", wait, why)
		}
	}
	check(false, false)
	for end := 1; end <= 4; end++ {
		s.ended(c, now)
		s.ended(large(100), now)
		check(end == 2 || end == 3, end >= 4)
		if wait, why := s.judge(large(100_001), now); wait != 0 || why != "" {
			t.Errorf("another size waits %s: %s", wait, why)
		}
		if wait, why := s.judge(large(100), now); wait != 0 || why != "" {
			t.Errorf("a small one waits %s: %s", wait, why)
		}
	}
	now += int64(refusePause)
	check(true, false)
	s.ended(c, now)
	now += int64(refusePause)
	check(false, true)
	s.answered(c)
	check(false, false)
	for i := range 2 * maxSuspects {
		s.ended(large(10_000+i), now)
	}
	if len(s.known) > maxSuspects {
		t.Errorf("%d are known", len(s.known))
	}
}

// A multi is known by its largest operation.
func TestASuspectedMulti(t *testing.T) {
	key, large := suspectOf(&call{kind: events.ReplyMulti, size: 9000, request: events.Multi{Ops: []events.Op{
		{Verb: "set", Path: "/q-producers"}, {Verb: "create", Path: "/q/queue-", Data: make([]byte, 8000)},
	}}})
	if !large || key != (suspect{"create", "/q/queue-", 9000}) {
		t.Errorf("%v %t", key, large)
	}
}

// The end of a connection names a request of 100 KB or more as its probable reason, and mentions one of 4 KiB.
func TestTheEndNamesALargeRequest(t *testing.T) {
	const size = "the request to create /big has 100000 bytes"
	of := func(size int) *call { return &call{kind: events.ReplyCreate, path: "/big", size: size} }
	for _, c := range []struct {
		call      *call
		end, said string
	}{
		{of(100_000), size, size},
		{of(99_999), "", "a request of 99999 bytes in flight"},
		{of(100), "", ""},
	} {
		s := &session{pending: map[int32]*call{1: of(10), 2: c.call, 3: of(20)}}
		end, said := s.largestInFlight().endText("gone"), c.call.inFlightText("gone")
		for text, want := range map[string]string{end: c.end, said: c.said} {
			if !strings.HasPrefix(text, "gone") || !strings.Contains(text, want) || want == "" && text != "gone" {
				t.Errorf("%q, want %q", text, want)
			}
		}
	}
	if text := new(session).largestInFlight().endText("gone"); text != "gone" {
		t.Errorf("without a request: %q", text)
	}
}
