package incumbent

import (
	"time"

	"github.com/incumbent-go/incumbent/machines"
)

// RetryPolicy is how long to wait before a retry, and when to give up. It is a plain value:
// comparable, printable, without state. The zero value stands for the default of the option
// that it is assigned to.
//
//	policy                               wait before retry n               retries  total time
//	RetryForever(i)                      i                                 no end   no end
//	RetryNTimes(n, i)                    i                                 n        n·i
//	RetryOnce(i)                         i                                 1        i
//	RetryUntilElapsed(d, i)              i, the last one shortened         by time  at most d
//	RetryExponential(n, base)            random in [0, base·2^n)           n        less than base·(2^(n+1)−2)
//	RetryBoundedExponential(n, base, c)  random in [0, min(c, base·2^n))   n        less than n·c
//
// RetryNTimes(3, i) is at most four attempts. An n below zero means no end in the last two.
// Every other number or time below zero is a mistake: the function that takes the policy
// returns an error.
type RetryPolicy struct{ policy machines.Policy }

// String returns the policy in one word, as the recorder's log has it.
func (p RetryPolicy) String() string { return p.policy.String() }

// setRetry puts a policy into a machine's options; without one the machine uses its own.
func setRetry(options map[string]string, retry RetryPolicy) {
	if retry != (RetryPolicy{}) {
		options["retry"] = retry.String()
	}
}

// RetryForever retries after the same interval, always.
func RetryForever(interval time.Duration) RetryPolicy {
	return RetryPolicy{machines.Forever(interval)}
}

// RetryNTimes retries n times after the same interval: n+1 attempts in all.
func RetryNTimes(n int, interval time.Duration) RetryPolicy {
	return RetryPolicy{machines.NTimes(n, interval)}
}

// RetryOnce retries one time.
func RetryOnce(interval time.Duration) RetryPolicy { return RetryPolicy{machines.Once(interval)} }

// RetryUntilElapsed retries until d has passed since the first failure; no retry begins
// later than that.
func RetryUntilElapsed(d, interval time.Duration) RetryPolicy {
	return RetryPolicy{machines.UntilElapsed(d, interval)}
}

// RetryExponential retries n times (below zero: without end) after a random
// wait below base doubled with each retry: full jitter.
func RetryExponential(n int, base time.Duration) RetryPolicy {
	return RetryPolicy{machines.Exponential(n, base)}
}

// RetryBoundedExponential is RetryExponential with a cap on the wait.
func RetryBoundedExponential(n int, base, most time.Duration) RetryPolicy {
	return RetryPolicy{machines.BoundedExponential(n, base, most)}
}
