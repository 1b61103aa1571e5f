package world

import (
	"math/rand/v2"
	"time"
)

// Dice returns the dice of one subject. Each has its own, so that taking one fault
// out of a world leaves the others' luck as it was.
func (w *World) Dice(subject string) *rand.Rand {
	d := w.dice[subject]
	if d == nil {
		d = NewDice(w.script.Seed, subject)
		w.dice[subject] = d
	}
	return d
}

// NewDice returns the dice that a seed has for a subject.
func NewDice(seed int64, subject string) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(seed), hash(subject)))
}

// hash makes a number of a name.
func hash(name string) uint64 {
	h := uint64(14695981039346656037)
	for _, b := range []byte(name) {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return h
}

// Between returns a random duration of at least from and less than to; from, if to is not more.
func Between(d *rand.Rand, from, to time.Duration) time.Duration {
	if to <= from {
		return from
	}
	return from + time.Duration(d.Int64N(int64(to-from)))
}

// OneIn reports whether one of n equal chances is met.
func OneIn(d *rand.Rand, n int) bool { return d.IntN(n) == 0 }
