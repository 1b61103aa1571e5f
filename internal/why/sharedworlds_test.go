package why

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/why/txnlog"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/test/kit/selection"
)

// shared is a simulated world in which several hold at once: a semaphore's permits, or a lock's readers.
type shared struct {
	*simulated
	recipe  string
	limit   int
	weights []int // by client: how many permits it wants; of a writer, the limit
}

// Notice takes the terms of the recipe, and not those of the latches that it opens.
func (s *shared) Notice(c *world.Client, id events.ID, n events.Notify) {
	if s.recipe == "semaphore" && !strings.Contains(n.Path, "/leases/") {
		return
	}
	s.simulated.Notice(c, id, n)
}

// Feeding hides the permits or the places of others, if the clients are blind.
func (s *shared) Feeding(_ *world.Client, env *events.Envelope) {
	ev := &env.Event
	leases := strings.HasSuffix(ev.Path, "/leases")
	switch {
	case !s.blind || s.recipe == "semaphore" && !leases:
	case ev.Kind == events.ReplyStat && ev.Stat != nil && leases:
		stat := *ev.Stat
		stat.NumChildren, ev.Stat = 0, &stat
	case ev.Kind == events.ReplyChildren && leases:
		ev.Children = nil
	case ev.Kind == events.ReplyChildren && len(ev.Children) > 1:
		most := slices.MaxFunc(ev.Children, func(a, b string) int { return int(orderOf(a) - orderOf(b)) })
		ev.Children = []string{most}
	}
}

// newShared plays a world of four clients, with faults and releases.
func newShared(t testing.TB, seed uint64, recipe string, blind bool) *shared {
	s := &shared{simulated: &simulated{blind: blind, dice: rand.New(rand.NewPCG(seed, 19)),
		records: map[int][]events.Record{}}, recipe: recipe, limit: 3}
	tick := time.Duration(200+s.dice.IntN(1800)) * time.Millisecond
	script := world.Script{Seed: int64(seed), Tick: tick, SyncLimit: 3 + s.dice.IntN(5),
		Timeout: tick * time.Duration(3+s.dice.IntN(12))}
	for range 4 {
		weight := 1 + s.dice.IntN(2)
		options := map[string]string{"limit": fmt.Sprint(s.limit), "permits": fmt.Sprint(weight)}
		if recipe == "readwrite" {
			options = map[string]string{"reads": fmt.Sprint(weight == 1)}
			if weight == 2 {
				weight = s.limit
			}
		}
		s.weights = append(s.weights, weight)
		script.Clients = append(script.Clients, world.Program{Recipe: recipe, Path: "/jobs/x", Options: options})
		s.skew = append(s.skew, s.dice.Int64N(int64(2*time.Hour))-int64(time.Hour))
	}
	w, err := world.New(script, s)
	if err != nil {
		t.Fatal(err)
	}
	s.World = w
	for range 6 {
		w.Until(w.Now() + int64(script.Timeout/2) + s.dice.Int64N(int64(3*script.Timeout)))
		if s.dice.IntN(3) == 0 {
			s.strike(t, script)
			continue
		}
		for _, c := range w.Clients() {
			if c.Holds() && !c.Dead() && !c.Paused() && s.dice.IntN(2) == 0 {
				if err := w.Add(world.Action{At: w.Now() + 1, Do: world.Resign, Who: c.ID()}); err != nil {
					t.Fatal(err)
				}
				break
			}
		}
	}
	w.Until(w.Now() + int64(6*script.Timeout+10*tick))
	return s
}

// tooMany returns how long more was held at once than allowed. (Four readers are no more than allowed.)
func (s *shared) tooMany() (most time.Duration) {
	for _, a := range s.beliefs {
		held, until := 0, int64(1)<<62
		var others []*belief
		for _, b := range s.beliefs {
			if b.from <= a.from && b.till > a.from && b.till > b.from {
				others = append(others, b)
			}
		}
		slices.SortFunc(others, func(x, y *belief) int { return int(y.till - x.till) })
		for i, b := range others {
			held += s.weights[b.client]
			if held > s.limit &&
				(s.recipe == "semaphore" ||
					i > 0 && slices.ContainsFunc(others[:i+1], func(b *belief) bool {
						return s.weights[b.client] == s.limit
					})) {
				until = b.till
				break
			}
		}
		if until < 1<<62 {
			most = max(most, time.Duration(until-a.from))
		}
	}
	return most
}

// What is said of permits, and of readers and writers, is never wrong; and if the clients see nobody else, it is said
// that more was held than allowed.
func TestWorldsInWhichSeveralHold(t *testing.T) {
	for _, recipe := range []string{"semaphore", "readwrite"} {
		for _, blind := range []bool{false, true} {
			t.Run(fmt.Sprint(recipe, " blind ", blind), func(t *testing.T) {
				verdicts, seen, found := map[Verdict]int{}, 0, 0
				for seed := range uint64(selection.Of(t, "worlds", 10, 20, 60)) {
					s := newShared(t, seed, recipe, blind)
					var txns []txnlog.Txn
					if seed%2 == 0 {
						txns = s.txns
					}
					r := Explain(s.logs(t), txns, Options{Path: "/jobs/x"})
					verdicts[r.Verdict]++
					too := s.tooMany()
					never := r.Verdict == NeverProven || r.Verdict == NeverMeasured
					if too > 0 && never || too <= 0 && r.Verdict == TwoAtOnce {
						t.Errorf("world %d: %s (%s), and too much was held for %s", seed, r.Verdict, r.Why, too)
					}
					if too > time.Second {
						seen++
						if r.Verdict == TwoAtOnce {
							found++
						}
					}
					if r.Verdict == TwoAtOnce && recipe == "semaphore" &&
						!strings.HasPrefix(r.Lines(false)[0], "MORE AT ONCE THAN ALLOWED: ") {
						t.Errorf("world %d: %s", seed, r.Lines(false)[0])
					}
				}
				t.Log(verdicts, seen, found)
				if blind && (found == 0 || found < seen*9/10) {
					t.Errorf("too much was held in %d worlds, and found in %d", seen, found)
				}
				if !blind && verdicts[CannotTell]*2 > verdicts[NeverProven]+verdicts[NeverMeasured] {
					t.Errorf("too little is said: %v", verdicts)
				}
			})
		}
	}
}
