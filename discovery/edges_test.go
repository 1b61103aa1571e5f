package discovery_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/discovery"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// The first and the last port are ones, and 0 is none; the next ones are refused, by the writer and by the reader.
func TestPortsAtTheirBounds(t *testing.T) {
	for port, want := range map[int]bool{-1: false, 0: true, 1: true, 65535: true, 65536: false} {
		plain, secure := billing(), billing()
		plain.Port, secure.SSLPort = port, port
		for _, i := range []discovery.Instance{plain, secure} {
			if _, err := i.Encode(); (err == nil) != want {
				t.Errorf("ports %d and %d are written: %v", i.Port, i.SSLPort, err)
			}
		}
		for _, name := range []string{"port", "sslPort"} {
			data := fmt.Sprintf(`{"name":"billing","id":"1","serviceType":"DYNAMIC",%q:%d}`, name, port)
			if _, err := discovery.Decode([]byte(data)); (err == nil) != want {
				t.Errorf("%s is read: %v", data, err)
			}
		}
	}
}

// Instances that are down have an order.
func TestDownInstancesAreSorted(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		own := w.open()
		var want []string
		for n := range 20 {
			want = append(want, fmt.Sprintf("i%02d", n))
			own.register(orders(want[n]))
		}
		p := must(own.cache("orders").Provider(discovery.ProviderOptions{Down: discovery.DownPolicy{Threshold: 1}}))
		for _, f := range p.All() {
			p.NoteError(f)
		}
		if got := p.Down(); !slices.Equal(got, want) {
			t.Errorf("down: %q", got)
		}
	})
}

// A view whose order was read is read again after a change.
func TestAViewIsReadAgain(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		own := w.open()
		cache := own.cache("orders")
		for _, id := range []string{"b", "a", "c"} {
			own.register(orders(id))
			pass(time.Second)
			first, second := nodes(cache.View().Instances), nodes(cache.View().Instances)
			if first != second || !strings.Contains(first, id) {
				t.Errorf("after %s: %q, then %q", id, first, second)
			}
		}
		same(t, "all", nodes(cache.View().Instances), "a b c")
	})
}

// Close ends with its context, and says so, while a loop over the cache's feed goes on; the next Close waits for that.
func TestCloseOfACacheEndsWithItsContext(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		own := w.open()
		cache := own.cache("orders")
		ctx, cancel := context.WithCancelCause(t.Context())
		enough := errors.New("enough")
		cancel(enough)
		is(t, cache.Close(ctx), enough)
		fine(t, cache.Close(t.Context()))
	})
}

// A feed of a service leaves no handle behind when its loop ends, and another loop sets no more watches.
func TestAFeedOfAServiceLeavesNothing(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		own, reader := w.open(), w.open()
		own.register(orders("a"))
		pass(time.Second)
		watches := func() (n int) {
			w.srv.View(func(v *zkmem.View) { n = v.WatchCount() })
			return n
		}
		after := 0
		for round := range 3 {
			for view, err := range reader.Watch(t.Context(), "orders") {
				fine(t, err)
				if len(view.Instances) == 1 {
					break
				}
			}
			pass(time.Second)
			same(t, "handles", discovery.Handles(reader.Discovery), 0)
			if round == 0 {
				after = watches()
			}
		}
		same(t, "watches", watches(), after)
	})
}
