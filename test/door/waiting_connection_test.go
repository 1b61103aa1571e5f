package door_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// done reports whether a call was answered by the server, in which there is nothing yet.
func done(err error) bool {
	return err == nil || errors.Is(err, incumbent.ErrNotInLine) || errors.Is(err, incumbent.ErrNoNode) ||
		errors.Is(err, incumbent.ErrJobConfig)
}

// A call that no machine sends waits for a connection, before the first one and after one, and is carried out on the
// next.
func TestCallsWaitForAConnection(t *testing.T) {
	for when, connected := range map[string]bool{"before the first connection": false, "after a connection": true} {
		t.Run(when, func(t *testing.T) {
			tried := 0
			up := &atomic.Bool{}
			eachCall(t, func(w *world) (*incumbent.Client, func()) {
				up = &atomic.Bool{}
				up.Store(connected)
				n := w.open(comesLater(up))
				if connected {
					fails(w.t, n.WaitConnected(w.t.Context()))
					up.Store(false)
					n.cut()
				}
				return n.Client, func() {}
			}, func(t *testing.T, one waitingCall, do func(context.Context) error) {
				defer up.Store(true)
				if !waitsToSend[one.name] {
					return
				}
				tried++
				result := make(chan error, 1)
				go func() { result <- do(t.Context()) }()
				synctest.Wait()
				select {
				case err := <-result:
					t.Fatalf("%s did not wait: %v", one.name, err)
				default:
				}
				up.Store(true)
				if err := <-result; !done(err) {
					t.Errorf("%s: %v", one.name, err)
				}
			})
			if tried != len(waitsToSend) {
				t.Errorf("%d calls were tried, want %d", tried, len(waitsToSend))
			}
		})
	}
}

// A read whose connection ends before the reply is sent again on the next. A write is sent once.
func TestReadsAreSentAgain(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		w.start()
		n := w.open()
		fails(t, n.WaitConnected(t.Context()))
		lists, evicts := 0, 0
		w.srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
			switch {
			case r.Session != n.SessionID():
			case r.Op == zkmem.OpGetChildren || r.Op == zkmem.OpGetChildren2:
				if lists++; lists == 1 {
					return zkmem.Verdict{Action: zkmem.CutBefore}
				}
			case r.Op == zkmem.OpMulti:
				if evicts++; evicts != 2 { // two checks, and the delete
					return zkmem.Verdict{Action: zkmem.CutBefore}
				}
			}
			return zkmem.Verdict{}
		})
		line := must(n.Line(t.Context(), "/line")).Participants
		if len(line) != 1 || lists != 2 {
			t.Fatalf("%+v, by %d lists", line, lists)
		}
		if err := n.Evict(t.Context(), line[0]); !errors.Is(err, incumbent.ErrOutcomeUnknown) || evicts != 3 {
			t.Errorf("%v, after %d requests", err, evicts)
		}
		synctest.Wait() // the client has noticed the cut: what closes it waits for a connection
	})
}
