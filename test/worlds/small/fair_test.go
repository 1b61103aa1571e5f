package small

import "testing"

// sketch is a graph of vacant states: the duties that are possible in each of them, and
// its arrows.
type sketch []struct {
	possible duties
	arrows   []arrow
}

// graph returns the sketch's graph. It has one more state, the last, with a leader.
func (s sketch) graph() *graph {
	g := &graph{}
	for _, state := range s {
		g.begins = append(g.begins, uint64(len(g.arrows)))
		g.arrows = append(g.arrows, state.arrows...)
		g.duties = append(g.duties, state.possible)
	}
	g.begins = append(g.begins, uint64(len(g.arrows)))
	g.parent, g.led, g.able = make([]uint32, len(s)+1), make([]bool, len(s)+1), make([]bool, len(s)+1)
	for n := range g.able {
		g.able[n] = true
	}
	g.led[len(s)] = true
	return g
}

// swap is the turn in which the first two participants change seats.
const swap = turn(1 | 0<<turnBits | 2<<(2*turnBits))

// TestIdling: a cycle without a leader is found if a fair run can stay in it.
func TestIdling(t *testing.T) {
	connects := duty(attach, 0)
	for _, c := range []struct {
		name   string
		states sketch
		round  int // 0: none is found
	}{
		{"nothing else is possible",
			sketch{{0, []arrow{{to: 1, act: tick, turn: still}}}, {0, []arrow{{to: 0, act: tick, turn: still}}}}, 2},
		{"a way out stays possible", sketch{
			{connects, []arrow{{to: 1, act: tick, turn: still}, {to: 2, act: attach, turn: still}}},
			{connects, []arrow{{to: 0, act: tick, turn: still}, {to: 2, act: attach, turn: still}}},
		}, 0},
		{"a way out does not stay possible", sketch{
			{connects, []arrow{{to: 1, act: tick, turn: still}, {to: 2, act: attach, turn: still}}},
			{0, []arrow{{to: 0, act: tick, turn: still}}},
		}, 2},
		{"what stays possible is done, and leads nowhere", sketch{
			{connects,
				[]arrow{{to: 1, act: tick, turn: still}, {to: 0, act: attach, turn: still},
					{to: 2, act: attach, turn: still}}},
			{connects, []arrow{{to: 0, act: tick, turn: still}}},
		}, 1},
		{"what stays possible is done, by a longer way", sketch{
			{connects,
				[]arrow{{to: 0, act: tick, turn: still}, {to: 1, act: attach, turn: still},
					{to: 2, act: attach, turn: still}}},
			{connects, []arrow{{to: 0, act: tick, turn: still}}},
		}, 2},
		{"a way out that need not be taken",
			sketch{{0, []arrow{{to: 0, act: tick, turn: still}, {to: 1, act: expire, turn: still}}}}, 1},
		{"the clock could move on",
			sketch{{clock, []arrow{{to: 0, act: ring, turn: still}, {to: 1, act: tick, turn: still}}}}, 0},
		{"one participant could connect",
			sketch{{connects, []arrow{{to: 0, act: tick, turn: still}, {to: 1, act: attach, turn: still}}}}, 0},
		{"each in turn could connect",
			sketch{{connects, []arrow{{to: 0, act: tick, turn: swap}, {to: 1, act: attach, turn: still}}}}, 2},
		{"another one connects",
			sketch{{connects, []arrow{{to: 0, act: attach, seat: 1, turn: still}, {to: 1, act: attach, turn: still}}}},
			0},
		{"an end", sketch{{0, nil}}, 0},
		{"a leader", sketch{{0, []arrow{{to: 1, act: tick, turn: still}}}}, 0},
	} {
		g, round := c.states.graph(), 0
		if found := g.idling(); found != nil {
			round = len(found.round())
		}
		if round != c.round {
			t.Errorf("%s: a round of %d steps, want %d", c.name, round, c.round)
		}
	}
}

// TestIdlingNeedsSomebodyAble: no leader is demanded if nobody is able to lead.
func TestIdlingNeedsSomebodyAble(t *testing.T) {
	g := sketch{{0, []arrow{{to: 0, act: tick, turn: still}}}}.graph()
	g.able[0] = false
	if g.idling() != nil {
		t.Error("found, though nobody is able")
	}
}

// TestTurns: turns follow on one another, and duties go back through them.
func TestTurns(t *testing.T) {
	left := turn(1 | 2<<turnBits | 0<<(2*turnBits)) // the first to the second seat, and so on
	if left.then(left).then(left) != still || swap.then(swap) != still || left.then(swap) == swap.then(left) {
		t.Errorf("%06b, %06b", left, swap)
	}
	if got := left.back(duty(attach, 1) | duty(serve, 0) | clock); got != duty(attach, 0)|duty(serve, 2)|clock {
		t.Errorf("%032b", got)
	}
}
