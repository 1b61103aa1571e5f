package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestQuantilesLieBetweenValues(t *testing.T) {
	values := []float64{40, 10, 30, 20}
	for q, want := range map[float64]float64{0: 10, 0.5: 25, 1: 40, 0.9: 37} {
		if got := Quantile(values, q); math.Abs(got-want) > 1e-9 {
			t.Errorf("quantile %v of %v is %v, want %v", q, values, got, want)
		}
	}
	if values[0] != 40 {
		t.Error("the values were sorted in their place")
	}
	if got := Median([]float64{7}); got != 7 {
		t.Errorf("the median of one value is %v", got)
	}
	if got := Median(nil); !math.IsNaN(got) {
		t.Errorf("the median of nothing is %v", got)
	}
}

// The bounds and coverages are those of tables of the binomial distribution.
func TestTheIntervalOfAMedianIsThatOfTheTables(t *testing.T) {
	for _, c := range []struct {
		n, low, high int // which of the sorted values, from 1
		confidence   float64
	}{
		{1, 1, 1, 0}, {5, 1, 5, 0.9375}, {6, 1, 6, 0.96875}, {8, 1, 8, 0.9921875}, {9, 2, 8, 0.9609375},
		{10, 2, 9, 0.978515625}, {20, 6, 15, 0.9586105},
	} {
		values := make([]float64, c.n)
		for i := range values {
			values[i] = float64(c.n - i)
		}
		got := MedianInterval(values, 0.95)
		if got.Low != float64(c.low) || got.High != float64(c.high) || math.Abs(got.Confidence-c.confidence) > 1e-6 {
			t.Errorf("of %d values: %+v, want from %d to %d with %v", c.n, got, c.low, c.high, c.confidence)
		}
		if want := float64(c.n+1) / 2; got.Mid != want {
			t.Errorf("of %d values: the median is %v, want %v", c.n, got.Mid, want)
		}
	}
	if got := MedianInterval(nil, 0.95); !math.IsNaN(got.Mid) || got.Confidence != 0 {
		t.Errorf("of no values: %+v", got)
	}
}

// The interval has the median of a skewed distribution as often as it says.
func TestTheIntervalHasTheMedian(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const n, trials = 12, 20_000
	hits, claimed := 0, 0.0
	for range trials {
		values := make([]float64, n)
		for i := range values {
			values[i] = math.Exp(random.NormFloat64()) // its median is 1
		}
		got := MedianInterval(values, 0.95)
		claimed = got.Confidence
		if got.Low <= 1 && 1 <= got.High {
			hits++
		}
	}
	if rate := float64(hits) / trials; math.Abs(rate-claimed) > 0.01 {
		t.Errorf("the interval had the median in %.3f of the trials, and claims %.3f", rate, claimed)
	}
}
