package calls

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"

	"github.com/incumbent-go/incumbent/events"
)

var errEnded = errors.New("ended")

// newClient returns a client whose loop takes every command, and the numbers of those that it took.
func newClient() (c *Client, posted *[]uint64) {
	posted = new([]uint64)
	return &Client{Closed: make(chan struct{}), Ended: errEnded, Post: func(_ events.ID, ev events.Event) bool {
		*posted = append(*posted, ev.Request)
		return true
	}}, posted
}

// A call that is given up leaves nothing, and the reply that comes later is nobody's.
func TestCommandsGivenUpLeaveNothing(t *testing.T) {
	client, posted := newClient()
	var c Commands
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("the caller has gone")
	cancel(cause)
	for range 3 {
		if _, err := c.Ask(ctx, client, "latch-1", events.Event{}); !errors.Is(err, cause) {
			t.Errorf("%v, want the cause", err)
		}
	}
	if len(c.open) != 0 || !slices.Equal(*posted, []uint64{1, 2, 3}) {
		t.Errorf("%d commands are open, and %d were posted", len(c.open), *posted)
	}
	if c.Deliver(2, Reply{}) {
		t.Error("somebody got the reply")
	}
}

// The last answer comes just before the machine closes: it is the result of the call. A closed machine gets no command.
func TestTheLastAnswerCounts(t *testing.T) {
	client, posted := newClient()
	var c Commands
	n, ch, err := c.Begin(client, "latch-1", events.Event{})
	if err != nil {
		t.Fatal(err)
	}
	refused := errors.New("refused")
	c.Deliver(n, Reply{Err: refused})
	c.End(client)
	if r, err := c.Wait(t.Context(), client, n, ch); err != nil || r.Err != refused {
		t.Errorf("%v, %v", r.Err, err)
	}
	if _, err := c.Ask(t.Context(), client, "latch-1", events.Event{}); err != errEnded || len(*posted) != 1 {
		t.Errorf("%v, and %d commands were posted", err, len(*posted))
	}
}

// A machine answers each command once, whether its caller still waits or not.
func TestAnAnswerThatComesTwiceIsReported(t *testing.T) {
	client, _ := newClient()
	broken := 0
	c := Commands{Broken: func(string, string, ...any) { broken++ }}
	first, _ := c.Reserve(client)
	second, _ := c.Reserve(client)
	c.Drop(second)
	for i, n := range []uint64{first, second, first, second} {
		c.Deliver(n, Reply{})
		if want := max(0, i-1); broken != want {
			t.Errorf("answer %d: %d are broken, want %d", i+1, broken, want)
		}
	}
}

// A reply's channel is used again once its reply was received, and at most 16 are kept. A command that got no reply
// may still get one: its channel is not used again.
func TestReplyChannelsAreUsedAgain(t *testing.T) {
	client, _ := newClient()
	var c Commands
	used := map[chan Reply]bool{}
	for range 3 {
		n, ch, err := c.Begin(client, "latch-1", events.Event{})
		if err != nil || !c.Deliver(n, Reply{}) {
			t.Fatal(err)
		}
		<-ch
		client.PutBack(ch)
		used[ch] = true
	}
	if len(used) != 1 || used[nil] {
		t.Errorf("three calls, one after the other, had %d channels", len(used))
	}
	var open []chan Reply
	for range 20 {
		_, ch := c.Reserve(client)
		open = append(open, ch)
	}
	for n, ch := range open {
		c.Drop(uint64(n + 4))
		client.PutBack(ch)
	}
	for i := range open {
		_, ch := c.Reserve(client)
		if again := slices.Contains(open, ch); again != (i < 16) || ch == nil {
			t.Errorf("channel %d is used again: %t", i, again)
		}
	}
}

// A handle that had several commands open keeps no memory for them; one that has one at a time keeps its place.
func TestCommandsKeepRoomForOne(t *testing.T) {
	client, _ := newClient()
	for open := 1; open < 5; open++ {
		var c Commands
		for range open {
			c.Reserve(client)
		}
		for n := range open {
			if !c.Drop(uint64(n+1)) || c.Drop(uint64(n+1)) {
				t.Errorf("command %d of %d is dropped twice, or never", n+1, open)
			}
		}
		if kept := cap(c.open); kept > 1 || kept == 1 != (open == 1) {
			t.Errorf("after %d commands there is room for %d", open, kept)
		}
	}
}

// A machine that refused to open answers nothing: the commands that wait, and every later one, get the reason.
func TestARefusalEndsAllCommands(t *testing.T) {
	client, posted := newClient()
	var c Commands
	n, ch, err := c.Begin(client, "latch-1", events.Event{})
	if err != nil {
		t.Fatal(err)
	}
	refused := errors.New("refused")
	c.Refuse(refused)
	late, lateCh, err := c.Begin(client, "latch-1", events.Event{})
	if err != nil {
		t.Fatal(err)
	}
	c.End(client)
	if r, err := c.Wait(t.Context(), client, n, ch); err != nil || r.Err != refused {
		t.Errorf("%v, %v", r.Err, err)
	}
	if _, err := c.Wait(t.Context(), client, late, lateCh); err != refused {
		t.Error(err)
	}
	if _, err := c.Ask(t.Context(), client, "latch-1", events.Event{}); err != refused || len(*posted) != 2 {
		t.Errorf("%v, and %d commands were posted", err, len(*posted))
	}
	last, lastCh := c.Reserve(client)
	_, err = c.Wait(t.Context(), client, last, lastCh)
	if err != refused || !c.Drop(last) || c.Deliver(last, Reply{}) {
		t.Errorf("a command after the end: %v", err)
	}
}

// The command that closes a machine returns after its answer and the machine's end: nil, also if the wait for the end
// ends before.
func TestTheLastCommandWaitsForTheEnd(t *testing.T) {
	for _, ends := range []string{"end", "give up", "context", "before"} {
		client, _ := newClient()
		var c Commands
		ctx, cancel := context.WithCancel(t.Context())
		n, ch, err := c.Begin(client, "latch-1", events.Event{})
		if err != nil {
			t.Fatal(err)
		}
		c.Deliver(n, Reply{})
		if ends == "before" {
			c.End(client)
		}
		done := make(chan error)
		go func() { done <- c.WaitEnd(ctx, client, n, ch) }()
		if ends != "before" {
			for waits := false; !waits; { // until it waits for the end
				c.mu.Lock()
				waits = len(c.open) == 1
				c.mu.Unlock()
				runtime.Gosched()
			}
			if c.Deliver(n, Reply{}) {
				t.Error("the command is answered twice")
			}
		}
		switch ends {
		case "end":
			c.End(client)
		case "give up":
			c.GiveUp(n, errEnded)
		case "context":
			cancel()
		}
		if err := <-done; err != nil {
			t.Errorf("%s: %v", ends, err)
		}
		c.End(client)
		select {
		case <-c.Ended():
		default:
			t.Errorf("%s: the machine has not ended", ends)
		}
		cancel()
	}
}

// A command that is given up returns why, and its answer is nobody's.
func TestACommandIsGivenUp(t *testing.T) {
	client, _ := newClient()
	broken := 0
	c := Commands{Broken: func(string, string, ...any) { broken++ }}
	n, ch, err := c.Begin(client, "latch-1", events.Event{})
	if err != nil {
		t.Fatal(err)
	}
	late := errors.New("it takes too long")
	c.GiveUp(n, late)
	if err := c.WaitEnd(t.Context(), client, n, ch); err != late || c.Deliver(n, Reply{}) || broken != 0 {
		t.Errorf("%v, and %d are broken", err, broken)
	}
	ended := c.Ended()
	c.End(client)
	<-ended
	c.GiveUp(n, late)
}
