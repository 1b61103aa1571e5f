package door_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/selection"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// workChecks is what the work of all participants checks together: no two believe at
// once, and tokens grow from node to node.
type workChecks struct {
	mu     sync.Mutex
	last   incumbent.Term
	terms  int
	writes int
	held   map[*incumbent.Leadership]string
}

// begin notes a term, and checks that no other participant believes.
func (s *workChecks) begin(t *testing.T, who string, l *incumbent.Leadership) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.Check() == nil {
		for other, name := range s.held {
			if other.Check() == nil {
				t.Errorf("%s believes, and %s does", who, name)
			}
		}
		term := l.Term()
		if term.Token < s.last.Token || term.Token == s.last.Token && term.Path != s.last.Path {
			t.Errorf("%s leads with token %d after %d", who, term.Token, s.last.Token)
		}
		s.last = term
	}
	s.terms++
	s.held[l] = who
}

func (s *workChecks) end(l *incumbent.Leadership) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.held, l)
}

// wrote counts a guarded write that was committed.
func (s *workChecks) wrote() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
}

// work leads for half a minute, writes under guard, and ends early when it has to.
func (s *workChecks) work(t *testing.T, who string) incumbent.Work {
	return func(l *incumbent.Leadership) error {
		s.begin(t, who, l)
		defer s.end(l)
		for range 3 {
			timer := time.NewTimer(10 * time.Second)
			select {
			case <-l.Context().Done():
				timer.Stop()
				return nil
			case <-timer.C:
			}
			if _, err := l.Write(l.Context(),
				incumbent.SetData("/register", []byte(who), incumbent.AnyVersion)); err == nil {
				s.wrote()
			}
		}
		return nil
	}
}

// TestHoursOfHandOversAndFaults runs the whole product, from the socket up, for hours of a
// virtual clock: selectors pass leadership on twice a minute, and every few minutes a fault
// begins and ends.
func TestHoursOfHandOversAndFaults(t *testing.T) {
	members, lasting := 4, selection.Of(t, "virtual time", 20*time.Minute, 30*time.Minute, 2*time.Hour)
	for seed, ride := range []bool{false, true} {
		t.Run(fmt.Sprintf("ride out %t", ride), func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				if _, err := w.srv.Create("/register", nil, zkmem.Persistent); err != nil {
					t.Fatal(err)
				}
				together := &workChecks{held: map[*incumbent.Leadership]string{}}
				var nodes []*node
				for i := range members {
					n := w.open(func(c *incumbent.Config) { c.RideOut = ride })
					s, err := n.Selector("/line", together.work(t, fmt.Sprint("client ", i)),
						incumbent.SelectorOptions{AutoRequeue: true})
					if err == nil {
						err = s.Start()
					}
					if err != nil {
						t.Fatal(err)
					}
					nodes = append(nodes, n)
				}
				dice := rand.New(rand.NewPCG(uint64(seed), 7))
				for start := w.now(); time.Duration(w.now()-start) < lasting; {
					pass(time.Duration(1+dice.IntN(4)) * time.Minute)
					w.injectFault(dice, nodes)
				}
				checkSettled(t, w, nodes, together, lasting)
			})
		})
	}
}

// injectFault causes a fault for a while: shorter than a session, or longer. It ends no
// session and deletes no node, because their owner would believe until it learns of that.
func (w *world) injectFault(dice *rand.Rand, nodes []*node) {
	n := nodes[dice.IntN(len(nodes))]
	lasting := time.Duration(1+dice.IntN(25)) * time.Second
	switch dice.IntN(6) {
	case 0:
		n.cut()
	case 1:
		w.refuse(n, true)
		n.cut()
		pass(lasting)
		w.refuse(n, false)
	case 2:
		w.refuse(n, true)
		n.cut()
		pass(20 * time.Second) // its session ends
		w.refuse(n, false)
	case 3:
		w.srv.Freeze(zkmem.Direction(dice.IntN(2)))
		pass(lasting)
		w.srv.Heal()
	case 4:
		w.srv.RefuseConnections(true)
		for _, s := range w.srv.Sessions() {
			w.srv.Disconnect(s.ID)
		}
		pass(lasting)
		w.srv.RefuseConnections(false)
	case 5:
		remove := w.srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
			return zkmem.Verdict{Delay: time.Duration(len(r.Path)%7) * 100 * time.Millisecond}
		})
		pass(lasting)
		remove()
	}
	synctest.Wait()
}

// checkSettled fails unless the line is in order at the end: a place for each, and no more.
func checkSettled(t *testing.T, w *world, nodes []*node, together *workChecks, lasting time.Duration) {
	t.Helper()
	pass(5 * time.Minute)
	w.srv.View(func(v *zkmem.View) {
		if places := v.Children("/line"); len(places) != len(nodes) {
			t.Errorf("%d places for %d members: %q", len(places), len(nodes), places)
		}
	})
	together.mu.Lock()
	defer together.mu.Unlock()
	t.Logf("%d terms, %d guarded writes", together.terms, together.writes)
	if hours := lasting.Hours(); float64(together.terms) < 50*hours || float64(together.writes) < 100*hours {
		t.Errorf("%d terms and %d writes in %s: the test shows little", together.terms, together.writes,
			time.Duration(w.now()))
	}
}
