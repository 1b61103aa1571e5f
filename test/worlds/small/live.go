package small

import "slices"

// duties are the steps that a fair run takes at last if they stay possible: a bit
// for each seat of a participant and each act in owed, and one for the clock.
type duties uint32

const (
	seatBits = 8
	clock    = duties(1) << 31
)

// maxSeats is how many participants have room in duties.
const maxSeats = 31 / seatBits

// owed are the acts of a participant that a fair run takes at last if they stay
// possible. The others need not happen: faults, the end of a session, and the cut of a
// connection whose link has failed.
var owed = []act{deliver, serve, ring, attach, catchUp, resume, finish}

// duty returns the bit of an act, or 0 if a fair run need not take it.
func duty(a act, seat int) duties {
	if a == tick {
		return clock
	}
	if i := slices.Index(owed, a); i >= 0 {
		return 1 << (seatBits*seat + i)
	}
	return 0
}

// arrow is one step that is no fault. It names a participant by its seat, because
// all worlds that are one state have the same seats.
type arrow struct {
	to        uint32
	act       act
	seat, arg uint8
	turn      turn
}

// turn is how participants change seats in a step: for each seat before it, in two
// bits, the seat after it.
type turn uint8

const (
	turnBits = 2
	turnMask = 1<<turnBits - 1
)

// still is the turn in which every participant keeps its seat.
const still = turn(0 | 1<<turnBits | 2<<(2*turnBits))

// of returns the seat after the turn of the participant in a seat before it.
func (t turn) of(seat int) int { return int(t >> (turnBits * seat) & turnMask) }

// then returns the turn that t and then next make.
func (t turn) then(next turn) (both turn) {
	for seat := range maxSeats {
		both |= turn(next.of(t.of(seat))) << (turnBits * seat)
	}
	return both
}

// arrow returns the arrow of a step from w to n. The digests of both are known.
func (w *world) arrow(s step, n *world, number uint32) arrow {
	a := arrow{to: number, act: s.act, arg: s.arg, turn: still}
	if s.act != tick {
		a.seat = uint8(slices.Index(w.seated, int(s.who)))
	}
	for seat, who := range w.seated {
		a.turn &^= turnMask << (turnBits * seat)
		a.turn |= turn(slices.Index(n.seated, who)) << (turnBits * seat)
	}
	return a
}

// step returns an arrow from the world's state as a step of this world.
func (w *world) step(a arrow) step {
	if w.seated == nil {
		w.canon()
	}
	s := step{act: a.act, arg: a.arg}
	if a.act != tick {
		s.who = uint8(w.seated[a.seat])
	}
	return s
}

// duties returns the duties that are possible now, also where another step is taken
// first.
func (w *world) duties() (all duties) {
	var steps []step
	for seat, i := range w.seated {
		steps = w.free(steps[:0], i)
		for _, s := range steps {
			all |= duty(s.act, seat)
		}
	}
	if w.quiet() {
		all |= clock
	}
	return all
}

// able reports whether a client could lead: access rights refuse it nothing, and its
// program has no work that never returns.
func (c *client) able(w *world) bool {
	return c.refused == nothing && !(w.Hung && c.works > 0)
}

// anyAble reports whether any client could lead.
func (w *world) anyAble() bool { return w.ableWithout(-1) }

// ableWithout reports whether a client other than number i could lead.
func (w *world) ableWithout(i int) bool {
	for j, c := range w.clients {
		if j != i && c.able(w) {
			return true
		}
	}
	return false
}

// held reports whether unreleased work holds its place: the term of the first in line
// has ended, and its program's work never returns. This is the only exception to the
// rule that an able client leads.
func (w *world) held() bool {
	if !w.Hung || len(w.tree.nodes) == 0 {
		return false
	}
	first := w.tree.nodes[0]
	c := w.clients[first.who]
	return c.works > 0 && !c.leads && first.owner == c.zkid
}

// vacant reports whether a client could lead and none does.
func (w *world) vacant() bool { return w.anyAble() && !w.led() && !w.held() }

// alive checks that a leader can be reached without faults from every vacant state,
// and that every fair run without faults reaches one. From the states at the edge of a
// search that was cut short, the run of heals has to reach one.
func (g *graph) alive(edge []*world, numbers []uint32, r *Result) {
	g.begins = append(g.begins, uint64(len(g.arrows)))
	good := make([]bool, len(g.parent))
	copy(good, g.led)
	for i, w := range edge {
		if good[numbers[i]] || w.heals() {
			good[numbers[i]] = true
			r.Finished++
		}
	}
	g.backwards(good)
	if p := g.idling(); p != nil {
		r.Broken = []string{"progress: a fair run without faults never reaches a leader"}
		if !good[p.root] {
			r.Broken = append(r.Broken, "progress: no way without faults leads to a leader")
		}
		way := g.way(p.root)
		round := retrace(&r.Config, way, p.round())
		r.Trace, r.Round = append(way, round...), len(round)
		return
	}
	for n, ok := range good {
		if !ok && g.able[n] {
			r.Broken = []string{"progress: no way without faults leads to a leader"}
			r.Trace = g.way(uint32(n))
			return
		}
	}
}

// retrace returns the arrows that follow a way as steps.
func retrace(cfg *Config, way []step, arrows []arrow) (steps []step) {
	w := newWorld(cfg, false)
	for _, s := range way {
		w = w.take(s)
	}
	for _, a := range arrows {
		s := w.step(a)
		steps = append(steps, s)
		w = w.take(s)
	}
	return steps
}

// backwards spreads good to every state that has a way to one that is. States
// were expanded in the order of their numbers.
func (g *graph) backwards(good []bool) {
	count := make([]uint32, len(good)+1)
	for _, a := range g.arrows {
		count[a.to+1]++
	}
	for i := 1; i < len(count); i++ {
		count[i] += count[i-1]
	}
	sources, fill := make([]uint32, len(g.arrows)), append([]uint32(nil), count...)
	for from := range len(g.begins) - 1 {
		for _, a := range g.out(uint32(from)) {
			sources[fill[a.to]] = uint32(from)
			fill[a.to]++
		}
	}
	var queue []uint32
	for n, ok := range good {
		if ok {
			queue = append(queue, uint32(n))
		}
	}
	for len(queue) > 0 {
		n := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, from := range sources[count[n]:count[n+1]] {
			if !good[from] {
				good[from] = true
				queue = append(queue, from)
			}
		}
	}
}
