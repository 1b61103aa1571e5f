package async_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/incumbent-go/incumbent/internal/async"
)

// Of each key the newest value waits, at the place that Merge says, and as many values as keys.
func TestTheNewestOfEachKeyWaits(t *testing.T) {
	sum := func(to async.MergePlace) func(int, int) (int, async.MergePlace) {
		return func(unread, next int) (int, async.MergePlace) { return unread + next, to }
	}
	for want, merge := range map[string]func(int, int) (int, async.MergePlace){
		"[b2 a10 c5]": nil, "[b2 a11 c5]": sum(async.AtEnd), "[a11 b2 c5]": sum(async.InPlace),
		"[b2 c5]": sum(async.Dropped),
	} {
		n := async.NewNewest[int]()
		n.Merge = merge
		n.Check = func(keys, values int, key string) {
			if keys != values {
				t.Errorf("%d values of %d keys wait after %s", values, keys, key)
			}
		}
		for _, s := range []async.Item[int]{{Key: "a", Value: 1}, {Key: "b", Value: 2}, {Key: "a", Value: 10},
			{Key: "c", Value: 5}} {
			n.Put(s)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		got := []string{}
		for s, ok := n.Next(ended); ok; s, ok = n.Next(ended) {
			got = append(got, fmt.Sprint(s.Key, s.Value))
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%v, want %s", got, want)
		}
		n.Put(async.Item[int]{Key: "a", Value: 7}) // nothing of what was read is merged
		if s, ok := n.Next(ended); !ok || s.Value != 7 {
			t.Errorf("the next round: %v, %t", s, ok)
		}
	}
}

// Each of the three ends what waits for the next value.
func TestTheWaitForTheNewestEnds(t *testing.T) {
	for name, end := range map[string]func(*async.Newest[int], context.CancelFunc, chan struct{}){
		"context": func(_ *async.Newest[int], cancel context.CancelFunc, _ chan struct{}) { cancel() },
		"ended":   func(n *async.Newest[int], _ context.CancelFunc, c chan struct{}) { n.Ended = c; close(c) },
		"closed":  func(n *async.Newest[int], _ context.CancelFunc, c chan struct{}) { n.Closed = c; close(c) },
	} {
		ctx, cancel := context.WithCancel(t.Context())
		n := async.NewNewest[int]()
		end(&n, cancel, make(chan struct{}))
		if s, ok := n.Next(ctx); ok {
			t.Errorf("%s: got %v", name, s)
		}
		cancel()
	}
}
