package door_test

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/machines"
)

// shardCalls is what a listener of a member, or Config.Observe of its client, was called with.
type shardCalls struct {
	mu    sync.Mutex
	of    string
	now   map[string]int64 // the tokens of the shards that are owned
	ended int              // how many terms
	why   []incumbent.Reason
	wrong func(format string, args ...any)
}

func (c *shardCalls) owned(shard string, token int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if before, owns := c.now[shard]; owns {
		c.wrong("%s: shard %s is owned with token %d, and with %d before it was not", c.of, shard, token, before)
	}
	c.now[shard] = token
}

func (c *shardCalls) notOwned(shard string, token int64, why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now, owns := c.now[shard]; !owns || now != token {
		c.wrong("%s: shard %s is owned no more with token %d: it was owned %t, with %d", c.of, shard, token, owns, now)
	}
	reason := incumbent.LostReason(why)
	if reason == "" {
		c.wrong("%s: shard %s is owned no more without a reason: %v", c.of, shard, why)
	}
	delete(c.now, shard)
	c.ended++
	c.why = append(c.why, reason)
}

// shards returns which shards are owned.
func (c *shardCalls) shards() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return fmt.Sprint(slices.Sorted(maps.Keys(c.now)))
}

// listener returns a listener that notes its calls.
func (c *shardCalls) listener() incumbent.ShardListener {
	return incumbent.ShardListener{
		Owned: func(shard int, t incumbent.Term) { c.owned(fmt.Sprint(shard), t.Token) },
		NotOwned: func(shard int, t incumbent.Term, why error) {
			c.notOwned(fmt.Sprint(shard), t.Token, why)
		},
	}
}

// observe notes the beginnings and ends of terms that Config.Observe gets.
func (c *shardCalls) observe(e incumbent.Event) {
	switch d := e.Detail.(type) {
	case incumbent.TermBegan:
		if d.Place.Path == shardsPath {
			c.owned(d.Place.Shard, d.Place.Token)
		}
	case incumbent.TermEnded:
		if d.Place.Path == shardsPath {
			c.notOwned(d.Place.Shard, d.Place.Token, d.Lost)
		}
	}
}

// calls returns what notes calls. When the test ends, no shard may be owned any more.
func (w *shardWorld) calls(of string) *shardCalls {
	c := &shardCalls{of: of, now: map[string]int64{}, wrong: func(format string, args ...any) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.wrong = append(w.wrong, fmt.Sprintf(format, args...))
	}}
	w.noted = append(w.noted, c)
	return c
}

// A listener is called for what is owned when it is added, and in the next Run, too, until it is removed. Observe gets
// the same terms.
func TestShardListeners(t *testing.T) {
	shardBubble(t, 4, func(t *testing.T, w *shardWorld) {
		a := w.member("a", 0, incumbent.ShardsOptions{Settle: time.Second})
		pass(time.Second)
		late := w.calls("late")
		remove := a.group.AddListener(late.listener())
		must := func(when, want string, all ...*shardCalls) {
			t.Helper()
			for _, c := range append(all, a.listened, a.observed) {
				if got := c.shards(); got != want {
					t.Errorf("%s, %s has the calls of %s, want %s", when, c.of, got, want)
				}
			}
		}
		pass(time.Second)
		must("alone", "[0 1 2 3]", late)
		b := w.member("b", 0, incumbent.ShardsOptions{Settle: time.Second})
		pass(time.Minute)
		if got, want := b.listened.shards(), fmt.Sprint(b.group.Owned()); got != "[0]" || got != want {
			t.Errorf("b's listener has %s, and b owns %s", got, want)
		}
		if got := a.listened.why; !slices.Equal(got, []incumbent.Reason{incumbent.ReasonMoved}) {
			t.Errorf("a shard of a is b's because of %q", got)
		}
		b.end(t)
		pass(time.Second)
		must("b has ended", "[0 1 2 3]", late)
		a.end(t)
		pass(time.Second)
		must("a has ended", "[]", late)
		remove()
		w.begin(a, "a", 0)
		pass(time.Minute)
		must("a runs again", "[0 1 2 3]")
		if got := late.shards(); got != "[]" {
			t.Errorf("a listener that was removed has the calls of %s", got)
		}
		a.end(t)
	})
}

// A listener that hangs delays nothing. What has no room for it is dropped by pairs.
func TestAShardListenerThatHangs(t *testing.T) {
	const shards = 100
	shardBubble(t, shards, func(t *testing.T, w *shardWorld) {
		a := w.member("a", 0, incumbent.ShardsOptions{Settle: time.Second})
		slow, goes := w.calls("slow"), make(chan struct{})
		l := slow.listener()
		a.group.AddListener(incumbent.ShardListener{NotOwned: l.NotOwned,
			Owned: func(shard int, term incumbent.Term) { <-goes; l.Owned(shard, term) }})
		pass(time.Second)
		for range 20 { // 4,000 calls
			a.end(t)
			w.begin(a, "a", 0)
			pass(30 * time.Second)
		}
		if got := len(a.group.Owned()); got != shards {
			t.Errorf("behind a listener that hangs, it owns %d of %d", got, shards)
		}
		if n := a.Stats().CallsDropped; n < 2000 || n%2 != 0 {
			t.Errorf("%d calls were dropped", n)
		}
		close(goes)
		pass(time.Second)
		if got, want := slow.shards(), a.listened.shards(); got != want {
			t.Errorf("when it goes on, it has the calls of %s, want %s", got, want)
		}
		a.end(t)
	})
}

// Stats has how many shards a member owns, for how long work goes on after it had to end, and the terms.
func TestStatsOfShards(t *testing.T) {
	shardBubble(t, 3, func(t *testing.T, w *shardWorld) {
		a := w.member("a", 7*time.Second, incumbent.ShardsOptions{Settle: time.Second})
		pass(time.Second)
		of := func() incumbent.HandleStats {
			for _, h := range a.Stats().Handles {
				if h.Recipe == "shards" {
					return h
				}
			}
			return incumbent.HandleStats{}
		}
		if h := of(); h.Owned != 3 || h.Leads || h.Token != 0 || h.ValidFor <= 0 || h.Draining != 0 || h.ID != "a" {
			t.Errorf("owning 3: %+v", h)
		}
		a.cancel()
		pass(2 * time.Second)
		if h := of(); h.Owned != 0 || h.ValidFor != 0 || h.Draining != 2*time.Second {
			t.Errorf("2 s after the end of its shards: %+v", h)
		}
		a.end(t)
		if terms := a.Stats().Terms; len(terms) != 1 || terms[0].Count != 3 || terms[0].Path != shardsPath ||
			terms[0].Reason != incumbent.ReasonClosed {
			t.Errorf("the terms that ended: %+v", terms)
		}
	})
}

// Client.Close with a grace does not wait longer for the work on a shard that moved before.
func TestCloseLimitsTheWorkOnShards(t *testing.T) {
	shardBubble(t, 1, func(t *testing.T, w *shardWorld) {
		a := w.member("a", time.Hour, incumbent.ShardsOptions{Settle: time.Second})
		pass(time.Second)
		w.refuse(a.node, true)
		w.srv.Disconnect(a.SessionID())
		pass(time.Minute)
		began := w.now()
		err := a.CloseWith(t.Context(), incumbent.CloseOptions{WorkGrace: 3 * time.Second})
		if took := time.Duration(w.now() - began); took < 3*time.Second || took > 30*time.Second {
			t.Errorf("Close takes %s: %v", took, err)
		}
		<-a.ended
		pass(2 * time.Hour) // the function returns
	})
}

// A blip of a member with many shards is four lines, as that of many latches. Few shards have lines of their own.
func TestAnOutageOfManyShardsIsTwoLines(t *testing.T) {
	for shards, want := range map[int][]string{
		30: {"warn connection SUSPENDED", "warn outage suspended", "info connection RECONNECTED", "info outage over"},
		2: {"warn connection SUSPENDED", "warn no longer owns a shard suspended",
			"warn no longer owns a shard suspended",
			"info connection RECONNECTED", "info owns a shard", "info owns a shard"},
	} {
		shardBubble(t, shards, func(t *testing.T, w *shardWorld) {
			log := &lines{}
			a := w.member("a", 0, incumbent.ShardsOptions{}, logInto(log))
			pass(time.Second)
			before := len(log.loud(t))
			w.refuse(a.node, true)
			w.srv.Disconnect(a.SessionID())
			pass(3 * time.Second)
			w.refuse(a.node, false)
			pass(20 * time.Second)
			texts, all := log.since(t, before)
			if !slices.Equal(texts, want) {
				t.Fatalf("%d shards have the lines %q", shards, texts)
			}
			if l := all[1]; shards == 30 && (l.ms("participants") != 31 || l.ms("led") != 30) {
				t.Errorf("%v", map[string]any(l))
			}
			a.end(t)
		})
	}
}

// Observe gets both ends of each term, of however many shards there are at a time.
func TestObserveGetsTheTermsOfAllShards(t *testing.T) {
	const shards = machines.MaxShards
	shardBubble(t, shards, func(t *testing.T, w *shardWorld) {
		a := w.member("a", 0, incumbent.ShardsOptions{Settle: time.Second})
		pass(5 * time.Second)
		if n := len(a.group.Owned()); n != shards {
			t.Errorf("it owns %d", n)
		}
		a.end(t)
		pass(5 * time.Second)
		if n := a.Stats().EventsDropped; n != 0 || a.observed.ended != shards {
			t.Errorf("%d events were dropped, %d ends observed", n, a.observed.ended)
		}
	})
}
