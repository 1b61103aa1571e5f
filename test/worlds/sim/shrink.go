package sim

import (
	"slices"
	"time"
)

// Shrink makes a failing world smaller while the same check still fails: it ends soon
// after the failure, and has fewer faults, fewer clients, and one line. Each fault has dice
// of its own, so that the others change little if one is taken out.
func Shrink(r Result, o Options) Result {
	for {
		smaller := r
		for _, p := range smallerPlans(r) {
			o.Plan = &p
			s := Run(p.Seed, o)
			if len(s.Broken) > 0 && s.Broken[0].Check == r.Broken[0].Check && s.Moments < r.Moments+r.Moments/10 {
				smaller = s
				break
			}
		}
		if smaller.Plan.size() >= r.Plan.size() {
			return r
		}
		r = smaller
	}
}

// smallerPlans returns the next smaller plans, the smallest first.
func smallerPlans(r Result) (plans []Plan) {
	add := func(change func(*Plan)) {
		p := r.Plan
		p.Without = slices.Clone(p.Without)
		if change(&p); p.size() < r.Plan.size() {
			plans = append(plans, p)
		}
	}
	for _, length := range []time.Duration{r.Broken[0].At + r.Plan.Tick/8, r.Plan.Length / 2, r.Plan.Length * 3 / 4} {
		add(func(p *Plan) { p.Length = min(p.Length, max(length, p.Tick)) })
	}
	for _, f := range r.Plan.Faults {
		if r.Plan.has(f.Fault) {
			add(func(p *Plan) { p.Without = append(p.Without, f.Fault) })
		}
	}
	add(func(p *Plan) { p.Lines = 1 })
	for i := range r.Plan.OwnDirs {
		add(func(p *Plan) { p.OwnDirs = slices.Delete(slices.Clone(p.OwnDirs), i, i+1) })
	}
	for n := 2; n < r.Plan.Clients; n++ {
		add(func(p *Plan) { p.Clients = n })
	}
	return plans
}

// size orders plans: every smaller plan has a smaller one.
func (p Plan) size() int64 {
	faults := int64(len(p.Faults) - len(p.Without))
	return int64(p.Length/time.Millisecond) + 1000*(faults+int64(p.Clients)+int64(p.Lines)+int64(len(p.OwnDirs)))
}
