package door_test

import (
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// A function that ends its goroutine does not end the others' calls, and the log says so.
func TestAListenerThatEndsItsGoroutineIsLogged(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		logged := &lines{}
		var calls atomic.Int32
		n := w.start(func(c *incumbent.Config) { c.Logger = zerolog.New(logged) })
		n.OnConnection(func(incumbent.ConnectionState) {
			calls.Add(1)
			runtime.Goexit()
		})
		synctest.Wait()
		n.cut()
		synctest.Wait()
		if calls.Load() < 2 || len(logged.with("runtime.Goexit")) < 2 {
			t.Errorf("%d calls, and the log: %s", calls.Load(), logged.with(""))
		}
	})
}
