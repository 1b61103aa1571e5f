package incumbent

import (
	"context"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// A client that is closed during an outage logs nothing afterwards.
func TestNothingIsLoggedAfterClose(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		log := &sharedLog{}
		n := w.start(func(c *Config) { c.Logger = zerolog.New(log) })
		n.cut()
		pass(2 * time.Second)
		n.outages.mu.Lock()
		n.outages.begin() // one that does not settle
		now := n.outages.present
		now.affected[&participant{}], now.unsettled, now.logged = "suspended", 1, true
		n.outages.wait()
		n.outages.mu.Unlock()
		if err := n.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		before := log.String()
		if pass(time.Hour); log.String() != before {
			t.Errorf("after Close: %s", log.String()[len(before):])
		}
	})
}
