package door_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"reflect"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

var errEnough = errors.New("enough")

// endedCall returns the error of a call whose context ends, with the cause errEnough, when
// the call can go on no further without it.
func endedCall(t *testing.T, do func(context.Context) error) error {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	result := make(chan error, 1)
	go func() { result <- do(ctx) }()
	synctest.Wait()
	cancel(errEnough)
	return <-result
}

// mustWait checks the text of an error, and that it is the end of the context, by both names.
func mustWait(t *testing.T, err error, text string) {
	t.Helper()
	if err == nil || err.Error() != text {
		t.Errorf("\n got %v\nwant %s", err, text)
	}
	if !errors.Is(err, errEnough) || !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v: errors.Is does not find the context's cause and Err", err)
	}
}

// comesLater makes a client whose server does not answer before up is set.
func comesLater(up *atomic.Bool) func(*incumbent.Config) {
	return func(c *incumbent.Config) {
		dial := c.Dial
		c.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			if !up.Load() {
				return nil, errors.New("no route to host")
			}
			return dial(ctx, network, addr)
		}
	}
}

// eachCall calls every call in a world of its own, where trouble has begun.
func eachCall(t *testing.T, trouble func(*world) (c *incumbent.Client, end func()),
	check func(*testing.T, waitingCall, func(context.Context) error)) {
	bubbles := 1
	for i := 0; i < bubbles; i++ {
		bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
			c, end := trouble(w)
			calls := waitingCalls(t, c)
			bubbles = len(calls)
			synctest.Wait()
			check(t, calls[i], calls[i].do)
			end()
		})
	}
}

// Without a server each call waits for a connection, and its error says so, with the reason.
func TestCallsWithoutAServer(t *testing.T) {
	eachCall(t, func(w *world) (*incumbent.Client, func()) {
		up := &atomic.Bool{}
		return w.open(comesLater(up)).Client, func() { up.Store(true) }
	}, func(t *testing.T, one waitingCall, do func(context.Context) error) {
		err := endedCall(t, do)
		text := "incumbent: " + one.called + ": not connected to 192.0.2.1:2181: no route to host"
		if !errors.Is(err, incumbent.ErrNotConnected) || !incumbent.Retryable(err) {
			t.Errorf("%s: %v is not ErrNotConnected", one.name, err)
		}
		mustWait(t, err, text+": enough")
	})
}

// While the server is silent, the error of each call says what the call waits for.
func TestCallsToASilentServer(t *testing.T) {
	eachCall(t, func(w *world) (*incumbent.Client, func()) {
		n := w.open()
		synctest.Wait()
		w.srv.Freeze(zkmem.Outbound)
		return n.Client, w.srv.Heal
	}, func(t *testing.T, one waitingCall, do func(context.Context) error) {
		err := endedCall(t, do)
		text := "incumbent: " + one.called + ": " + one.hangs + ": enough"
		if path, runs := strings.CutPrefix(one.called, "run "); runs { // it closes, too, and the node may exist
			text += "; incumbent: close " + path + ": its node is not deleted yet: enough (it is tried again by itself)"
		}
		mustWait(t, err, text)
		if unknown := strings.Contains(one.hangs, "unknown"); errors.Is(err, incumbent.ErrOutcomeUnknown) != unknown ||
			errors.Is(err, incumbent.ErrNotConnected) {
			t.Errorf("%v: its outcome is unknown: want %t", err, unknown)
		}
	})
}

// begun are the calls that wait for what their handle does without them, or do something without their context.
var begun = regexp.MustCompile(`^(await|elect leader|is leader|execute in|run|wait present|set data|` +
	`wait ready|wait /gone$|flush|put later)`)

// A call whose context has ended before does nothing, and its error says so.
func TestCallsWithAnEndedContext(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		synctest.Wait()
		ended, cancel := context.WithCancelCause(t.Context())
		cancel(errEnough)
		for _, one := range waitingCalls(t, n.Client) {
			if !begun.MatchString(one.called) {
				mustWait(t, one.do(ended), "incumbent: "+one.called+": its context had ended before the call: enough")
			}
		}
	})
}

// withoutWait are the methods with a context that are in no table here.
var withoutWait = map[string]string{
	"Client.Watch": "a feed does not yield the context's end", "Client.WatchLeader": "as Watch",
	"Client.WatchNode":     "a feed",
	"Client.WatchChildren": "a feed", "Client.WatchMembers": "a feed", "Membership.Watch": "a feed",
	"SharedCount.Watch": "a feed", "TreeCache.Changes": "a feed", "Client.Probe": "TestALoopThatHangsFailsTheProbe",
	"Client.WaitConnected": "TestWaitConnectedSaysWhy", "Election.Run": "as Latch.Run",
	"JobElection.Run": "as Latch.Run", "NodeElection.Run": "as Latch.Run",
	"NodeElection.Resign": "as Latch.Resign",
	"Latch.Resign":        "TestCallsUnderATerm", "Election.Resign": "as Latch.Resign",
	"JobElection.RemoveLeader": "as Latch.Resign", "DoubleBarrier.Leave": "TestMeetingsSayWhy",
	"Leadership.Write": "TestCallsUnderATerm", "Hold.Write": "as Leadership.Write",
	"WriteHold.Write": "as Leadership.Write", "Hold.Unlock": "TestCallsUnderATerm",
	"WriteHold.Unlock": "as Hold.Unlock", "WriteHold.Downgrade": "TestCallsUnderATerm",
	"Holder.Unlock": "as Hold.Unlock", "ReadWriteHolder.Unlock": "as Hold.Unlock",
	"ReadWriteHolder.RUnlock": "as Hold.Unlock", "MultiHold.Unlock": "as Hold.Unlock",
	"Shards.Run": "the context's end is no error", "Shards.Assignment": "a feed", "Shard.Write": "as Leadership.Write",
	"Job.Run": "the context's end is no error", "Job.Trigger": "TestJobHandsOver",
}

// Every method that takes a context is in a table of these tests, or is known not to wait.
func TestEveryWaitingCallIsListed(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		listed := map[string]bool{}
		for _, one := range waitingCalls(t, w.open().Client) {
			listed[one.name] = true
		}
		same := strings.NewReplacer("PriorityQueue.", "Queue.", "DelayQueue.", "Queue.", "IDQueue.", "Queue.",
			"QueueWriter.", "Queue.", "Task.Background", "Request.Background",
			"SetRequest.Background", "Request.Background", "CreateRequest.Background", "Request.Background",
			"DeleteRequest.Background", "Request.Background")
		for _, typ := range handleTypes() {
			name, _, _ := strings.Cut(typ.Name(), "[")
			for _, m := range methods(reflect.PointerTo(typ)) {
				call := name + "." + m.Name
				if !takesContext(m.Type) || strings.HasPrefix(m.Name, "Close") || withoutWait[call] != "" ||
					listed[call] || listed[same.Replace(call)] {
					continue
				}
				t.Errorf("%s takes a context, and no test here says what its error has", call)
			}
		}
	})
}

func TestWaitConnectedSaysWhy(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		up := &atomic.Bool{}
		n := w.open(comesLater(up))
		err := endedCall(t, n.WaitConnected)
		mustWait(t, err, "incumbent: not connected to 192.0.2.1:2181: no route to host (enough)")
		if !errors.Is(err, incumbent.ErrNotConnected) {
			t.Error(err)
		}
		up.Store(true)
		fails(t, n.WaitConnected(t.Context()))
		fails(t, n.Close(t.Context()))
		if err := n.WaitConnected(t.Context()); !errors.Is(err, incumbent.ErrClosed) ||
			fmt.Sprint(err) != "incumbent: wait connected: closed" {
			t.Error(err)
		}
	})
}
