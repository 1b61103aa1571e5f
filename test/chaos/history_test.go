package chaos

import (
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

const second = int64(time.Second)

// history returns a made-up line: A leads from its 1st second to its 10th under a node with the token 100, then B does until its
// 20th under 200. It is told how it goes wrong.
func history(wrong func(a, b *client, na, nb *node, store *[]arrival)) verdict {
	exactly := func(s int64) moment { return moment{s * second, s*second + int64(time.Millisecond)} }
	a := client{id: "a", beliefs: []belief{{span: span{1 * second, 10 * second}}}}
	b := client{id: "b", beliefs: []belief{{span: span{12 * second, 20 * second}}}}
	na := node{path: "/chaos/latch/1", id: "a", czxid: 100, session: 1, created: exactly(0), deleted: exactly(11)}
	nb := node{path: "/chaos/latch/2", id: "b", czxid: 200, session: 2, created: exactly(5), deleted: exactly(21)}
	store := []arrival{
		{at: 2 * second, id: "a", verb: load, token: 100, taken: true},
		{at: 3 * second, id: "a", verb: save, token: 100, value: 1, taken: true},
		{at: 13 * second, id: "b", verb: load, token: 200, value: 1, taken: true},
		{at: 14 * second, id: "b", verb: save, token: 200, value: 2, taken: true},
	}
	wrong(&a, &b, &na, &nb, &store)
	return judge(byLatch, []client{a, b}, []node{na, nb}, store, nil, 4*time.Second)
}

// wrongs returns what can be wrong with a line, in one word each.
func wrongs(v verdict) (all []string) {
	for word, is := range map[string]bool{"together": len(v.together) > 0, "asleep": len(v.asleep) > 0, "beyond": len(v.beyond) > 0,
		"late": v.stale > 0, "accepted": v.accepted > 0, "forged": v.forged > 0, "orphans": v.orphans > 0, "shrunk": v.shrunk > 0} {
		if is {
			all = append(all, word)
		}
	}
	slices.Sort(all)
	return all
}

func TestTheCheckerFlagsMadeUpHistories(t *testing.T) {
	for name, c := range map[string]struct {
		wrong func(a, b *client, na, nb *node, store *[]arrival)
		want  []string
	}{
		"all is well": {func(_, _ *client, _, _ *node, _ *[]arrival) {}, nil},
		"A believes until B does, its node gone": {func(a, _ *client, _, _ *node, _ *[]arrival) {
			a.beliefs[0].to = 15 * second
		}, []string{"beyond", "together"}},
		"A believes a little after its node is gone, and B not yet": {func(a, _ *client, _, _ *node, _ *[]arrival) {
			a.beliefs[0].to = 11*second + 2*int64(time.Millisecond)
		}, []string{"beyond"}},
		"A's end is within the doubt": {func(a, _ *client, _, _ *node, _ *[]arrival) {
			a.beliefs[0].to = 11*second + int64(time.Millisecond)
		}, nil},
		"B believes while A's node is there": {func(_, b *client, _, _ *node, _ *[]arrival) {
			b.beliefs[0].from = 10*second + second/2
		}, []string{"beyond"}},
		"B believes without a node": {func(_, b *client, _, nb *node, _ *[]arrival) {
			nb.id = "c"
		}, []string{"beyond", "forged"}},
		"A is stopped while it leads, and B takes over": {func(a, _ *client, _, _ *node, _ *[]arrival) {
			a.beliefs[0].to = 9 * second
			a.stopped = []span{{9 * second, 16 * second}}
		}, []string{"asleep"}},
		"A is stopped, and believes on waking": {func(a, _ *client, _, _ *node, _ *[]arrival) {
			a.beliefs[0].to = 17 * second
			a.stopped = []span{{9 * second, 16 * second}}
		}, []string{"asleep", "beyond", "shrunk", "together"}},
		"A saves late, and is refused": {func(_, _ *client, _, _ *node, store *[]arrival) {
			*store = append(*store, arrival{at: 15 * second, id: "a", verb: save, token: 100, value: 2})
		}, []string{"late"}},
		"A saves late, and the store takes it": {func(_, _ *client, _, _ *node, store *[]arrival) {
			*store = append(*store, arrival{at: 15 * second, id: "a", verb: save, token: 100, value: 2, taken: true})
		}, []string{"accepted", "late"}},
		"A saves late, its recipe has no tokens, and the store takes it": {func(_, _ *client, _, _ *node, store *[]arrival) {
			for i := range *store {
				(*store)[i].token = 0
			}
			*store = append(*store, arrival{at: 15 * second, id: "a", verb: save, value: 2, taken: true})
		}, []string{"accepted", "late"}},
		"A saves late, under a token that is not its own": {func(_, _ *client, _, _ *node, store *[]arrival) {
			*store = append(*store, arrival{at: 15 * second, id: "a", verb: save, token: 300, value: 2, taken: true})
		}, []string{"forged"}},
		"B's node is older than A's": {func(_, _ *client, _, nb *node, store *[]arrival) {
			nb.czxid = 50
			*store = (*store)[:2]
		}, []string{"shrunk"}},
		"B has A's first node for longer than a session lasts": {func(_, b *client, na, nb *node, _ *[]arrival) {
			na.id, nb.created = "b", moment{2 * second, 2 * second}
			b.beliefs = nil
		}, []string{"beyond", "forged", "orphans"}},
		"B has A's first node until its session is over": {func(_, b *client, na, nb *node, _ *[]arrival) {
			na.id, nb.created = "b", moment{4 * second, 4 * second}
			b.beliefs = nil
		}, []string{"beyond", "forged"}},
	} {
		if got := wrongs(history(c.wrong)); !slices.Equal(got, c.want) {
			t.Errorf("%s: found %v, want %v", name, got, c.want)
		}
	}
}

func TestSpans(t *testing.T) {
	if got := minus([]span{{0, 10}, {20, 30}}, []span{{5, 22}, {25, 26}}); !slices.Equal(got, []span{{0, 5}, {22, 25}, {26, 30}}) {
		t.Error(got)
	}
	if got := shared([]span{{0, 10}, {20, 30}}, []span{{10, 20}}); len(got) > 0 {
		t.Error("one after the other is not together:", got)
	}
	if got := shared([]span{{0, 10}}, []span{{5, 12}}, []span{{6, 20}}); !slices.Equal(got, []span{{5, 12}}) {
		t.Error(got)
	}
	if got := covered([]span{{0, 10}}, []span{{5, 12}}, []span{{20, 21}}); got != 13 {
		t.Error(got)
	}
	if got := drought([]span{{0, 10}}, []span{{5, 12}}, []span{{20, 21}}); got != 8 {
		t.Error(got)
	}
}

func TestALostSaveIsNotLinearizable(t *testing.T) {
	did := func(v verb, value, called, heard int64) call {
		return call{verb: v, value: value, called: called, heard: heard, taken: true}
	}
	killed := func(value, called int64) call { return call{verb: save, value: value, called: called, unknown: true} }
	refused := call{verb: save, value: 9, called: 30, heard: 40}
	for name, c := range map[string]struct {
		a, b []call
		want porcupine.CheckResult
	}{
		"one after the other": {[]call{did(load, 0, 1, 2), did(save, 1, 3, 4)}, []call{did(load, 1, 5, 6), did(save, 2, 7, 8)}, porcupine.Ok},
		"a save is lost":      {[]call{did(load, 0, 1, 2), did(save, 1, 3, 9)}, []call{did(load, 0, 3, 4), did(save, 1, 5, 6)}, porcupine.Illegal},
		"an old value":        {[]call{did(load, 0, 1, 2), did(save, 1, 3, 4)}, []call{did(load, 0, 5, 6)}, porcupine.Illegal},
		"killed, and done":    {[]call{did(load, 0, 1, 2), killed(1, 3)}, []call{did(load, 1, 5, 6)}, porcupine.Ok},
		"killed, and not":     {[]call{did(load, 0, 1, 2), killed(1, 3)}, []call{did(load, 0, 5, 6), did(save, 1, 7, 8)}, porcupine.Ok},
		"refused":             {[]call{did(load, 0, 1, 2), refused}, []call{did(load, 0, 5, 6), did(save, 1, 7, 8)}, porcupine.Ok},
	} {
		if got := linearizable([]client{{calls: c.a}, {calls: c.b}}, time.Minute); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestTheStoreIsFencedWhereItIsSaid(t *testing.T) {
	now := int64(0)
	s, err := openStore(func() int64 { now++; return now }, map[string]bool{"latch": true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	for i, c := range []struct {
		line string
		a    arrival
		want string
	}{
		{"latch", arrival{verb: load, token: 5}, "ok 0"},
		{"latch", arrival{verb: save, token: 5, value: 1}, "ok 1"},
		{"latch", arrival{verb: load, token: 6}, "ok 1"},
		{"latch", arrival{verb: save, token: 5, value: 2}, "stale"},
		{"latch", arrival{verb: load, token: 5}, "stale"},
		{"latch", arrival{verb: save, token: 6, value: 2}, "ok 2"},
		{"lock", arrival{verb: save, token: 6, value: 2}, "ok 2"},
		{"lock", arrival{verb: save, token: 5, value: 3}, "ok 3"},
	} {
		if got := s.take(c.line, c.a); got != c.want {
			t.Errorf("%d: %s %+v: %s, want %s", i, c.line, c.a, got, c.want)
		}
	}
	if got := s.arrivals("latch"); len(got) != 6 || got[3].taken || got[5].at != 6 {
		t.Error(got)
	}
}
