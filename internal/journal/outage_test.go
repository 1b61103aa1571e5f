package journal

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

// member is a participant in a state of a class.
type member struct{ is events.Class }

func (m *member) Path() string        { return "/line" }
func (m *member) Class() events.Class { return m.is }
func (m *member) Leads() bool         { return false }

// An outage that does not settle is reported when its time is over, but not of a client that was closed before.
func TestNothingIsLoggedAfterClose(t *testing.T) {
	for name, closed := range map[string]bool{"open": false, "closed": true} {
		t.Run(name, func(t *testing.T) {
			virtual.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				o := &Outages{Log: New(zerolog.New(&log), ""), Now: func() int64 { return 0 },
					Timeout: func() time.Duration { return 10 * time.Second }}
				last := &member{events.ClassBlocked}
				o.Members = func(yield func(Member) bool) {
					for range maxOutageLines {
						yield(&member{events.ClassBlocked})
					}
					yield(last)
				}
				if o.Disconnected() {
					t.Error("nobody led")
				}
				if level := o.Level(last, zerolog.WarnLevel); level != zerolog.DebugLevel {
					t.Errorf("a line of one of many is at level %s", level)
				}
				o.Reconnected()
				if closed {
					o.Close()
				}
				virtual.Sleep(time.Minute)
				synctest.Wait()
				lines := strings.Count(log.String(), "\n")
				if ends := strings.Contains(log.String(), "outage over"); ends == closed || lines > 2 {
					t.Errorf("the log has %d lines:\n%s", lines, log.String())
				}
			})
		})
	}
}
