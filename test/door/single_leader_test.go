package door_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/repeat"
	"github.com/incumbent-go/incumbent/test/kit/selection"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// TestNeverTwoBelievers runs three clients through silence, cuts, refused connections and
// expiries at random, and then checks every nanosecond: the logs show from when until when
// each believed. At the end the world is healed, and one leads.
func TestNeverTwoBelievers(t *testing.T) {
	seed := repeat.Seed(t, 1)
	dice := rand.New(rand.NewPCG(seed, 0))
	walks, rounds := selection.Of(t, "walks", 2, 3, 6), 150
	leaders := 0
	for i := range walks {
		timeout := []time.Duration{4, 6, 10, 15}[i%4] * time.Second
		bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
			leaders += randomFaults(t, w, dice, timeout, i/4%2 == 1, rounds)
		})
		if t.Failed() {
			t.Fatalf("in walk %d of seed %d", i, seed)
		}
	}
	if leaders < 10*walks {
		t.Fatalf("%d terms in %d walks: too little happened", leaders, walks)
	}
}

func randomFaults(t *testing.T, w *world, dice *rand.Rand, timeout time.Duration, ride bool, rounds int) (terms int) {
	var nodes []*node
	for range 3 {
		nodes = append(nodes, w.start(timeouts(timeout, 2*time.Second), func(c *incumbent.Config) { c.RideOut = ride }))
	}
	frozen := map[*node]bool{}
	for range rounds {
		n := nodes[dice.IntN(len(nodes))]
		switch dice.IntN(10) {
		case 0, 1:
			if id := n.session(); id != 0 {
				w.srv.Freeze(zkmem.Direction(dice.IntN(2)), id)
				frozen[n] = true
			}
		case 2:
			w.srv.Heal()
			clear(frozen)
		case 3:
			n.cut()
		case 4:
			w.refuse(n, true)
			n.cut()
		case 5:
			w.refuse(n, false)
		case 6:
			// An operator's change while a client cannot learn of it, or rides it out, is
			// outside every promise but the token's.
			if id := n.session(); id != 0 && !frozen[n] && !ride {
				w.srv.ExpireSession(id)
			}
		case 7:
			if own := n.ownPath(); !frozen[n] && n.Connection() != incumbent.Suspended && own != "" {
				_ = w.srv.Delete(own)
			}
		}
		synctest.Wait()
		pass(time.Duration(dice.Int64N(int64(timeout) * 3 / 4)))
		atMostOne(t, nodes)
	}
	w.srv.Heal()
	for _, n := range nodes {
		w.refuse(n, false)
	}
	pass(10 * time.Minute)
	if atMostOne(t, nodes) != 1 {
		t.Errorf("nobody leads in a healed world")
	}
	return checkDisjoint(t, nodes)
}

func atMostOne(t *testing.T, nodes []*node) (n int) {
	for _, other := range nodes {
		if other.latch.HasLeadership() {
			n++
		}
	}
	if n > 1 {
		t.Errorf("%d believe at %s", n, time.Duration(nodes[0].w.now()))
	}
	return n
}

// believed is a period in which a client believed.
type believed struct {
	who         int
	from, until int64
	token       int64
}

func (b believed) String() string {
	return fmt.Sprintf("client %d from %s until %s", b.who, time.Duration(b.from), time.Duration(b.until))
}

// checkDisjoint checks that no two beliefs overlap and that tokens grow, and counts
// the terms.
func checkDisjoint(t *testing.T, nodes []*node) (terms int) {
	var all []believed
	for i, n := range nodes {
		of := beliefs(t, i, n)
		for j := range of {
			for _, other := range all {
				one := of[j]
				if one.from < other.until && other.from < one.until {
					t.Errorf("%s, and %s", one, other)
				}
				if one.from < other.from && one.token >= other.token || one.from > other.from &&
					one.token <= other.token {
					t.Errorf("%s with token %d, and %s with token %d", one, one.token, other, other.token)
				}
			}
		}
		all = append(all, of...)
	}
	return len(all)
}

// beliefs reads a client's log: a term held and now < the deadline, as Check does.
func beliefs(t *testing.T, who int, n *node) (all []believed) {
	var token, since, deadline int64
	end := func(at int64) {
		if until := min(at, deadline); token != 0 && until > since {
			all = append(all, believed{who, since, until, token})
		}
		since = at
	}
	for _, r := range n.tape.Records() {
		at := r.Event.At
		for _, e := range r.Effects.Strings() {
			switch word, rest, _ := strings.Cut(e, " "); {
			case e == "valid until: unconfirmed":
				end(at)
				deadline = 0
			case strings.HasPrefix(e, "valid until "):
				end(at)
				d, err := time.ParseDuration(strings.TrimPrefix(e, "valid until "))
				if err != nil {
					t.Fatal(err)
				}
				deadline = int64(d)
			case word == "notify" && strings.HasPrefix(rest, "elected "):
				end(at)
				_, number, _ := strings.Cut(rest, "token=")
				token, _ = strconv.ParseInt(number, 10, 64)
			case word == "notify" && strings.HasPrefix(rest, "stopped "):
				end(at)
				token = 0
			}
		}
	}
	end(n.w.now())
	return all
}
