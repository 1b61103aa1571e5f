package world

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Every participant has dice of its own: each client, each server, and the ensemble in its
// elections. A throw depends on the seed, the participant, the subject and the time, and on
// nothing else. So one throw more or less leaves all others as they were. If an action is
// taken out of a script, only its consequences change.

// subject is what dice are thrown for.
type subject int

const (
	clockDice    subject = iota // by how much a clock runs wrong
	loopDice                    // when a loop's goroutine runs
	readDice                    // when a socket is read
	wakeDice                    // the order of events after a pause
	linkDice                    // how long a message takes
	dialDice                    // how long it takes to dial again
	orderDice                   // the order of a listing, and of watches that are set again
	diskDice                    // how long a commit takes, and how much goes with it
	lagDice                     // how far a follower lags behind
	noticeDice                  // when a follower notices that it is isolated
	thawDice                    // when a thread runs after its server was frozen
	electionDice                // who is elected, and what survives
	programDice                 // when a script's program notices the end of its term
	codeDice                    // by which code that says nothing a write is answered
	subjects
)

// participantDice are the dice of one participant.
type participantDice struct {
	w    *World
	name string
	dice [subjects]*momentDice
}

// roll returns the participant's dice for a subject at this moment.
func (t *participantDice) roll(s subject) *rand.Rand {
	d := t.dice[s]
	if d == nil {
		d = &momentDice{key: hash(fmt.Sprint(t.name, " ", int(s))) ^ mix(uint64(t.w.script.Seed)), at: -1}
		d.Rand = rand.New(d)
		t.dice[s] = d
	}
	if d.at != t.w.now {
		d.at, d.state = t.w.now, d.key^mix(uint64(t.w.now))
	}
	return d.Rand
}

// momentDice are a rand.Source that begins again at each moment: splitmix64.
type momentDice struct {
	*rand.Rand
	key   uint64
	at    int64
	state uint64
}

// Uint64 returns the next throw of the moment.
func (d *momentDice) Uint64() uint64 {
	d.state += splitMixStep
	return mix(d.state)
}

const splitMixStep = 0x9e3779b97f4a7c15

// mix spreads a number over all bits.
func mix(z uint64) uint64 {
	z += splitMixStep
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Dice returns dice for somebody outside the world: an observer's plan, or its programs.
// Each subject has its own, one throw after the other. They do not move those of the
// world's participants.
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

// hash returns a number for a name.
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

// OneIn reports true once in n times.
func OneIn(d *rand.Rand, n int) bool { return d.IntN(n) == 0 }
