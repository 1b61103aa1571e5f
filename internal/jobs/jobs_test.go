package jobs

import (
	"maps"
	"net"
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

// An address is of IPv4, and neither the loopback's nor one of a single link. The first that others may reach is taken.
func TestHostAddress(t *testing.T) {
	if own := HostAddress(); net.ParseIP(own).To4() == nil {
		t.Errorf("this host's is %q", own)
	}
	of := func(ip string) *net.IPNet { return &net.IPNet{IP: net.ParseIP(ip), Mask: net.CIDRMask(8, 32)} }
	others := []net.Addr{&net.TCPAddr{IP: net.ParseIP("192.0.2.1")}, of("127.0.0.2"), of("169.254.0.1"),
		of("2001:db8::1")}
	if got := hostAddress(others); got != "127.0.0.1" {
		t.Errorf("%s, and none can be reached", got)
	}
	if got := hostAddress(append(others, of("192.0.2.2"), of("192.0.2.3"))); got != "192.0.2.2" {
		t.Errorf("%s, want the first that can be reached", got)
	}
}

// A schedule's last tick comes, too: there is no next one when it is due.
func TestTheLastTickComes(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		last := time.Now().Add(25 * time.Second)
		tick := func() time.Time {
			if time.Now().Before(last) {
				return last
			}
			return time.Time{}
		}
		done := make(chan struct{})
		time.AfterFunc(time.Minute, func() { close(done) })
		if !Await(time.Now, tick, nil, done) || !time.Now().Equal(last) {
			t.Errorf("the last tick came after %s, want 25s", time.Since(last)+25*time.Second)
		}
	})
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
