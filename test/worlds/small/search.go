package small

import (
	"encoding/binary"
	"fmt"
	"io"
	"time"
)

// graph is what a search has seen: states by number, in the order in which they
// were reached, and the arrows that are no faults.
type graph struct {
	known  map[digest]uint32
	parent []uint32
	via    []step
	led    []bool   // somebody leads, or unreleased work holds its place
	able   []bool   // somebody could lead
	open   []bool   // what comes after it is not known
	duties []duties // what a fair run does in the end
	begins []uint64 // where a state's arrows begin in arrows
	arrows []arrow

	// To prove that worlds with one digest are one state.
	after  []uint64 // the sum of the digests that follow, by state
	merged []twin
}

// twin is a world that was taken for a state that was known.
type twin struct {
	w      *world
	number uint32
}

// Result is what a search came to.
type Result struct {
	Config    Config
	States    int
	Steps     int // arrows, faults included
	Depth     int // steps from the beginning to the last state
	Truncated int // states that were reached and not gone on from
	Merged    int // arrows to a state that was known
	Proved    int // of these, compared in all that follows
	Took      time.Duration
	Broken    []string // what is wrong, of the first state where something is
	Trace     []step   // the way there
	Round     int      // how many of its last steps a fair run can repeat without end
	Finished  int      // states at the edge from which a leader was reached by going on
}

// String returns the result on one line.
func (r Result) String() string {
	cut := "in full"
	if r.Truncated > 0 {
		cut = fmt.Sprintf("TRUNCATED: %d states were not gone on from, of which %d found a leader by going on "+
			"without faults", r.Truncated, r.Finished)
	}
	if r.Broken != nil {
		cut = "BROKEN: " + r.Broken[0]
	}
	return fmt.Sprintf("%s: %d states, %d steps, depth %d, %s; %s, %.0f states/s",
		r.Config, r.States, r.Steps, r.Depth, cut,
		r.Took.Round(time.Millisecond), float64(r.States)/r.Took.Seconds())
}

// Search goes through a small world, breadth first, until something is wrong or
// everything was seen. Progress may be nil.
func Search(cfg Config, progress io.Writer) Result {
	begun := time.Now()
	g := &graph{known: map[digest]uint32{}}
	r := Result{Config: cfg}
	first := newWorld(&cfg, false)
	g.reach(first, 0, step{})
	layer, numbers := []*world{first}, []uint32{0}
	for len(layer) > 0 && r.Broken == nil {
		if cfg.Depth > 0 && r.Depth >= cfg.Depth || cfg.States > 0 && len(g.parent) >= cfg.States {
			break
		}
		if progress != nil {
			fmt.Fprintf(progress, "depth %d: %d states, %d to go on from, %s\n", r.Depth, len(g.parent), len(layer),
				time.Since(begun).Round(time.Second))
		}
		layer, numbers = g.expand(layer, numbers, &r)
		r.Depth++
	}
	if r.Broken == nil {
		r.Truncated = len(layer)
		g.alive(layer, numbers, &r)
	}
	g.prove(&r)
	r.States, r.Took = len(g.parent), time.Since(begun)
	return r
}

// reach notes a world, and reports whether it is a new state.
func (g *graph) reach(w *world, from uint32, s step) (uint32, bool) {
	d := w.canon()
	if n, ok := g.known[d]; ok {
		return n, false
	}
	n := uint32(len(g.parent))
	g.known[d] = n
	g.parent, g.via = append(g.parent, from), append(g.via, s)
	g.led, g.able = append(g.led, w.led() || w.held()), append(g.able, w.anyAble())
	g.open, g.duties = append(g.open, true), append(g.duties, w.duties())
	return n, true
}

// expand takes every step from every state of a layer.
func (g *graph) expand(layer []*world, numbers []uint32, r *Result) (next []*world, reached []uint32) {
	var steps []step
	for i, w := range layer {
		from := numbers[i]
		g.open[from] = false
		g.begins = append(g.begins, uint64(len(g.arrows)))
		if w.Prove > 0 {
			g.after = append(g.after, w.follow())
		}
		steps = w.steps(steps[:0])
		for _, s := range steps {
			n := w.take(s)
			r.Steps++
			if n.wrongs != nil {
				r.Broken, r.Trace = n.wrongs, append(g.way(from), s)
				return nil, nil
			}
			number, fresh := g.reach(n, from, s)
			if !s.fault {
				g.arrows = append(g.arrows, w.arrow(s, n, number))
			}
			if !fresh {
				if r.Merged++; w.Prove > 0 && r.Merged%w.Prove == 0 {
					g.merged = append(g.merged, twin{n, number})
				}
				continue
			}
			next, reached = append(next, n), append(reached, number)
		}
		layer[i] = nil
	}
	return next, reached
}

// way returns the path to a state.
func (g *graph) way(to uint32) []step {
	var back []step
	for ; to != 0; to = g.parent[to] {
		back = append(back, g.via[to])
	}
	path := make([]step, 0, len(back)+1)
	for i := range back {
		path = append(path, back[len(back)-1-i])
	}
	return path
}

// patience is how many steps a run without faults may take to a leader.
const patience = 400

// heals runs a world on without faults, everything as soon as it can be, and reports
// whether it comes to a leader.
func (w *world) heals() bool {
	for range patience {
		if !w.vacant() {
			return true
		}
		if w = w.hasten(); w == nil {
			return false
		}
	}
	return false
}

// hasten takes the step that comes first in a run without faults. It returns nil if there is none.
func (w *world) hasten() *world {
	steps := w.steps(nil)
	best, rank := -1, 0
	for i, s := range steps {
		if r := haste(s); !s.fault && (best < 0 || r < rank) {
			best, rank = i, r
		}
	}
	if best < 0 {
		return nil
	}
	return w.take(steps[best])
}

// haste returns what a run without faults does first.
func haste(s step) int {
	switch s.act {
	case deliver:
		return 0
	case resume, catchUp:
		return 1
	case serve, ring, finish:
		return 2
	case attach:
		return 3
	case tick:
		return 4
	}
	return 5
}

// follow returns the sum of the digests of all that can come next.
func (w *world) follow() (sum uint64) {
	for _, s := range w.steps(nil) {
		d := w.take(s).canon()
		sum += binary.LittleEndian.Uint64(d[:])
	}
	return sum
}

// prove compares what follows from worlds that were taken for one state.
func (g *graph) prove(r *Result) {
	for _, t := range g.merged {
		if int(t.number) >= len(g.after) {
			continue // at the edge
		}
		r.Proved++
		differs := t.w.follow() != g.after[t.number] || t.w.duties() != g.duties[t.number] ||
			t.w.vacant() != g.vacant(t.number)
		if differs && r.Broken == nil {
			r.Broken = []string{"two worlds with one digest go on differently"}
			r.Trace = g.way(t.number)
		}
	}
}
