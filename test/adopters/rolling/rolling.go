// Package rolling takes a service through a rolling upgrade from a program to its port and back. Three instances take
// one lock again and again, each on a connection of its own. One after the other is replaced: one ends in order, one is
// killed while it waits, one while it holds. No two may hold the lock at the same time.
package rolling

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/proxy"
)

const (
	instances = 3
	fewest    = 3  // turns that each new instance has before the next is replaced
	steps     = 10 // of a turn
	within    = time.Minute
)

// Side is one of the two programs.
type Side struct {
	Name string
	// Open connects an instance with a name of its own, for the lock of the run.
	Open func(addr, id string) (Instance, error)
}

// Instance is one process of the service. All its calls come from one goroutine, but Close.
type Instance struct {
	// Lock waits for the lock. Lost, if there is one, is closed when the lock is.
	Lock func() (lost <-chan struct{}, unlock func() error, err error)
	// Close ends the connection. It is the last call.
	Close func()
}

// Turn is one time that an instance held the lock.
type Turn struct {
	Side, ID string
	From, To time.Time
}

// overlaps returns where two held the lock at once.
func overlaps(turns []Turn) (found []string) {
	turns = sorted(turns)
	for i, b := range turns {
		for _, a := range turns[:i] {
			if b.From.Before(a.To) {
				const stamp = time.StampMicro
				found = append(found, fmt.Sprintf("%s held from %s to %s, and %s from %s on",
					a.ID, a.From.Format(stamp), a.To.Format(stamp), b.ID, b.From.Format(stamp)))
			}
		}
	}
	return found
}

// sorted returns the turns in the order in which they began.
func sorted(turns []Turn) []Turn {
	return slices.SortedFunc(slices.Values(turns), func(a, b Turn) int { return a.From.Compare(b.From) })
}

// handOvers counts how often the lock went from a side to the other.
func handOvers(turns []Turn, from, to string) (n int) {
	turns = sorted(turns)
	for i := 1; i < len(turns); i++ {
		if turns[i-1].Side == from && turns[i].Side == to {
			n++
		}
	}
	return n
}

// running is an instance that runs.
type running struct {
	Instance
	side, id string
	link     *proxy.Link
	end      how
	held     int
	inside   bool // from the end of Lock to that of unlock
	ended    bool
}

// how is the way in which an instance is to end.
type how int

const (
	not how = iota
	inOrder
	waiting // killed
	holding // killed
)

// upgrade is a run.
type upgrade struct {
	t       *testing.T
	addr    string
	client  *incumbent.Client // of neither side
	counter string            // a node that only the holder of the lock writes

	mu    sync.Mutex
	moved chan struct{} // closed, and replaced, at every change
	all   []*running
	born  int
	turns []Turn
}

// Run takes a service from one program to another and back, on one server. It creates the counter.
func Run(t *testing.T, addr, counter string, old, port Side) {
	t.Helper()
	client, err := incumbent.Open(t.Context(), incumbent.Config{Servers: addr, ACL: incumbent.WorldAll(), Silent: true})
	if err == nil {
		_, err = client.Create(counter, []byte("0")).Do(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close(context.WithoutCancel(t.Context()))
	u := &upgrade{t: t, addr: addr, client: client, counter: counter, moved: make(chan struct{})}
	for range instances {
		u.start(old)
	}
	for _, to := range []Side{port, old} {
		for _, end := range []how{inOrder, waiting, holding} {
			u.replace(end, to)
		}
	}
	for len(u.all) > 0 {
		u.stop(u.all[0], inOrder)
	}
	u.judge(old.Name, port.Name)
}

// judge fails if two held at once, or if the sides hardly met.
func (u *upgrade) judge(old, port string) {
	u.t.Helper()
	for _, o := range overlaps(u.turns) {
		u.t.Error("two holders: " + o)
	}
	node, err := u.client.Get(u.counter).Do(u.t.Context())
	if want := strconv.Itoa(steps * len(u.turns)); err != nil || string(node.Data) != want {
		u.t.Errorf("the counter that only the holder writes is %q, %v: want %s", node.Data, err, want)
	}
	held := map[string]int{}
	for _, turn := range u.turns {
		held[turn.Side]++
	}
	there, back := handOvers(u.turns, old, port), handOvers(u.turns, port, old)
	if there < fewest || back < fewest {
		u.t.Errorf("%d hand-overs to the port and %d back: the sides hardly met", there, back)
	}
	u.t.Logf("%d turns of %s, %d of %s, with %d hand-overs to the port and %d from it; %d overlaps",
		held[old], old, held[port], port, there, back, len(overlaps(u.turns)))
}

// start adds an instance.
func (u *upgrade) start(side Side) *running {
	u.t.Helper()
	link, err := proxy.New(u.addr)
	if err != nil {
		u.t.Fatal(err)
	}
	u.t.Cleanup(func() { link.Close() })
	u.born++
	r := &running{side: side.Name, id: fmt.Sprint(side.Name, "-", u.born), link: link}
	if r.Instance, err = side.Open(link.Addr(), r.id); err != nil {
		u.t.Fatal(err)
	}
	u.change(func() { u.all = append(u.all, r) })
	go u.run(r)
	return r
}

// replace has the oldest instance end, and one of a side take its place, and waits until that one has had some turns.
func (u *upgrade) replace(end how, by Side) {
	u.t.Helper()
	u.stop(u.all[0], end)
	r := u.start(by)
	u.await(r.id+" has its turns", func() bool { return r.held >= fewest })
}

// stop has an instance end.
func (u *upgrade) stop(r *running, end how) {
	u.t.Helper()
	u.change(func() { r.end = end })
	if end == waiting {
		u.await(r.id+" waits", func() bool {
			if r.inside {
				return false
			}
			r.ended = true // what its Lock returns from now on does not count
			return true
		})
		r.link.Cut()
	}
	u.await(r.id+" ends", func() bool { return r.ended })
	u.all = slices.DeleteFunc(u.all, func(other *running) bool { return other == r })
	u.t.Cleanup(r.Close)
}

// run takes the lock again and again.
func (u *upgrade) run(r *running) {
	for {
		lost, unlock, err := r.Lock()
		from := time.Now()
		if !u.enter(r, err) {
			return
		}
		if err := u.work(lost); err != nil {
			u.t.Errorf("%s: %v", r.id, err)
		}
		end := u.leave(r, from)
		if end == holding {
			return
		}
		if err := unlock(); err != nil {
			u.t.Errorf("%s: unlock: %v", r.id, err)
		}
		u.change(func() { r.inside = false })
		if end == inOrder {
			r.Close()
			u.change(func() { r.ended, r.Close = true, func() {} })
			return
		}
	}
}

// enter reports whether an instance holds the lock now, and is alive.
func (u *upgrade) enter(r *running, err error) (enters bool) {
	u.change(func() {
		switch {
		case r.ended:
		case err != nil:
			u.t.Errorf("%s: lock: %v", r.id, err)
			r.ended = true
		default:
			r.inside, enters = true, true
		}
	})
	return enters
}

// leave ends a turn, before the unlock, and says how the instance ends, if it does. One that is killed does no more.
func (u *upgrade) leave(r *running, from time.Time) (end how) {
	u.change(func() {
		end = r.end
		r.held++
		u.turns = append(u.turns, Turn{r.side, r.id, from, time.Now()})
		if end == holding {
			r.ended = true
			r.link.Cut()
		}
	})
	return end
}

// work counts up without a version: two that work at once lose counts.
func (u *upgrade) work(lost <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	for range steps {
		select {
		case <-lost:
			return fmt.Errorf("the lock was lost")
		default:
		}
		node, err := u.client.Get(u.counter).Do(ctx)
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(strings.TrimSpace(string(node.Data)))
		if err != nil {
			return err
		}
		if _, err := u.client.Set(u.counter, []byte(strconv.Itoa(n+1))).Do(ctx); err != nil {
			return err
		}
	}
	return nil
}

// change changes the state of the run.
func (u *upgrade) change(by func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	by()
	close(u.moved)
	u.moved = make(chan struct{})
}

// await waits until something is so.
func (u *upgrade) await(what string, is func() bool) {
	u.t.Helper()
	ctx, cancel := context.WithTimeout(u.t.Context(), within)
	defer cancel()
	for {
		u.mu.Lock()
		so, moved := is(), u.moved
		u.mu.Unlock()
		if so {
			return
		}
		select {
		case <-moved:
		case <-ctx.Done():
			u.t.Fatalf("not within %v: %s", within, what)
		}
	}
}
