package main

import (
	"os"
	"slices"
	"strings"
	"testing"
)

func lines(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../" + name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r", "")
}

// The picture of the operations guide is that of the recorded run, and the run shows what the guide says: no scrape has
// two leaders, late answers lower the margin, a silence ends every belief, and leadership comes back.
func TestThePictureIsThatOfTheRun(t *testing.T) {
	all := read(lines(t, recorded))
	if got := lines(t, picture); got != draw(all) {
		t.Errorf("%s is not what %s shows: go run ./cmd/genscrapes", picture, recorded)
	}
	leaders, times := map[float64]int{}, []float64{}
	for _, p := range all {
		if _, known := leaders[p.seconds]; !known {
			times = append(times, p.seconds)
		}
		if leaders[p.seconds] += 0; p.leading {
			leaders[p.seconds]++
		}
	}
	silence, after := 0, 0
	for _, at := range times {
		n := leaders[at]
		switch {
		case n > 1:
			t.Errorf("after %.2f s, %d lead", at, n)
		case n == 0 && at > 24 && at < 30:
			silence++
		case n == 1 && at > 32:
			after++
		}
	}
	low := 1.0
	for _, m := range margins(all) {
		if m[0] > 16 && m[0] < 20 {
			low = min(low, m[1])
		}
	}
	if len(times) < 100 || silence == 0 || after == 0 || low > .7 {
		t.Errorf("%d scrapes, %d without a leader in the silence, %d with one after it, the lowest margin of late "+
			"answers %.2f", len(times), silence, after, low)
	}
}

// A term is drawn from the first scrape that shows it to the first that does not, a time without a leader likewise,
// and a margin is that of
// the heartbeats between two scrapes.
func TestSpansAndMargins(t *testing.T) {
	all := read("header\n0\ta\t0\t0\t0\n1000\ta\t1\t.9\t1\n2000\ta\t1\t1.4\t2\n3000\ta\t0\t1.4\t2\n" +
		"4000\ta\t1\t1.4\t2\n")
	if got := spans(all, "a"); len(got) != 2 || got[0] != [2]float64{1, 3} || got[1] != [2]float64{4, 4} {
		t.Errorf("%v", got)
	}
	three := read("header\n0\ta\t1\t0\t0\n0\tb\t0\t0\t0\n0\tc\t0\t0\t0\n" +
		"2000\ta\t0\t0\t0\n2000\tb\t0\t0\t0\n2000\tc\t0\t0\t0\n" +
		"5000\ta\t0\t0\t0\n5000\tb\t1\t0\t0\n5000\tc\t0\t0\t0\n")
	if got, want := states(three), []state{{0, 2, 1}, {2, 5, 0}, {5, 5, 1}}; !slices.Equal(got, want) {
		t.Errorf("the states are %v, want %v", got, want)
	}
	if got := margins(all); len(got) != 2 || got[1][0] != 2 || got[1][1] < .49 || got[1][1] > .51 {
		t.Errorf("%v", got)
	}
}
