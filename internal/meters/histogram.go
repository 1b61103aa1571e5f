package meters

import (
	"sync/atomic"
	"time"
)

// Distribution is what a histogram has counted: durations in seconds, or shares from 0 to 1.
type Distribution struct {
	Bounds []float64 // upper bounds of the buckets, inclusive and ascending; not to be changed
	Counts []uint64  // of each bucket, not cumulative; the last is of values above all bounds
	Sum    float64   // of all values
}

// The bounds of the histograms, in seconds; of marginBounds, shares of the belief.
var (
	answerBounds   = []float64{.0005, .001, .0025, .005, .01, .05, .25, 1, 2.5}
	marginBounds   = []float64{.05, .1, .25, .5, .75, .9}
	ledBounds      = []float64{1, 10, 60, 600, 3600, 21600, 86400, 604800}
	takeoverBounds = []float64{.001, .0025, .005, .01, .05, .25, 1, 5}
	lagBounds      = []float64{.0001, .0005, .001, .005, .025, .1, .5, 2.5}
	handlerBounds  = []float64{.005, .05, .25, 1, 5, 30, 120, 600}
)

// Histogram counts values without a lock. The zero value has no bounds: see NewHistogram.
type Histogram struct {
	bounds []float64
	counts [10]atomic.Uint64 // one more than the longest bounds
	sum    atomic.Int64      // in units of 1e-9, as a time.Duration of seconds is
}

// NewHistogram returns a histogram with these bounds, which are inclusive and ascending.
func NewHistogram(bounds []float64) *Histogram { return &Histogram{bounds: bounds} }

// NoteTime counts a duration; one below zero counts as zero.
func (h *Histogram) NoteTime(d time.Duration) { h.Note(d.Seconds()) }

// Note counts a value; one below zero counts as zero.
func (h *Histogram) Note(v float64) {
	v = max(v, 0)
	i := 0
	for i < len(h.bounds) && v > h.bounds[i] {
		i++
	}
	h.counts[i].Add(1)
	h.sum.Add(int64(v * 1e9))
}

// Read returns what was counted.
func (h *Histogram) Read() Distribution {
	r := Distribution{Bounds: h.bounds, Counts: make([]uint64, len(h.bounds)+1), Sum: float64(h.sum.Load()) / 1e9}
	for i := range r.Counts {
		r.Counts[i] = h.counts[i].Load()
	}
	return r
}
