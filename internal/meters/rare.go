package meters

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Term is how many terms ended for one reason.
type Term struct {
	Path, Recipe, Reason string
	Count                uint64
}

// Recipe has how long the terms of a recipe lasted, and the takeovers before them.
type Recipe struct {
	Recipe        string
	Led, Takeover Distribution
}

// Queue is what is known of a queue.
type Queue struct {
	Path                    string
	Items                   int
	Oldest                  time.Duration
	Done, Failed, Withdrawn uint64
	Took                    Distribution
}

// Rare is what the meters have under a lock.
type Rare struct {
	Pauses  uint64
	Paused  time.Duration
	Terms   []Term   // by path, recipe and reason
	Recipes []Recipe // by name
	Queues  []Queue  // by path
}

// Rare returns what is under the lock, at an instant of the loop's clock.
func (m *Meters) Rare(now int64) Rare {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := Rare{Pauses: m.pauses, Paused: m.paused}
	for key, n := range m.terms {
		s.Terms = append(s.Terms, Term{key.path, key.recipe, key.reason, n})
	}
	slices.SortFunc(s.Terms, func(a, b Term) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Recipe, b.Recipe), cmp.Compare(a.Reason, b.Reason))
	})
	recipes := map[string]bool{}
	for recipe := range m.led {
		recipes[recipe] = true
	}
	for recipe := range m.took {
		recipes[recipe] = true
	}
	for _, recipe := range slices.Sorted(maps.Keys(recipes)) {
		r := Recipe{recipe, NewHistogram(ledBounds).Read(), NewHistogram(takeoverBounds).Read()}
		if h := m.led[recipe]; h != nil {
			r.Led = h.Read()
		}
		if h := m.took[recipe]; h != nil {
			r.Takeover = h.Read()
		}
		s.Recipes = append(s.Recipes, r)
	}
	for _, path := range slices.Sorted(maps.Keys(m.queues)) {
		s.Queues = append(s.Queues, m.queues[path].read(path, now))
	}
	return s
}

// read returns what is known of the queue at an instant of the loop's clock.
func (q *QueueMeter) read(path string, now int64) Queue {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := Queue{Path: path, Items: q.items, Done: q.results[ItemDone], Failed: q.results[ItemFailed],
		Withdrawn: q.results[ItemWithdrawn], Took: q.took.Read()}
	if q.head != "" {
		s.Oldest = time.Duration(now - q.since)
	}
	return s
}
