package zkio_test

import (
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/virtual"
	"github.com/incumbent-go/incumbent/zkio"
)

// No answer is taken for that to a close request that was not sent, whatever its number: the session goes on.
func TestNoAnswerEndsASessionThatIsNotClosed(t *testing.T) {
	for _, through := range []bool{false, true} {
		virtual.Test(t, func(t *testing.T) {
			numbers := []int32{-2000, -1000, -999, -11, -8, -4, -3, 0, 1, 2, 1 << 30, 1<<31 - 1, -1 << 31}
			r := badServerRig(t, zkio.Config{ThroughConn: through}, func(v badServer) {
				for _, xid := range numbers {
					v.send(frame(xid, 5, ""))
				}
				for {
					xid, _, err := v.request()
					if err != nil || !v.send(frame(xid, 5, "\x00\x00\x00\x00")) {
						return
					}
				}
			})
			r.await(events.ConnectionAttached)
			synctest.Wait()
			if rest := r.rest(); len(rest) > 0 {
				t.Errorf("posted: %+v", rest)
			}
			if got := r.ask(events.Sync{Call: r.call(), Path: "/"}); got.Code != events.OK {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// A server that goes on sending is not silent, also if no piece of what it sends ends with a frame.
func TestFramesInPiecesAreNoSilence(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		const cut = 10
		pong := frame(-2, 5, "")
		r := badServerRig(t, zkio.Config{}, func(v badServer) {
			go func() { _, _ = io.Copy(io.Discard, v) }()
			v.send(pong[:cut])
			for v.send(append(pong[cut:len(pong):len(pong)], pong[:cut]...)) {
				virtual.Sleep(time.Second)
			}
		})
		r.await(events.ConnectionAttached)
		virtual.Sleep(time.Minute)
		if rest := r.rest(); len(rest) > 0 {
			t.Errorf("posted: %+v", rest)
		}
	})
}
