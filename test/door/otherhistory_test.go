package door_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// A client whose address leads to another ensemble notices that if that one is younger, and says so once for each time.
// An ensemble that is the same after an expiry or a restart is no other one.
func TestAnotherEnsembleBehindTheSameName(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		other := zkmem.New(zkmem.Options{})
		t.Cleanup(func() {
			other.Close()
			synctest.Wait()
		})
		for range 50 {
			if _, err := w.srv.Create("/old-", nil, zkmem.PersistentSequential); err != nil {
				t.Fatal(err)
			}
		}
		log, at := &lines{}, w.srv
		c := w.open(timeouts(10*time.Second, 2*time.Second), logInto(log), func(config *incumbent.Config) {
			config.Dial = func(context.Context, string, string) (net.Conn, error) {
				here, there := net.Pipe()
				go at.ServeConn(there)
				return here, nil
			}
		})
		warnings := func() int {
			log.mu.Lock()
			defer log.mu.Unlock()
			return strings.Count(strings.Join(log.all, "\n"), "transactions go back")
		}
		// session asks for something in a new session at this server.
		session := func(srv *zkmem.Server) {
			t.Helper()
			before, id, last := c.Stats().Session, c.SessionID(), at
			at = srv
			if id != 0 {
				last.ExpireSession(id)
				last.Disconnect(id)
			}
			for c.Stats().Session == before || c.Connection() != incumbent.Connected &&
				c.Connection() != incumbent.Reconnected {
				pass(time.Second)
			}
			if _, err := c.Exists("/").Do(within(t, time.Minute)); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		for i, step := range []struct {
			srv  *zkmem.Server
			want int
		}{{w.srv, 0}, {w.srv, 0}, {other, 1}, {other, 1}, {w.srv, 1}, {other, 2}} {
			session(step.srv)
			if n, counted := warnings(), c.Stats().OtherHistories; n != step.want || counted != uint64(step.want) {
				t.Errorf("session %d: %d warnings, %d counted, want %d", i, n, counted, step.want)
			}
		}
		at = w.srv
	})
}
