package machines

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Policy says how long to wait before a retry, and when to stop. It is a plain
// value: comparable, printable, without state. The zero Policy never retries.
//
//	policy                          interval before retry n        retries    total time
//	Forever(i)                      i                              unbounded  unbounded
//	NTimes(n, i)                    i                              n          n·i
//	Once(i)                         i                              1          i
//	UntilElapsed(d, i)              i, the last one shortened      by time    at most d
//	Exponential(n, base)            random in [0, base·2^n)        n          less than base·(2^(n+1)−2)
//	BoundedExponential(n, base, c)  random in [0, min(c, base·2^n))  n        less than n·c
//
// n counts retries: NTimes(3, i) is at most four attempts. A negative n in the
// last two means unbounded; any other number or time below zero is a mistake: see
// Check.
type Policy struct {
	kind     policyKind
	times    int32
	interval time.Duration
	bound    time.Duration // the cap of an interval, or the whole of UntilElapsed
}

// policyKind is a row of that table. The zero kind never retries.
type policyKind uint8

const (
	forever policyKind = iota + 1
	nTimes
	untilElapsed
	exponential
	bounded
)

// policyKinds are the names of the kinds, as in the log's options.
var policyKinds = []string{"", "forever", "times", "elapsed", "exponential", "bounded"}

func (k policyKind) String() string { return policyKinds[min(int(k), len(policyKinds)-1)] }

// count returns how often a policy retries. More than the most that it holds are as many as nobody waits for.
func count(n int) int32 { return int32(max(math.MinInt32, min(n, math.MaxInt32))) }

// Forever retries after the same interval, always.
func Forever(interval time.Duration) Policy {
	return Policy{kind: forever, times: -1, interval: interval}
}

// NTimes retries n times after the same interval.
func NTimes(n int, interval time.Duration) Policy {
	return Policy{kind: nTimes, times: count(n), interval: interval}
}

// Check returns an error if a number or time of the policy is below zero where that means nothing.
func (p Policy) Check() error {
	switch {
	case p.kind == nTimes && p.times < 0:
		return fmt.Errorf("a retry policy with %d retries: want 0 or more, or RetryForever", p.times)
	case p.interval < 0:
		return fmt.Errorf("a retry policy with an interval of %s: want 0 or more", p.interval)
	case p.bound < 0:
		return fmt.Errorf("a retry policy with a bound of %s: want 0 or more", p.bound)
	}
	return nil
}

// Once retries one time.
func Once(interval time.Duration) Policy { return NTimes(1, interval) }

// UntilElapsed retries until d has passed since the first failure. The last interval is cut so that no
// retry begins later than d.
func UntilElapsed(d, interval time.Duration) Policy {
	return Policy{kind: untilElapsed, times: -1, interval: interval, bound: d}
}

// Exponential retries n times with full jitter: a random wait below base
// doubled with each retry.
func Exponential(n int, base time.Duration) Policy {
	return Policy{kind: exponential, times: count(n), interval: base}
}

// BoundedExponential is Exponential with a cap on the wait.
func BoundedExponential(n int, base, most time.Duration) Policy {
	return Policy{kind: bounded, times: count(n), interval: base, bound: most}
}

// Next returns the wait before the retry after `retries` earlier ones, `elapsed` after the first
// failure; false means to give up. Random is in [0, 1).
func (p Policy) Next(retries int, elapsed time.Duration, random float64) (time.Duration, bool) {
	if p.kind == 0 || (p.times >= 0 || p.kind == nTimes) && retries >= int(p.times) {
		return 0, false
	}
	switch p.kind {
	case untilElapsed:
		left := p.bound - elapsed
		return min(p.interval, left), left > 0
	case exponential, bounded:
		return time.Duration(random * float64(p.ceiling(retries+1))), true
	}
	return p.interval, true
}

// ceiling returns the doubled interval without an overflow.
func (p Policy) ceiling(retries int) time.Duration {
	most := p.bound
	if most <= 0 {
		most = 1<<63 - 1
	}
	c := p.interval
	for range retries {
		if c > most/2 {
			return most
		}
		c *= 2
	}
	return min(c, most)
}

// String returns the policy's one written form, as in the log's options.
func (p Policy) String() string {
	if p.kind == 0 {
		return "never"
	}
	return fmt.Sprintf("%s/%d/%s/%s", p.kind, p.times, p.interval, p.bound)
}

// ParsePolicy parses what String returned.
func ParsePolicy(s string) (Policy, error) {
	if s == "never" {
		return Policy{}, nil
	}
	parts := strings.Split(s, "/")
	bad := fmt.Errorf("retry policy %q: want kind/times/interval/bound, as in %q", s,
		BoundedExponential(-1, time.Second, time.Minute))
	if len(parts) != 4 {
		return Policy{}, bad
	}
	times, err1 := strconv.Atoi(parts[1])
	interval, err2 := time.ParseDuration(parts[2])
	bound, err3 := time.ParseDuration(parts[3])
	kind := slices.Index(policyKinds, parts[0])
	p := Policy{policyKind(max(kind, 0)), count(times), interval, bound}
	if kind <= 0 || err1 != nil || err2 != nil || err3 != nil || p.Check() != nil {
		return Policy{}, bad
	}
	return p, nil
}
