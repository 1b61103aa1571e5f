package sim

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"time"
)

// world is one run: everything in it happens in the order of one heap.
type world struct {
	Plan
	now   int64
	queue agenda
	count uint64 // events scheduled
	ran   uint64 // events run

	ens     *ensemble
	clients []*client
	dice    map[string]*rand.Rand
	stock   *stock // of a queue; nil where there is none
	checks  *checks
	plant   *Plant
	calm    bool // healed: no faults any more
	ending  bool // everything was asked to close
	cover   *Coverage
	stories bool
	story   []string
	keep    bool // whether the clients' records are kept
}

// moment is one thing to happen.
type moment struct {
	at    int64
	order uint64
	do    func()
}

type agenda []moment

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, j int) bool {
	return a[i].at < a[j].at || a[i].at == a[j].at && a[i].order < a[j].order
}
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)   { *a = append(*a, x.(moment)) }
func (a *agenda) Pop() any {
	old := *a
	last := old[len(old)-1]
	old[len(old)-1] = moment{}
	*a = old[:len(old)-1]
	return last
}

// at schedules something; what is due in the past happens next.
func (w *world) at(t int64, do func()) {
	w.count++
	heap.Push(&w.queue, moment{max(t, w.now), w.count, do})
}

func (w *world) after(d time.Duration, do func()) { w.at(w.now+int64(d), do) }

// until runs the world up to a time, or until a check fails.
func (w *world) until(end int64) {
	for len(w.queue) > 0 && w.queue[0].at <= end && w.checks.clean() {
		m := heap.Pop(&w.queue).(moment)
		w.now = m.at
		w.ran++
		m.do()
	}
	if w.checks.clean() {
		w.now = max(w.now, end)
	}
}

// roll is the dice of one subject. Each has its own, so that taking one fault
// out of a world leaves the others' luck as it was.
func (w *world) roll(subject string) *rand.Rand {
	d := w.dice[subject]
	if d == nil {
		d = rand.New(rand.NewPCG(uint64(w.Seed), hash(subject)))
		w.dice[subject] = d
	}
	return d
}

// hash makes a number of a name.
func hash(name string) uint64 {
	h := uint64(14695981039346656037)
	for _, b := range []byte(name) {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return h
}

// between is a random duration.
func between(d *rand.Rand, from, to time.Duration) time.Duration {
	if to <= from {
		return from
	}
	return from + time.Duration(d.Int64N(int64(to-from)))
}

func oneIn(d *rand.Rand, n int) bool { return d.IntN(n) == 0 }

// tell adds a line to the world's story.
func (w *world) tell(format string, args ...any) {
	if w.stories {
		w.story = append(w.story, fmt.Sprintf("%12s  ", time.Duration(w.now))+fmt.Sprintf(format, args...))
	}
}
