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
// samples is what their drift allows.
type envelope struct {
	samples []sample
	before  []interval // at each sample, what it and those before it allow
	after   []interval // the same for those after it
	ppm     int64
}

func (e *envelope) add(t int64, offset interval) {
	e.samples = append(e.samples, sample{t, offset})
}

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

// finish makes the envelope ready for at.
func (e *envelope) finish() {
	slices.SortStableFunc(e.samples, func(a, b sample) int { return cmp.Compare(a.t, b.t) })
	n := len(e.samples)
	e.before, e.after = make([]interval, n), make([]interval, n)
	carry := anywhere
	for i, s := range e.samples {
		if i > 0 {
			carry = e.drifted(carry, s.t-e.samples[i-1].t)
		}
		carry, _ = narrow(carry, s.offset)
		e.before[i] = carry
	}
	carry = anywhere
	for i := n - 1; i >= 0; i-- {
		if i < n-1 {
			carry = e.drifted(carry, e.samples[i+1].t-e.samples[i].t)
		}
		carry, _ = narrow(carry, e.samples[i].offset)
		e.after[i] = carry
	}
}

// at returns the offset when the clock shows t. It is false if samples contradict each other:
// then one of the clocks was set, and the bounds cover both.
func (e *envelope) at(t int64) (interval, bool) {
	i, _ := slices.BinarySearchFunc(e.samples, t, func(s sample, t int64) int { return cmp.Compare(s.t, t) })
	got, fits := anywhere, true
	if i > 0 {
		got = e.drifted(e.before[i-1], t-e.samples[i-1].t)
	}
	if i < len(e.samples) {
		got, fits = narrow(got, e.drifted(e.after[i], e.samples[i].t-t))
	}
	return got, fits
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
