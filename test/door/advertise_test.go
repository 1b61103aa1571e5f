package door_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// ephemerals returns all nodes of sessions, sorted.
func (w *world) ephemerals() (paths []string) {
	for _, s := range w.srv.Sessions() {
		paths = append(paths, s.Ephemerals...)
	}
	slices.Sort(paths)
	return paths
}

// addresses returns what the addresses in the nodes of sessions say.
func (w *world) addresses() (all []string) {
	for _, path := range w.ephemerals() {
		if strings.HasPrefix(path, "/line-addresses/") {
			data, _, _ := w.srv.Snapshot().Get(path)
			all = append(all, string(data))
		}
	}
	return all
}

// advertising starts a latch in /line that advertises an address.
func advertising(t *testing.T, n *node, address string) *incumbent.Latch {
	t.Helper()
	latch := must(n.Latch("/line", incumbent.LatchOptions{ID: address, Advertise: address}))
	if err := latch.Start(); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	return latch
}

// addressOf returns the address of the first in a line.
func addressOf(t *testing.T, n *node, path string, prefixes ...string) string {
	t.Helper()
	line := must(n.Line(t.Context(), path, prefixes...))
	first, _ := line.First()
	return must(n.Address(t.Context(), first))
}

// Each participant has one address, whatever happens to its place.
func TestAnAddressIsThereAsLongAsThePlace(t *testing.T) {
	for _, disabled := range []incumbent.Optimizations{{}, {OneFlight: true}} {
		bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
			n := w.open(func(c *incumbent.Config) { c.Disable = disabled })
			a, b := advertising(t, n, "host-a:1"), advertising(t, n, "https://host-b")
			expect := func(when, first string, all ...string) {
				t.Helper()
				synctest.Wait()
				if got := addressOf(t, n, "/line"); got != first {
					t.Errorf("%s the first answers at %q, want %q", when, got, first)
				}
				if got := w.addresses(); !slices.Equal(slices.Sorted(slices.Values(got)), all) {
					t.Errorf("%s the addresses are %q, want %q", when, got, all)
				}
			}
			expect("at first", "host-a:1", "host-a:1", "https://host-b")
			if err := a.Resign(t.Context()); err != nil {
				t.Fatal(err)
			}
			expect("after a resign", "https://host-b", "host-a:1", "https://host-b")
			first, _, _ := b.First(t.Context())
			if err := n.Evict(t.Context(), first); err != nil {
				t.Fatal(err)
			}
			expect("after an eviction", "host-a:1", "host-a:1", "https://host-b")
			w.srv.ExpireSession(w.srv.Sessions()[0].ID)
			pass(time.Minute)
			if got := w.addresses(); len(got) != 2 {
				t.Errorf("after an expiry the addresses are %q", got)
			}
			if err := errors.Join(a.Close(t.Context()), b.Close(t.Context())); err != nil {
				t.Fatal(err)
			}
			if got := w.ephemerals(); len(got) > 0 {
				t.Errorf("after the close there are %q", got)
			}
		})
	}
}

// Where names have no GUID, the address is found by the session and the prefix.
func TestAPlainElectionAdvertises(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		e := must(n.Election("/line", "n_", incumbent.LatchOptions{Advertise: "host-a:1"}))
		if err := e.Start(); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			synctest.Wait()
			if got, all := addressOf(t, n, "/line", "n_"), w.addresses(); got != "host-a:1" || len(all) != 1 {
				t.Errorf("it answers at %q, and the addresses are %q", got, all)
			}
			first, _, _ := e.First(t.Context())
			if err := n.Evict(t.Context(), first); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Whatever is at its path, only the node of the participant's own session is its address.
func TestAnothersNodeIsNoAddress(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		advertising(t, n, "host-a:1")
		path := w.ephemerals()[0]
		if !strings.HasPrefix(path, "/line-addresses/") {
			t.Fatalf("the nodes are %q", w.ephemerals())
		}
		if err := w.srv.Set(path, []byte("a\x1b[2Jb")); err != nil {
			t.Fatal(err)
		}
		first, _ := must(n.Line(t.Context(), "/line")).First()
		_, err := n.Address(t.Context(), first)
		mustSay(t, err, path, `a\x1b[2Jb`, "10.0.0.7:8080")
		if err := w.srv.Delete(path); err != nil {
			t.Fatal(err)
		}
		if got := addressOf(t, n, "/line"); got != "" {
			t.Errorf("a deleted one is %q", got)
		}
		must(w.srv.Create(path, []byte("host-z:1"), zkmem.Persistent))
		if got := addressOf(t, n, "/line"); got != "" {
			t.Errorf("another's is %q", got)
		}
		if got := must(n.Address(t.Context(), incumbent.Participant{})); got != "" {
			t.Errorf("no participant answers at %q", got)
		}
	})
}

// Without its address, a leader could not be found: the participant is in no line, and says why.
func TestNoPlaceWithoutItsAddress(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		owner, n := w.open(identified(t, "secret:word")), w.open()
		for _, path := range []string{"/line", "/line-addresses"} {
			must(owner.Create(path, nil).ACL(incumbent.WorldAll()...).Do(t.Context()))
		}
		must(owner.SetACL(t.Context(), "/line-addresses", readOnly(), 0))
		latch := advertising(t, n, "host-a:1")
		if got := w.ephemerals(); len(got) > 0 {
			t.Errorf("there are %q", got)
		}
		mustBe(t, latch.Err(), incumbent.ErrNoAuth)
		mustSay(t, latch.Err(), "/line-addresses/_c_")
		must(owner.SetACL(t.Context(), "/line-addresses", incumbent.WorldAll(), 1))
		pass(time.Minute)
		if !latch.HasLeadership() || latch.Err() != nil {
			t.Errorf("with the right it leads: %t, %v", latch.HasLeadership(), latch.Err())
		}
	})
}

func TestWrongAddressesAreRefused(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		for bad, want := range map[string]string{"host a:1": "host a:1", "a\nb": `a\nb`, "\xff": `\xff`,
			strings.Repeat("x", 1025): "1025 bytes"} {
			options := incumbent.LatchOptions{Advertise: bad}
			work := func(*incumbent.Leadership) error { return nil }
			for _, err := range []error{err(n.Latch("/l", options)), err(n.Election("/l", "n_", options))} {
				mustSay(t, err, "LatchOptions.Advertise", want, "10.0.0.7:8080")
			}
			mustSay(t, err(n.Selector("/l", work, incumbent.SelectorOptions{Advertise: bad})),
				"SelectorOptions.Advertise", want, "10.0.0.7:8080")
		}
	})
}
