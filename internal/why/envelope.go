package why

import (
	"cmp"
	"slices"
)

// endless is a bound that is none.
const endless = int64(1) << 61

// interval is a reading of a clock that is known within bounds.
type interval struct{ lo, hi int64 }

var anywhere = interval{-endless, endless}

func (i interval) known() bool { return i.lo > -endless && i.hi < endless }

func (i interval) mid() int64 {
	switch {
	case i.known():
		return i.lo + (i.hi-i.lo)/2
	case i.lo > -endless:
		return i.lo
	case i.hi < endless:
		return i.hi
	}
	return 0
}

// width returns how far the bounds are apart.
func (i interval) width() int64 {
	if !i.known() {
		return endless
	}
	return i.hi - i.lo
}

// plus returns the sum of a reading and an offset.
func (i interval) plus(o interval) interval {
	sum := anywhere
	if i.lo > -endless && o.lo > -endless {
		sum.lo = i.lo + o.lo
	}
	if i.hi < endless && o.hi < endless {
		sum.hi = i.hi + o.hi
	}
	return sum
}

// sample says how far one clock is ahead of another, when that other one showed t.
type sample struct {
	t      int64
	offset interval
}

// envelope has the samples of one pair of clocks. What is known of the offset between two
// samples is what their drift allows. A sample that says no more than those around it is not kept.
type envelope struct {
	samples []sample
	added   int        // how many samples there were
	thinned int        // how many were left the last time that some were left out
	before  []interval // at each sample, what it and those before it allow
	after   []interval // the same for those after it
	ppm     int64
	asked   int // the index that at found last: those who ask go through time
}

func (e *envelope) add(t int64, offset interval) {
	e.samples = append(e.samples, sample{t, offset})
	if e.added++; len(e.samples) >= max(minThinned, 2*e.thinned) {
		e.thin()
		e.thinned = len(e.samples)
	}
}

// minThinned is how many samples there are at least when those are left out that say nothing.
const minThinned = 4096

// drifted returns bounds that held some time ago, or will.
func (e *envelope) drifted(i interval, by int64) interval {
	if by < 0 {
		by = -by
	}
	more := by/1_000_000*e.ppm + by%1_000_000*e.ppm/1_000_000
	if i.lo > -endless {
		i.lo -= more
	}
	if i.hi < endless {
		i.hi += more
	}
	return i
}

// thin sorts the samples, and leaves out those that say no more than those around them.
func (e *envelope) thin() {
	slices.SortStableFunc(e.samples, func(a, b sample) int { return cmp.Compare(a.t, b.t) })
	says := make([]bool, len(e.samples)) // more than those around it
	e.pass(e.samples, 1, says, nil)
	e.pass(e.samples, -1, says, nil)
	kept := e.samples[:0]
	for i, s := range e.samples {
		if says[i] {
			kept = append(kept, s)
		}
	}
	e.samples = kept
}

// finish makes the envelope ready for at.
func (e *envelope) finish() {
	e.thin()
	e.samples = slices.Clone(e.samples) // which were more
	e.before, e.after = make([]interval, len(e.samples)), make([]interval, len(e.samples))
	e.pass(e.samples, 1, nil, e.before)
	e.pass(e.samples, -1, nil, e.after)
}

// pass goes through samples by a step of 1 or -1. It sets which of them say more than those that it has passed, and
// what they allow together.
func (e *envelope) pass(all []sample, step int, says []bool, allow []interval) {
	carry, i := anywhere, 0
	if step < 0 {
		i = len(all) - 1
	}
	for last := i; i >= 0 && i < len(all); last, i = i, i+step {
		carry = e.drifted(carry, all[i].t-all[last].t)
		got, _ := narrow(carry, all[i].offset)
		if says != nil {
			says[i] = says[i] || got != carry
		}
		if carry = got; allow != nil {
			allow[i] = carry
		}
	}
}

// at returns the offset when the clock shows t. It is false if samples contradict each other:
// then one of the clocks was set, and the bounds cover both.
func (e *envelope) at(t int64) (interval, bool) {
	i := e.find(t)
	got, fits := anywhere, true
	if i > 0 {
		got = e.drifted(e.before[i-1], t-e.samples[i-1].t)
	}
	if i < len(e.samples) {
		got, fits = narrow(got, e.drifted(e.after[i], e.samples[i].t-t))
	}
	return got, fits
}

// find returns the index of the first sample at or after t.
func (e *envelope) find(t int64) int {
	all, i := e.samples, e.asked
	if i > 0 && all[i-1].t >= t || i < len(all) && all[i].t < t {
		i, _ = slices.BinarySearchFunc(all, t, func(s sample, t int64) int { return cmp.Compare(s.t, t) })
		e.asked = i
	}
	return i
}

// narrow returns what two bounds allow together. If they exclude each other it reports false,
// and returns bounds that cover both.
func narrow(a, b interval) (interval, bool) {
	both := interval{max(a.lo, b.lo), min(a.hi, b.hi)}
	if both.lo <= both.hi {
		return both, true
	}
	return interval{min(a.lo, b.lo), max(a.hi, b.hi)}, false
}
