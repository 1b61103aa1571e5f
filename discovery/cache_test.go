package discovery_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/discovery"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// Without the ensemble a cache answers with what it had, and says how old that is; afterwards it is right again.
func TestACacheSaysHowOldItIs(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		own, reader := w.open(), w.open()
		own.register(orders("a"))
		gone := own.register(orders("b"))
		cache := reader.cache("orders")
		p := must(cache.Provider(discovery.ProviderOptions{MaxAge: time.Minute}))
		if v := cache.View(); v.Stale || v.Age != 0 || must(p.Pick()).Age != 0 {
			t.Errorf("with a connection: %+v", v)
		}
		reader.die()
		fine(t, gone.Close(t.Context()))
		pass(40 * time.Second)
		v := cache.View()
		if nodes(v.Instances) != "a b" || !v.Stale || v.Age != 40*time.Second || v.Instances[0].Age != v.Age {
			t.Errorf("without a connection: %+v", v)
		}
		same(t, "age of a pick", must(p.Pick()).Age, 40*time.Second)
		same(t, "age of all", p.All()[1].Age, 40*time.Second)
		pass(21 * time.Second)
		_, err := p.Pick()
		is(t, err, discovery.ErrTooOld)
		reader.refuse(false)
		pass(time.Minute)
		if v := cache.View(); nodes(v.Instances) != "a" || v.Stale || v.Age != 0 {
			t.Errorf("after the outage: %+v", v)
		}
		same(t, "picked", must(p.Pick()).Node, "a")
	})
}

// The feed yields the view once it is whole, and whenever it changes; the newest for a slow reader.
func TestTheFeedOfAService(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		own, reader := w.open(), w.open()
		own.register(orders("a"))
		ctx, cancel := context.WithCancel(t.Context())
		var seen []string
		var ended sync.WaitGroup
		ended.Go(func() {
			for v, err := range reader.Watch(ctx, "orders") {
				seen = append(seen, strings.TrimSpace(fmt.Sprintf("%s %t %v", nodes(v.Instances), v.Stale, err)))
			}
		})
		expect := func(what, want string) {
			t.Helper()
			pass(time.Minute)
			same(t, what, strings.Join(seen, ", "), want)
			seen = nil
		}
		expect("at first", "a false <nil>")
		own.register(orders("b"))
		expect("one more", "a b false <nil>")
		reader.cut()
		expect("after a cut", "a b true <nil>, a b false <nil>")
		w.srv.ExpireSession(own.client.SessionID())
		pass(0)
		if last := seen[len(seen)-1]; last != "a b false <nil>" && last != "false <nil>" {
			t.Errorf("after an expiry: %v", seen)
		}
		cancel()
		ended.Wait()
		fine(t, reader.Close(t.Context())) // has nothing to wait for
	})
}

// A loop over a feed ends with its cache, its Discovery and its client; a provider picks no more.
func TestFeedsEnd(t *testing.T) {
	for what, end := range map[string]func(*program, *discovery.Cache) error{
		"cache":     func(_ *program, c *discovery.Cache) error { return c.Close(context.Background()) },
		"discovery": func(p *program, _ *discovery.Cache) error { return p.Close(context.Background()) },
		"client":    func(p *program, _ *discovery.Cache) error { return p.client.Close(context.Background()) },
	} {
		bubble(t, func(t *testing.T, w *world) {
			p := w.open()
			own := p.register(orders("a"))
			cache := p.cache("orders")
			provider := must(cache.Provider(discovery.ProviderOptions{}))
			var ended sync.WaitGroup
			for range 3 {
				ended.Go(func() {
					for range cache.Watch(context.Background()) {
						_ = cache.View()
					}
				})
			}
			pass(time.Second)
			fine(t, end(p, cache))
			ended.Wait()
			_, err := provider.Pick()
			is(t, err, incumbent.ErrClosed)
			if v := cache.View(); !v.Stale {
				t.Errorf("%s: after the end the view is not stale", what)
			}
			fine(t, cache.Close(context.Background()))
			if what != "client" {
				fine(t, own.Close(context.Background()))
				same(t, "handles that the Discovery keeps", discovery.Handles(p.Discovery), 0)
			}
		})
	}
}

// A cache of too many nodes ends, and a directory that may not be read is an error and not an empty service.
func TestACacheThatCannotRead(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		own := w.open()
		for _, id := range []string{"a", "b", "c"} {
			own.register(orders(id))
		}
		small := must(own.Cache("orders", discovery.CacheOptions{MaxInstances: 2}))
		is(t, small.WaitReady(t.Context()), discovery.ErrTooMany)
		pass(time.Second)
		is(t, small.Err(), discovery.ErrTooMany)
		for _, err := range small.Watch(t.Context()) {
			is(t, err, discovery.ErrTooMany)
			break
		}
		fits := must(own.Cache("orders", discovery.CacheOptions{MaxInstances: 3}))
		fine(t, fits.WaitReady(t.Context()))

		defer w.srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
			if r.Path == "/discovery/secret" {
				return zkmem.Verdict{Action: zkmem.Refuse, Code: zkmem.NoAuth}
			}
			return zkmem.Verdict{}
		})()
		secret := must(own.Cache("secret", discovery.CacheOptions{}))
		p := must(secret.Provider(discovery.ProviderOptions{}))
		for _, err := range secret.Watch(t.Context()) {
			is(t, err, incumbent.ErrNoAuth)
			break
		}
		is(t, secret.Err(), incumbent.ErrNoAuth)
		_, err := p.Pick()
		is(t, err, discovery.ErrNoInstance)
		is(t, err, incumbent.ErrNoAuth)

		defer w.srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
			if r.Path == "/discovery/orders" && r.Op == zkmem.OpGetData {
				return zkmem.Verdict{Action: zkmem.Refuse, Code: zkmem.NoAuth}
			}
			return zkmem.Verdict{}
		})()
		half := must(own.Cache("orders", discovery.CacheOptions{})) // its directory is there, and cannot be read
		for _, err := range half.Watch(t.Context()) {
			is(t, err, incumbent.ErrNoAuth)
			break
		}
		is(t, half.Err(), incumbent.ErrNoAuth)
		soon, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		err = nil
		for _, err = range half.Watch(soon) { // one that begins later, too
			break
		}
		is(t, err, incumbent.ErrNoAuth)
	})
}

// picks returns the nodes of n picks, in one line.
func picks(t *testing.T, p *discovery.Provider, n int) string {
	t.Helper()
	var all []discovery.Found
	for range n {
		all = append(all, must(p.Pick()))
	}
	return nodes(all)
}

func TestStrategies(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		own := w.open()
		kept := map[string]*discovery.Registration{}
		for _, id := range []string{"a", "b", "c"} {
			kept[id] = own.register(orders(id))
		}
		cache := own.cache("orders")
		turns := must(cache.Provider(discovery.ProviderOptions{}))
		seed := func() discovery.Strategy { return discovery.Random(rand.NewPCG(1, 2)) }
		random := must(cache.Provider(discovery.ProviderOptions{Strategy: seed()}))
		again := must(cache.Provider(discovery.ProviderOptions{Strategy: seed()}))
		any := must(cache.Provider(discovery.ProviderOptions{Strategy: discovery.Random(nil)}))
		sticky := must(cache.Provider(discovery.ProviderOptions{Strategy: discovery.Sticky(discovery.RoundRobin())}))
		notB := func(f discovery.Found) bool { return f.Node != "b" }
		odd := must(cache.Provider(discovery.ProviderOptions{Filter: notB}))
		same(t, "round robin", picks(t, turns, 5), "a b c a b")
		drawn := picks(t, random, 30)
		same(t, "random, with the same seed", picks(t, again, 30), drawn)
		for _, id := range []string{"a", "b", "c"} {
			if !strings.Contains(drawn, id) || !strings.Contains(picks(t, any, 200), id) {
				t.Errorf("%s was never drawn: %s", id, drawn)
			}
		}
		same(t, "sticky", picks(t, sticky, 3), "a a a")
		same(t, "filtered", picks(t, odd, 3), "a c a")
		fine(t, kept["a"].Close(t.Context()))
		own.register(orders("bb"))
		pass(time.Second)
		same(t, "round robin goes on", picks(t, turns, 4), "bb c b bb")
		same(t, "sticky has another", picks(t, sticky, 3), "b b b")
		fine(t, kept["b"].Update(t.Context(), discovery.Instance{Disabled: true}))
		pass(time.Second)
		same(t, "one is disabled", picks(t, turns, 4), "c bb c bb")
		same(t, "all but the disabled", nodes(turns.All()), "bb c")
	})
}

// An instance is down after the threshold, until no error has come for the timeout, or it was written again.
func TestDownInstances(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		own := w.open()
		first := own.register(orders("a"))
		own.register(orders("b"))
		cache := own.cache("orders")
		policy := discovery.DownPolicy{Threshold: 2, Timeout: 2 * time.Second}
		p := must(cache.Provider(discovery.ProviderOptions{Down: policy}))
		a := must(p.Pick())
		same(t, "picked", a.Node, "a")
		p.NoteError(a)
		same(t, "one error", picks(t, p, 3), "b a b")
		pass(2 * time.Second) // the first error no longer counts
		p.NoteError(a)
		same(t, "one error again", nodes(p.All()), "a b")
		p.NoteError(a)
		same(t, "two errors", picks(t, p, 3), "b b b")
		same(t, "down", strings.Join(p.Down(), " "), "a")
		pass(1500 * time.Millisecond)
		p.NoteError(a)
		pass(1500 * time.Millisecond)
		same(t, "errors go on", nodes(p.All()), "b")
		pass(500 * time.Millisecond)
		same(t, "it is back", nodes(p.All()), "a b")
		p.NoteError(a)
		same(t, "and begins without errors", nodes(p.All()), "a b")
		p.NoteError(a)
		b := p.All()[0]
		p.NoteError(b)
		p.NoteError(b)
		_, err := p.Pick()
		is(t, err, discovery.ErrNoInstance)
		if want := "2 are known, 0 of them are disabled, 2 down, 0 filtered out"; !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %s", err, want)
		}
		fine(t, first.Update(t.Context(), orders("a")))
		pass(0)
		same(t, "the same bytes are the same instance", nodes(p.All()), "")
		changed := orders("a")
		changed.Port++
		fine(t, first.Update(t.Context(), changed))
		pass(time.Millisecond)
		same(t, "an update has no errors", nodes(p.All()), "a")
		pass(time.Minute)
		same(t, "nobody is down", len(p.Down()), 0)
		same(t, "errors that are kept", discovery.Errors(p), 0)
		for _, o := range []discovery.ProviderOptions{
			{MaxAge: -1}, {Down: discovery.DownPolicy{Threshold: -1}}, {Down: discovery.DownPolicy{Timeout: -1}},
		} {
			_, err := cache.Provider(o)
			is(t, err, discovery.ErrInstance)
		}
	})
}

// Many goroutines use everything at once: it is for the race detector.
func TestEverythingAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		own := w.open()
		cache := own.cache("orders")
		sticky := discovery.Sticky(discovery.Random(rand.NewPCG(1, 1)))
		p := must(cache.Provider(discovery.ProviderOptions{Strategy: sticky}))
		var all sync.WaitGroup
		for n := range 8 {
			all.Go(func() {
				for i := range 20 {
					r := must(own.Register(orders(fmt.Sprintf("%d-%d", n, i))))
					if err := r.WaitPresent(t.Context()); err != nil {
						t.Error(err)
					}
					if f, err := p.Pick(); err == nil {
						p.NoteError(f)
					}
					_, _, _ = cache.View(), p.All(), p.Down()
					if i%2 == 0 {
						_ = r.Close(t.Context())
					}
				}
			})
		}
		all.Go(func() {
			own.cut()
			w.srv.ExpireSession(own.client.SessionID())
		})
		all.Wait()
		pass(time.Minute)
		same(t, "what is left", len(cache.View().Instances), 80)
	})
}
