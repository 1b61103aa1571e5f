package zkio_test

import (
	"testing"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

// A code that says nothing of the login, and the end of a connection in one, end only the connection.
func TestWhatIsNoRefusalOfALogin(t *testing.T) {
	const closed = 1
	for want, code := range map[string]int32{
		"the SASL login by MADE-UP (ann) failed, and is tried again: the server answered with THROTTLEDOP":    -127,
		"the SASL login by MADE-UP (ann) failed, and is tried again: the server answered with SESSIONMOVED":   -118,
		"the SASL login by MADE-UP (ann) failed, and is tried again: the server answered with CONNECTIONLOSS": -4,
		"in the SASL login by MADE-UP (ann): closed by the server":                                            closed,
	} {
		t.Run(want, func(t *testing.T) {
			virtual.Test(t, func(t *testing.T) {
				m, srv := twoTokens()
				asked, next := 0, srv.next
				srv.next = func(token string) ([]byte, int32) {
					if asked++; asked > 1 {
						return next(token)
					}
					if code == closed {
						srv.cut()
					}
					return nil, code
				}
				r := saslRig(t, m, srv)
				e := r.await(events.ConnectionRefused, events.ConnectionLost)
				if e.Kind != events.ConnectionRefused || e.Code != events.ConnectionLoss ||
					e.Text != "zk.example:2181: "+want {
					t.Errorf("%s %s %q, want %q", e.Kind, e.Code, e.Text, want)
				}
				r.await(events.ConnectionAttached)
			})
		})
	}
}
