package zkio_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio"
)

// A server that closes the connection within an answer closes it, as one does that closes it between two: the reason
// that is reported is the same.
func TestAConnectionThatEndsWithinAnAnswerIsClosedByTheServer(t *testing.T) {
	answer := frame(1, 5, strings.Repeat("\x00", 4+68))
	for _, sent := range []int{0, 2, 4, 12, 20, len(answer) - 1} { // the length has 4 bytes, the head 16
		t.Run(fmt.Sprint(sent, " bytes"), func(t *testing.T) {
			virtual.Test(t, func(t *testing.T) {
				r := badServerRig(t, zkio.Config{}, func(v badServer) {
					if _, _, err := v.request(); err == nil && sent > 0 {
						v.send(answer[:sent])
					}
				})
				r.await(events.ConnectionAttached)
				r.Execute(machine, events.Children{Call: r.call(), Path: "/"})
				if got, want := r.await(events.ConnectionSuspended).Text,
					"odd:2181: closed by the server"; got != want {
					t.Errorf("suspended: %q, want %q", got, want)
				}
			})
		})
	}
}
