package discovery

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
)

// Strategy picks one of the candidates, of which there is at least one, in the order of their nodes' names. It must
// not change them, and has to be safe to call from several goroutines if its provider is.
type Strategy func(candidates []Found) Found

// RoundRobin returns a strategy that takes one after the other, by the names of their nodes, and goes on at the same
// place when instances come and go. Each call of RoundRobin returns one with a place of its own.
func RoundRobin() Strategy {
	var mu sync.Mutex
	var last string
	return func(candidates []Found) Found {
		mu.Lock()
		defer mu.Unlock()
		i, at := find(candidates, last)
		if at {
			i++
		}
		next := candidates[i%len(candidates)]
		last = next.Node
		return next
	}
}

// find returns the position of a node, and whether it is there.
func find(candidates []Found, node string) (int, bool) {
	return slices.BinarySearchFunc(candidates, node, func(f Found, node string) int {
		return strings.Compare(f.Node, node)
	})
}

// Random returns a strategy that takes any of the candidates. The source is locked while it is used, so that the
// caller may give one with a seed, and then must use it nowhere else; nil stands for one that nobody can predict.
func Random(source rand.Source) Strategy {
	var mu sync.Mutex
	draw := rand.IntN
	if source != nil {
		draw = rand.New(source).IntN
	}
	return func(candidates []Found) Found {
		mu.Lock()
		defer mu.Unlock()
		return candidates[draw(len(candidates))]
	}
}

// Sticky returns a strategy that stays with one instance while it is a candidate, and then has another strategy pick
// the next. Each call of Sticky returns one with an instance of its own.
func Sticky(next Strategy) Strategy {
	var mu sync.Mutex
	var kept string
	var chosen bool
	return func(candidates []Found) Found {
		mu.Lock()
		defer mu.Unlock()
		i, at := find(candidates, kept)
		if chosen && at {
			return candidates[i]
		}
		one := next(candidates)
		kept, chosen = one.Node, true
		return one
	}
}
