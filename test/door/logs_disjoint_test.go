package door_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/repeat"
	"github.com/incumbent-go/incumbent/test/kit/selection"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// claims collects what the logs of several clients say about who led, or held, and when.
type claims struct {
	mu    sync.Mutex
	open  map[string]claim // by client and token
	ended map[string][]claim
	texts map[string]int // how often each reason was
}

// claim is one term as the log has it: from the time of the line at its beginning until
// believed_until.
type claim struct {
	who, path, reason string
	from, until       time.Time
}

func (c claim) String() string {
	return fmt.Sprintf("%s from %s until %s (%s)", c.who, c.from.Format(time.TimeOnly+".000000"),
		c.until.Format(time.TimeOnly+".000"), c.reason)
}

func (c *claims) Write(b []byte) (int, error) {
	var l struct {
		Message, Client, Path, Reason string
		Token                         int64
		Until                         string `json:"believed_until"`
	}
	if err := json.Unmarshal(b, &l); err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	key := fmt.Sprint(l.Client, l.Path, l.Token)
	switch l.Message {
	case "leading", "lock held":
		c.open[key] = claim{who: l.Client, path: l.Path, from: time.Now()}
	case "no longer leading", "lock released", "lock lost":
		one, begun := c.open[key]
		until, err := time.Parse(time.RFC3339, l.Until)
		if err != nil || !begun || until.After(time.Now()) {
			return 0, fmt.Errorf("the end of a term: %s (%w)", b, err)
		}
		delete(c.open, key)
		one.until, one.reason = until, l.Reason
		c.ended[l.Path] = append(c.ended[l.Path], one)
		c.texts[l.Reason]++
	}
	return len(b), nil
}

// check checks that no two terms of one path overlap, and counts them.
func (c *claims) check(t *testing.T) (terms int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for path, all := range c.ended {
		for _, open := range c.open {
			if open.path == path {
				open.until, open.reason = time.Now(), "goes on"
				all = append(all, open)
			}
		}
		for i, one := range all {
			for _, other := range all[:i] {
				if one.from.Before(other.until) && other.from.Before(one.until) {
					t.Errorf("%s: the logs have %s, and %s", path, one, other)
				}
			}
		}
		terms += len(all)
	}
	return terms
}

// count adds how many terms ended for which reason.
func (c *claims) count(reasons map[string]int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for reason, n := range c.texts {
		reasons[reason] += n
	}
}

// TestTheLogsHaveOneLeaderAtATime runs three clients through faults and hand-overs at random,
// pauses of their processes among them. By the lines of all logs there is one leader at a
// time, and one holder of a lock.
func TestTheLogsHaveOneLeaderAtATime(t *testing.T) {
	seed := repeat.Seed(t, 1)
	dice := rand.New(rand.NewPCG(seed, 1))
	reasons := map[string]int{}
	for i := range selection.Of(t, "walks", 1, 2, 6) {
		bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
			logs := &claims{open: map[string]claim{}, ended: map[string][]claim{}, texts: map[string]int{}}
			timeout := []time.Duration{4, 6, 10, 15}[i%4] * time.Second
			handOvers(t, w, dice, logs, timeouts(timeout, 2*time.Second),
				func(c *incumbent.Config) { c.RideOut = i/4%2 == 1 })
			if terms := logs.check(t); terms < 20 {
				t.Errorf("%d terms: too little happened", terms)
			}
			logs.count(reasons)
		})
		if t.Failed() {
			t.Fatalf("in walk %d of seed %d", i, seed)
		}
	}
	t.Log(reasons)
}

// handOvers opens three clients, and lets what is random happen to them.
func handOvers(t *testing.T, w *world, dice *rand.Rand, logs *claims, change ...func(*incumbent.Config)) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	begin := func(f func()) {
		running.Add(1)
		go func() { defer running.Done(); f() }()
	}
	var nodes []*node
	var health []*patient
	for i := range 3 {
		n := w.open(append(change, func(c *incumbent.Config) {
			c.Name, c.Logger = fmt.Sprint("client", i),
				zerolog.New(logs)
		})...)
		p := &patient{}
		n.latch = must(n.Latch("/line", p.options()))
		pauses := []time.Duration{0, time.Duration(dice.Int64N(int64(10 * time.Second)))}
		mutex := must(n.Mutex("/lock", incumbent.MutexOptions{}))
		begin(func() { _ = n.latch.Run(ctx, slowEnd(pauses[i%2])) })
		begin(func() { lockOften(ctx, mutex) })
		nodes, health = append(nodes, n), append(health, p)
	}
	for range 100 {
		i := dice.IntN(3)
		n := nodes[i]
		switch dice.IntN(12) {
		case 0:
			n.freeze(dice)
		case 1:
			w.srv.Heal()
		case 2:
			n.cut()
		case 3:
			w.refuse(n, true)
			n.cut()
		case 4, 5:
			w.refuse(n, false)
		case 6:
			n.ahead.Add(dice.Int64N(int64(20 * time.Second))) // the process was paused
		case 7:
			free := n.stopLoop()
			pass(time.Duration(dice.Int64N(int64(20 * time.Second))))
			free()
		case 8:
			begin(func() { _ = n.latch.Resign(ctx) })
		case 9:
			health[i].sick.Store(!health[i].sick.Load())
		}
		synctest.Wait()
		pass(time.Duration(dice.Int64N(int64(6 * time.Second))))
	}
}

// freeze makes all sessions of a client silent, in one direction.
func (n *node) freeze(dice *rand.Rand) {
	if id := n.SessionID(); id != 0 {
		n.w.srv.Freeze(zkmem.Direction(dice.IntN(2)), id)
	}
}

// slowEnd returns work that ends only some time after its term.
func slowEnd(late time.Duration) incumbent.Work {
	return func(l *incumbent.Leadership) error {
		<-l.Context().Done()
		virtual.Sleep(late)
		return nil
	}
}

// lockOften takes a lock again and again.
func lockOften(ctx context.Context, m *incumbent.Mutex) {
	for ctx.Err() == nil {
		hold, err := m.Lock(ctx)
		if errors.Is(err, incumbent.ErrClosed) {
			return
		}
		if err == nil {
			select {
			case <-hold.Context().Done():
			case <-time.After(2 * time.Second):
			}
			_ = hold.Unlock(ctx)
		} else {
			virtual.Sleep(time.Second)
		}
	}
}
