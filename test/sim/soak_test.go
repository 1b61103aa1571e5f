package sim

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"
	"time"
)

// TestSoakGoesOn checks that a run that is stopped twice and resumed gives the sum of one
// that was not stopped.
func TestSoakGoesOn(t *testing.T) {
	const first, worlds = 500, 40
	p := plantNamed("the look-up by GUID finds nothing") // so that some worlds fail
	o := Options{Plant: &p}
	whole, err := Soak(t.Context(), filepath.Join(t.TempDir(), "whole"), first, worlds, o, func(*Sum) {})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "parts")
	for _, stop := range []int64{9, 25} {
		ctx, cancel := context.WithCancel(t.Context())
		sum, err := resume(path, first)
		if err != nil {
			t.Fatal(err)
		}
		Many(ctx, sum, worlds-sum.Worlds, o, func(s *Sum) {
			if s.Worlds == stop {
				cancel()
			}
		})
		cancel()
		if sum.Worlds != stop {
			t.Errorf("stopped after %d worlds, and %d are in the sum", stop, sum.Worlds)
		}
		if err := sum.keep(path); err != nil {
			t.Fatal(err)
		}
	}
	parts, err := Soak(t.Context(), path, first, worlds, o, func(*Sum) {})
	if err != nil {
		t.Fatal(err)
	}
	whole.Took, parts.Took = 0, 0
	a, _ := json.Marshal(whole)
	b, _ := json.Marshal(parts)
	if string(a) != string(b) || len(whole.Failed) == 0 || whole.Next != first+worlds {
		t.Errorf("in one go:\n%s\nin three:\n%s", a, b)
	}
}

// TestSoakOfSomethingElse checks that a run is not resumed with other charts or another range.
func TestSoakOfSomethingElse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sum")
	if err := NewSum(7).keep(path); err != nil {
		t.Fatal(err)
	}
	if _, err := resume(path, 8); err == nil {
		t.Error("a sum that began with another seed was taken up")
	}
	if sum, err := resume(path, 7); err != nil || sum.Next != 7 {
		t.Errorf("%v, %v", sum, err)
	}
}

func plantNamed(name string) Plant {
	for _, p := range Plants() {
		if p.Name == name {
			return p
		}
	}
	panic("no plant " + name)
}

// TestProgress checks that a long run says how far it is, how fast, how long the rest takes,
// and what was worst.
func TestProgress(t *testing.T) {
	s := NewSum(1)
	s.Worlds, s.Took, s.Worst, s.Failed = 250, 10*time.Second, 7*time.Second, make([]Result, 2)
	const want = "250 of 1000 worlds, 25/s, 30s left, worst belief after a deletion by others 7s, failed 2"
	if got := s.Progress(1000); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
