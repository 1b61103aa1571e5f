package incumbent

import (
	"time"

	"github.com/incumbent-go/incumbent/machines"
)

// RetryPolicy says how long to wait before a retry, and when to give up: a plain
// value without state. The table of intervals, counts and times is in the
// documentation of machines.Policy. The zero value stands for the default.
type RetryPolicy = machines.Policy

// pace puts a policy among a machine's options; without one the machine has its own.
func pace(options map[string]string, retry RetryPolicy) {
	if retry != (RetryPolicy{}) {
		options["retry"] = retry.String()
	}
}

// RetryForever retries after the same interval, always.
func RetryForever(interval time.Duration) RetryPolicy { return machines.Forever(interval) }

// RetryNTimes retries n times after the same interval: n+1 attempts in all.
func RetryNTimes(n int, interval time.Duration) RetryPolicy { return machines.NTimes(n, interval) }

// RetryOnce retries one time.
func RetryOnce(interval time.Duration) RetryPolicy { return machines.Once(interval) }

// RetryUntilElapsed retries until d has gone by since the first failure; no
// retry begins later than that.
func RetryUntilElapsed(d, interval time.Duration) RetryPolicy {
	return machines.UntilElapsed(d, interval)
}

// RetryExponential retries n times (below zero: without end) after a random
// wait below base doubled with each retry: full jitter.
func RetryExponential(n int, base time.Duration) RetryPolicy { return machines.Exponential(n, base) }

// RetryBoundedExponential is RetryExponential with a cap on the wait.
func RetryBoundedExponential(n int, base, most time.Duration) RetryPolicy {
	return machines.BoundedExponential(n, base, most)
}
