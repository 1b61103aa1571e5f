// Package stats has the few statistics that the tables need. It assumes nothing about distributions.
package stats

import (
	"math"
	"slices"
)

// Interval is a median and the interval that has the true one with at least the confidence that was asked for, if there
// were enough values: with fewer, it reaches from the least to the greatest.
type Interval struct {
	Low, Mid, High float64
	Confidence     float64 // that the interval has
}

// Quantile returns the value below which a part q of the values lies, from 0 to 1. Between two values it interpolates
// linearly. It returns NaN if there are no values.
func Quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i == len(sorted)-1 {
		return sorted[i]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// Median returns the value in the middle, NaN if there are none.
func Median(values []float64) float64 { return Quantile(values, 0.5) }

// MedianInterval returns the median with its interval, by order statistics: the k-th least and the k-th greatest of n
// independent values enclose the median, unless fewer than k of them are on one side of it, and how many are is
// binomial with probability 1/2. The k is the greatest that gives the confidence.
func MedianInterval(values []float64, confidence float64) Interval {
	n := len(values)
	if n == 0 {
		nan := math.NaN()
		return Interval{nan, nan, nan, 0}
	}
	sorted := slices.Sorted(slices.Values(values))
	k := 1
	for k < (n+1)/2 && enclosed(n, k+1) >= confidence {
		k++
	}
	return Interval{sorted[k-1], Median(sorted), sorted[n-k], enclosed(n, k)}
}

// enclosed returns the probability that the median lies between the k-th least and the k-th greatest of n values.
func enclosed(n, k int) float64 {
	tail, term := 0.0, math.Pow(0.5, float64(n)) // term: probability that exactly i are below
	for i := range k {
		tail += term
		term *= float64(n-i) / float64(i+1)
	}
	return 1 - 2*tail
}
