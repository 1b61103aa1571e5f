package why

import (
	"testing"
	"time"
)

// What is known on one side only of a clock is passed on to the next as it is.
func TestAOneSidedBoundIsPassedOn(t *testing.T) {
	c := &clocks{n: 3, edges: map[[2]int]*envelope{}, ppm: defaultDrift, readings: map[reading][]interval{}}
	c.link(0, 1, 0, interval{100, endless})
	c.link(1, 2, 100, interval{50, 50})
	for _, e := range c.edges {
		e.finish()
	}
	if got, want := c.readClock(0, 0)[2], (interval{150, endless}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// Work that ran at once is measured by clocks, with half of what is between their bounds as the error.
func TestHowLongTwoWorked(t *testing.T) {
	a, b := &Log{}, &Log{}
	c := &clocks{ids: map[*Log]int{a: 0, b: 1}, n: 2, edges: map[[2]int]*envelope{},
		readings: map[reading][]interval{}}
	c.link(0, 1, 0, interval{-50 * ms, 50 * ms})
	for _, e := range c.edges {
		e.finish()
	}
	h := &history{clocks: c}
	for _, one := range []struct {
		s, other    stint
		both, error time.Duration
		open        bool
	}{
		{stint{to: 1000 * ms}, stint{from: 500 * ms, to: 2000 * ms}, 500 * time.Millisecond, 50 * time.Millisecond,
			false},
		{stint{to: 1000 * ms}, stint{from: 500 * ms, to: 700 * ms}, 200 * time.Millisecond, 50 * time.Millisecond,
			false},
		{stint{to: 1000 * ms}, stint{from: 1050 * ms, to: 2000 * ms}, 0, 0, false},
		{stint{to: 1000 * ms}, stint{from: 1049 * ms, to: 2000 * ms}, 0, 0, true},
		{stint{to: 1000 * ms}, stint{from: 950 * ms, to: 2000 * ms}, 0, 0, true},
		{stint{from: 1000 * ms, to: 1000 * ms}, stint{from: 950 * ms, to: 2000 * ms}, 0, 0, false},
		{stint{from: 1000 * ms, to: 1000 * ms}, stint{from: 900 * ms, to: 2000 * ms}, 1, 50 * time.Millisecond, false},
		{stint{from: 1050 * ms, to: 2000 * ms}, stint{to: 1000 * ms}, 0, 0, false},
	} {
		o := Overlap{Earlier: &Term{Log: a}, Later: &Term{Log: b}}
		h.addOverlap(&o, one.s, one.other)
		if o.Both != one.both || o.Error != one.error || (o.Open != "") != one.open {
			t.Errorf("%+v and %+v: %s (±%s), %q", one.s, one.other, o.Both, o.Error, o.Open)
		}
	}
}
