package drawing

import (
	"fmt"
	"maps"
	"slices"

	"github.com/incumbent-go/incumbent/engine"
)

// Columns of a picture: the happy path goes straight down the spine, all other
// states are in a lane on either side. Between the spine and each lane is a channel
// for the arrows.
const (
	left = iota
	right
	spine
)

// spot is the position of a state.
type spot struct{ column, row int }

// maxTried is how many placements are tried: half as many again as the largest chart
// needs.
const maxTried = 1_000_000

// placement searches the spots with the shortest arrows: it tries all of them, the most
// promising first, and leaves a branch that can no longer be the best.
type placement struct {
	tries int
	d     engine.Description
	pull  map[engine.State]map[engine.State]int // how much an arrow's length weighs
	rows  int
	free  []engine.State
	at    map[engine.State]spot
	taken map[spot]bool

	best     map[engine.State]spot
	bestCost int
}

// place returns each state's spot and the number of rows. It fails if a composite cannot
// be one box with no other state in it: because composites overlap, or because the happy
// path leaves one and returns to it.
func place(d engine.Description, pic Picture) (map[engine.State]spot, int, error) {
	p := &placement{d: d, at: map[engine.State]spot{}, taken: map[spot]bool{}}
	p.weigh(pic)
	path := d.Happy
	if len(path) == 0 {
		path = []engine.State{d.States[0].Name}
	}
	for i, s := range path {
		p.at[s] = spot{spine, i}
	}
	for _, s := range d.States {
		if _, on := p.at[s.Name]; !on {
			p.free = append(p.free, s.Name)
		}
	}
	for p.rows = len(path); p.best == nil; p.rows++ {
		if p.tries >= maxTried || p.rows > len(d.States)+1 {
			return nil, 0,
				fmt.Errorf("drawing: chart %s: its composites cannot be drawn as boxes: none may overlap another, and "+
					"the happy path may not come back to one that it left", d.Name)
		}
		p.try(0, 0)
	}
	return p.best, p.rows - 1, nil
}

// weigh gives arrows that are drawn a larger weight than others.
func (p *placement) weigh(pic Picture) {
	p.pull = map[engine.State]map[engine.State]int{}
	for _, s := range p.d.States {
		p.pull[s.Name] = map[engine.State]int{}
	}
	for i, arrows := range [][]Arrow{pic.Arrows, pic.Hidden} {
		for _, a := range arrows {
			weight := []int{8, 1}[i]
			p.pull[a.From[0]][a.To] += weight
			p.pull[a.To][a.From[0]] += weight
		}
	}
}

func (p *placement) try(i, cost int) {
	if p.tries++; p.tries > maxTried || p.best != nil && cost >= p.bestCost {
		return
	}
	if i == len(p.free) {
		if p.wellEnclosed() {
			p.best, p.bestCost = maps.Clone(p.at), cost
		}
		return
	}
	type candidate struct {
		spot
		cost int
	}
	var all []candidate
	for row := range p.rows {
		for _, column := range []int{right, left} {
			if at := (spot{column, row}); !p.taken[at] && (column == right || i > 0) {
				all = append(all, candidate{at, cost + p.cost(p.free[i], at)})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return a.cost - b.cost })
	for _, c := range all {
		p.at[p.free[i]], p.taken[c.spot] = c.spot, true
		p.try(i+1, c.cost)
		delete(p.at, p.free[i])
		delete(p.taken, c.spot)
	}
}

// cost returns the length that a state adds, by its arrows to the states that have a
// spot already. The final state is cheapest at the bottom.
func (p *placement) cost(s engine.State, at spot) int {
	sum := 0
	for other, weight := range p.pull[s] {
		if there, ok := p.at[other]; ok {
			sum += weight * length(at, there)
		}
	}
	if s == p.d.Final {
		sum += 8 * (p.rows - at.row)
	}
	return sum
}

func length(a, b spot) int {
	n := 2 * max(a.row-b.row, b.row-a.row)
	switch {
	case a.column == b.column:
		n++
	case a.column != spine && b.column != spine:
		n += 12 // across the spine
	}
	return n
}

// wellEnclosed reports whether every composite can be drawn as one box that has
// no other state in it.
func (p *placement) wellEnclosed() bool {
	for _, c := range p.d.Composites {
		box := boundsOf(p.at, c.States)
		inside := 0
		for s, at := range p.at {
			if !box.holds(at) {
				continue
			}
			inside++
			if !slices.Contains(c.States, s) {
				return false
			}
		}
		if inside != len(c.States) {
			return false
		}
	}
	return true
}

// span is a box of spots: columns from left to right, and rows.
type span struct {
	columns     [3]bool
	first, last int
}

func boundsOf(at map[engine.State]spot, states []engine.State) span {
	b := span{first: -1}
	for _, s := range states {
		spot := at[s]
		b.columns[spot.column] = true
		if b.first < 0 || spot.row < b.first {
			b.first = spot.row
		}
		b.last = max(b.last, spot.row)
	}
	if b.columns[left] && b.columns[right] {
		b.columns[spine] = true
	}
	return b
}

func (b span) holds(at spot) bool {
	return b.columns[at.column] && b.first <= at.row && at.row <= b.last
}
