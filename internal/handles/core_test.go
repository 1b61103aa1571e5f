package handles

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/fault"
)

// A handle is found by its machine until it is removed. While the registry is closing no machine is opened, but the
// client's own handles are added.
func TestRegistry(t *testing.T) {
	var r Registry[string]
	made := func(id events.ID) string { return "of " + string(id) }
	var posted []events.ID
	open := func(id events.ID) { posted = append(posted, id) }
	for _, want := range []events.ID{"latch-1", "latch-2"} {
		if id, opened := r.Open("latch", made, open); id != want || !opened {
			t.Errorf("%s, %t, want %s", id, opened, want)
		}
	}
	r.Set("session", "its")
	if all := r.Close(); len(all) != 3 || all["latch-2"] != "of latch-2" || all["session"] != "its" {
		t.Errorf("the handles are %v", all)
	}
	if id, opened := r.Open("latch", made, open); id != "" || opened || len(posted) != 2 {
		t.Errorf("opened %s, %t, and %d events were posted", id, opened, len(posted))
	}
	if id := r.Add("step", made); id != "step-1" {
		t.Errorf("added %s", id)
	}
	r.Remove("latch-1")
	if handle, has := r.Of("latch-1"); has {
		t.Errorf("there is still %q", handle)
	}
	if handle, has := r.Of("step-1"); handle != "of step-1" || !has {
		t.Errorf("%q, %t", handle, has)
	}
	want := []events.ID{"latch-2", "session", "step-1"}
	if left := slices.Sorted(maps.Keys(r.All())); !slices.Equal(left, want) {
		t.Errorf("left are %v, want %v", left, want)
	}
}

// A place has one owner at a time. Who waits for it gets it when it is free, unless the client closes or the context
// ends first.
func TestPlaces(t *testing.T) {
	var p Places
	p.Free("/a") // nobody has it
	if !p.Reserve("/a") || p.Reserve("/a") || !p.Reserve("/b") {
		t.Error("a place has two owners, or none")
	}
	closed, open := make(chan struct{}), make(chan struct{})
	close(closed)
	if err := p.ReserveWhenFree(t.Context(), closed, "/a"); err != fault.ErrClosed {
		t.Error(err)
	}
	gone := errors.New("gone")
	ctx, end := context.WithCancelCause(t.Context())
	end(gone)
	if err := p.ReserveWhenFree(ctx, open, "/a"); err != gone {
		t.Error(err)
	}
	waits := make(chan error)
	go func() { waits <- p.ReserveWhenFree(t.Context(), open, "/a") }()
	p.Free("/a")
	if err := <-waits; err != nil || p.Reserve("/a") {
		t.Errorf("%v, or it is free", err)
	}
}

// The timeout is what is asked for before the first connection, and then the shortest that was granted to the session.
// An assumed tick grows with what is granted.
func TestTimeouts(t *testing.T) {
	timeouts := Timeouts{Asked: 10 * time.Second, TickAssumed: true}
	timeouts.SetTick(2 * time.Second)
	if timeouts.Timeout() != 10*time.Second || timeouts.Attached() != (Attachment{}) {
		t.Errorf("%s, %+v", timeouts.Timeout(), timeouts.Attached())
	}
	lag := timeouts.ReportLag()
	for _, c := range []struct {
		session          int64
		granted, timeout time.Duration
	}{{1, 12 * time.Second, 12 * time.Second}, {1, 6 * time.Second, 6 * time.Second},
		{1, 8 * time.Second, 6 * time.Second}, {2, 8 * time.Second, 8 * time.Second}} {
		timeouts.Attach(events.Event{Session: c.session, SessionID: 70 + c.session, Timeout: int64(c.granted)})
		if a := timeouts.Attached(); a.Session != c.session || a.ID != 70+c.session || a.Granted != c.granted ||
			timeouts.Timeout() != c.timeout {
			t.Errorf("session %d, granted %s: %+v, counted with %s", c.session, c.granted, a, timeouts.Timeout())
		}
	}
	if a := timeouts.Attachment(1); a != (Attachment{Session: 1}) {
		t.Errorf("the last session: %+v", a)
	}
	if timeouts.Attachment(2).ID != 72 || timeouts.Budget() <= 0 || timeouts.Budget() >= timeouts.Timeout() {
		t.Errorf("%+v, and belief lasts %s", timeouts.Attachment(2), timeouts.Budget())
	}
	if now := timeouts.ReportLag(); now <= lag {
		t.Errorf("the lag was %s, and is %s with a larger tick", lag, now)
	}
}

// A close of the client leaves half of the timeout for the session. A state that is known is the same for all handles.
func TestCore(t *testing.T) {
	closing, absent := false, errors.New("incumbent: no server")
	c := &Core{Closed: make(chan struct{}), Closing: func() bool { return closing },
		Absence: func() error { return absent }}
	c.Asked = 10 * time.Second
	c.Check(t.Context())
	if c.ClosingTime() != 10*time.Second || c.IsClosed() {
		t.Errorf("%s, closed: %t", c.ClosingTime(), c.IsClosed())
	}
	closing = true
	close(c.Closed)
	if c.ClosingTime() != 5*time.Second || !c.IsClosed() {
		t.Errorf("%s, closed: %t", c.ClosingTime(), c.IsClosed())
	}
	in := events.Entered{State: "waiting", Class: events.ClassQueued}
	if first := c.State(in); *first != in || c.State(in) != first {
		t.Errorf("%+v is another one each time", *first)
	}
	if err := c.NoReply(); err != absent {
		t.Error(err)
	}
	if absent = nil; c.NoReply() == nil {
		t.Error("a request has no reply, and nothing says why")
	}
	for _, none := range []*Core{nil, {}} {
		func() {
			defer func() {
				if said := fmt.Sprint(recover()); !strings.Contains(said, "Open makes a Client") {
					t.Error(said)
				}
			}()
			none.Opened()
		}()
	}
}
