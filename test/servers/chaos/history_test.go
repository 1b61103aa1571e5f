package chaos

import (
	"slices"
	"testing"
	"time"
)

const second = int64(time.Second)

// history returns a made-up line: A leads from its 1st second to its 10th under a node with the token 100, then B does
// until its 20th under 200. It is told how it goes wrong.
func history(wrong func(a, b *client, na, nb *node)) verdict {
	exactly := func(s int64) moment { return moment{s * second, s*second + int64(time.Millisecond)} }
	a := client{id: "a", beliefs: []belief{{span: span{1 * second, 10 * second}}}}
	b := client{id: "b", beliefs: []belief{{span: span{12 * second, 20 * second}}}}
	na := node{path: "/chaos/latch/1", id: "a", czxid: 100, session: 1, created: exactly(0), deleted: exactly(11)}
	nb := node{path: "/chaos/latch/2", id: "b", czxid: 200, session: 2, created: exactly(5), deleted: exactly(21)}
	wrong(&a, &b, &na, &nb)
	return judge(byLatch, []client{a, b}, []node{na, nb}, nil, 4*time.Second)
}

// wrongs returns what can be wrong with a line, in one word each.
func wrongs(v verdict) (all []string) {
	for word, is := range map[string]bool{"together": len(v.together) > 0, "asleep": len(v.asleep) > 0,
		"beyond":  len(v.beyond) > 0,
		"orphans": v.orphans > 0, "shrunk": v.shrunk > 0} {
		if is {
			all = append(all, word)
		}
	}
	slices.Sort(all)
	return all
}

func TestTheCheckerFlagsMadeUpHistories(t *testing.T) {
	for name, c := range map[string]struct {
		wrong func(a, b *client, na, nb *node)
		want  []string
	}{
		"all is well": {func(_, _ *client, _, _ *node) {}, nil},
		"A believes until B does, its node gone": {func(a, _ *client, _, _ *node) {
			a.beliefs[0].to = 15 * second
		}, []string{"beyond", "together"}},
		"A believes a little after its node is gone, and B not yet": {func(a, _ *client, _, _ *node) {
			a.beliefs[0].to = 11*second + 2*int64(time.Millisecond)
		}, []string{"beyond"}},
		"A's end is within the doubt": {func(a, _ *client, _, _ *node) {
			a.beliefs[0].to = 11*second + int64(time.Millisecond)
		}, nil},
		"B believes while A's node is there": {func(_, b *client, _, _ *node) {
			b.beliefs[0].from = 10*second + second/2
		}, []string{"beyond"}},
		"B believes without a node": {func(_, b *client, _, nb *node) {
			nb.id = "c"
		}, []string{"beyond"}},
		"A is stopped while it leads, and B takes over": {func(a, _ *client, _, _ *node) {
			a.beliefs[0].to = 9 * second
			a.stopped = []span{{9 * second, 16 * second}}
		}, []string{"asleep"}},
		"A is stopped, and believes on waking": {func(a, _ *client, _, _ *node) {
			a.beliefs[0].to = 17 * second
			a.stopped = []span{{9 * second, 16 * second}}
		}, []string{"asleep", "beyond", "shrunk", "together"}},
		"B's node is older than A's": {func(_, _ *client, _, nb *node) {
			nb.czxid = 50
		}, []string{"shrunk"}},
		"B has A's first node for longer than a session lasts": {func(_, b *client, na, nb *node) {
			na.id, nb.created = "b", moment{2 * second, 2 * second}
			b.beliefs = nil
		}, []string{"beyond", "orphans"}},
		"B has A's first node until its session is over": {func(_, b *client, na, nb *node) {
			na.id, nb.created = "b", moment{4 * second, 4 * second}
			b.beliefs = nil
		}, []string{"beyond"}},
	} {
		if got := wrongs(history(c.wrong)); !slices.Equal(got, c.want) {
			t.Errorf("%s: found %v, want %v", name, got, c.want)
		}
	}
}

func TestSpans(t *testing.T) {
	if got := minus([]span{{0, 10}, {20, 30}}, []span{{5, 22}, {25, 26}}); !slices.Equal(got,
		[]span{{0, 5}, {22, 25}, {26, 30}}) {
		t.Error(got)
	}
	if got := shared([]span{{0, 10}, {20, 30}}, []span{{10, 20}}); len(got) > 0 {
		t.Error("one after the other is not together:", got)
	}
	if got := shared([]span{{0, 10}}, []span{{5, 12}}, []span{{6, 20}}); !slices.Equal(got, []span{{5, 12}}) {
		t.Error(got)
	}
}
