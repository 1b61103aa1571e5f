package jobs

import (
	"maps"
	"sync/atomic"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

// What is not in ElasticJob's form is passed over.
func TestItemParameters(t *testing.T) {
	got := ItemParameters("0=Berlin, 1 = Paris ,x=1,2")
	if want := map[int]string{0: "Berlin", 1: "Paris"}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// An id without an address is this host's.
func TestServerOf(t *testing.T) {
	for id, want := range map[string]string{
		"192.0.2.7@-@4711": "192.0.2.7", "@-@4711": HostAddress(), "a": HostAddress(),
	} {
		if got := ServerOf(id); got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
}

// A tick comes when the clock says so, earlier if the clock was set on, and again if it was set back.
func TestAwaitFollowsTheClock(t *testing.T) {
	for name, c := range map[string]struct{ set, takes time.Duration }{
		"as it runs":  {0, 50 * time.Second},
		"it is ahead": {45 * time.Second, 10 * time.Second},
		"it was late": {-time.Hour, 50 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			virtual.Test(t, func(t *testing.T) {
				began := time.Now().Truncate(time.Minute).Add(10 * time.Second)
				start := time.Now()
				var ahead atomic.Int64
				now := func() time.Time { return began.Add(time.Since(start) + time.Duration(ahead.Load())) }
				tick := func() time.Time { return Every(time.Minute).Next(now()) }
				time.AfterFunc(time.Second, func() { ahead.Store(int64(c.set)) })
				if !Await(now, tick, nil, nil) {
					t.Fatal("no tick came")
				}
				if took := time.Since(start); took != c.takes {
					t.Errorf("it took %s, want %s", took, c.takes)
				}
			})
		})
	}
}

// Nothing is awaited any longer when the schedule changes, or nobody waits: also without a tick.
func TestAwaitEnds(t *testing.T) {
	closed := make(chan struct{})
	close(closed)
	never := func() time.Time { return time.Time{} }
	if Await(time.Now, never, closed, nil) || Await(time.Now, never, nil, closed) {
		t.Error("a tick came")
	}
}
