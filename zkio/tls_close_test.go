package zkio_test

import (
	"crypto/tls"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio"
)

// An end of a connection by TLS waits for nobody: the loop, which ends sessions, never waits for room in a socket.
func TestTheEndOfATLSConnectionDoesNotWaitForTheServer(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		cert, key := certificate(t, "odd") // valid by the bubble's clock
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			t.Fatal(err)
		}
		r := unservedRig(t, zkio.Config{TLS: &zkio.TLS{CA: cert}}, func(v badServer) {
			greet(tls.Server(v.Conn, &tls.Config{Certificates: []tls.Certificate{pair}}))
			virtual.Sleep(time.Minute) // it reads no more
		})
		r.Execute(events.SessionMachine, events.Connect{Session: 1})
		if got := r.await(events.ConnectionAttached, events.ConnectionRefused); got.Kind != events.ConnectionAttached {
			t.Fatalf("got %+v", got)
		}
		synctest.Wait()
		begun := time.Now()
		r.Execute(events.SessionMachine, events.Abandon{Session: 1})
		if took := time.Since(begun); took > 0 {
			t.Errorf("the loop waited for %v", took)
		}
	})
}
