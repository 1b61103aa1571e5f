package small

import "slices"

// vacant reports whether a client could lead in a state and none does.
func (g *graph) vacant(n uint32) bool { return g.able[n] && !g.led[n] }

// out returns the arrows from a state. A state at the edge of the search has none.
func (g *graph) out(n uint32) []arrow {
	if int(n)+1 >= len(g.begins) {
		return nil
	}
	return g.arrows[g.begins[n]:g.begins[n+1]]
}

// idling returns the first component of vacant states that a fair run need not leave,
// or nil if there is none.
func (g *graph) idling() *component {
	c := g.components()
	seen := make([]bool, c.count+1)
	for n, in := range c.of {
		if in == 0 || seen[in] {
			continue
		}
		seen[in] = true
		if r := g.unfold(uint32(n), c.of); r.fair() {
			return r
		}
	}
	return nil
}

// tarjan finds strongly connected components by Tarjan's algorithm, without recursion.
type tarjan struct {
	g          *graph
	of         []uint32 // the component of a state, from 1 on; 0: it is not vacant
	count      uint32
	met        uint32
	index, low []uint32
	next       []uint32 // how many arrows of a state were followed
	path       []uint32 // from where the search began to where it is
	open       []uint32 // states that were met and have no component yet
}

// components finds the strongly connected components of the vacant states.
func (g *graph) components() *tarjan {
	n := len(g.parent)
	c := &tarjan{g: g, of: make([]uint32, n), index: make([]uint32, n), low: make([]uint32, n), next: make([]uint32, n)}
	for first := range uint32(n) {
		if c.index[first] != 0 || !g.vacant(first) {
			continue
		}
		c.enter(first)
		for len(c.path) > 0 {
			if at := c.path[len(c.path)-1]; !c.follow(at) {
				c.leave(at)
			}
		}
	}
	return c
}

func (c *tarjan) enter(n uint32) {
	c.met++
	c.index[n], c.low[n] = c.met, c.met
	c.path, c.open = append(c.path, n), append(c.open, n)
}

// follow follows the next arrow of a state, and reports whether there was one.
func (c *tarjan) follow(n uint32) bool {
	out := c.g.out(n)
	if int(c.next[n]) == len(out) {
		return false
	}
	to := out[c.next[n]].to
	c.next[n]++
	switch {
	case !c.g.vacant(to):
	case c.index[to] == 0:
		c.enter(to)
	case c.of[to] == 0:
		c.low[n] = min(c.low[n], c.index[to])
	}
	return true
}

// leave goes back from a state all of whose arrows were followed.
func (c *tarjan) leave(n uint32) {
	c.path = c.path[:len(c.path)-1]
	if len(c.path) > 0 {
		up := c.path[len(c.path)-1]
		c.low[up] = min(c.low[up], c.low[n])
	}
	if c.low[n] != c.index[n] {
		return
	}
	c.count++
	for c.of[n] == 0 {
		last := len(c.open) - 1
		c.of[c.open[last]] = c.count
		c.open = c.open[:last]
	}
}

// component is a strongly connected component in which every participant is followed
// from seat to seat. It has a state once for each way in which the participants can
// have changed seats.
type component struct {
	root  uint32
	spots []spot
	all   []duties // of each spot, by the seats in the root
	out   [][]hop
}

// spot is a state, and the seats that the participants of the root have in it.
type spot struct {
	n     uint32
	seats turn
}

// hop is an arrow between two spots.
type hop struct {
	to    int
	does  duties // by the seats in the root
	arrow arrow
}

// unfold returns the component of a state.
func (g *graph) unfold(root uint32, of []uint32) *component {
	r := &component{root: root}
	known := map[spot]int{}
	reach := func(s spot) int {
		at, ok := known[s]
		if !ok {
			at = len(r.spots)
			known[s] = at
			r.spots = append(r.spots, s)
		}
		return at
	}
	reach(spot{root, still})
	for at := 0; at < len(r.spots); at++ {
		here := r.spots[at]
		r.all = append(r.all, here.seats.back(g.duties[here.n]))
		var hops []hop
		for _, a := range g.out(here.n) {
			if of[a.to] == of[root] {
				to := reach(spot{a.to, here.seats.then(a.turn)})
				hops = append(hops, hop{to, here.seats.back(duty(a.act, int(a.seat))), a})
			}
		}
		r.out = append(r.out, hops)
	}
	return r
}

// back returns duties by the seats before a turn.
func (t turn) back(after duties) duties {
	before := after & clock
	for seat := range maxSeats {
		before |= after >> (seatBits * t.of(seat)) & (1<<seatBits - 1) << (seatBits * seat)
	}
	return before
}

// fair reports whether a fair run can stay in the component: it has a cycle, and one of
// its hops does each duty that is possible at all its spots.
func (r *component) fair() bool {
	always, done, hops := ^duties(0), duties(0), 0
	for at, all := range r.all {
		always &= all
		for _, h := range r.out[at] {
			done |= h.does
			hops++
		}
	}
	return hops > 0 && always&^done == 0
}

// round returns a cycle through the root that is fair if it is repeated without end.
func (r *component) round() (arrows []arrow) {
	at, open := 0, r.all[0] // duties that were possible at every spot so far, and were not done
	visit := func(hops []hop) {
		for _, h := range hops {
			arrows = append(arrows, h.arrow)
			at, open = h.to, open&r.all[h.to]&^h.does
		}
	}
	for open != 0 {
		visit(r.way(at, func(h hop) bool { return open&^(r.all[h.to]&^h.does) != 0 }))
	}
	if at != 0 || len(arrows) == 0 {
		visit(r.way(at, func(h hop) bool { return h.to == 0 }))
	}
	return arrows
}

// way returns the shortest way from a spot whose last hop satisfies last.
func (r *component) way(from int, last func(hop) bool) []hop {
	type visit struct {
		at, before int
		by         hop
	}
	seen := map[int]bool{from: true}
	queue := []visit{{at: from, before: -1}}
	for i := 0; i < len(queue); i++ {
		for _, h := range r.out[queue[i].at] {
			if !last(h) {
				if !seen[h.to] {
					seen[h.to] = true
					queue = append(queue, visit{h.to, i, h})
				}
				continue
			}
			hops := []hop{h}
			for j := i; queue[j].before >= 0; j = queue[j].before {
				hops = append(hops, queue[j].by)
			}
			slices.Reverse(hops)
			return hops
		}
	}
	panic("small: a component without the hop that makes it fair")
}
