package machines

import (
	"testing"
	"time"
)

const most = 0.999999 // of the random numbers in [0, 1)

// follow asks a policy until it gives up. The clock advances by each wait.
func follow(p Policy, random float64, atMost int) (waits []time.Duration, total time.Duration) {
	for len(waits) < atMost {
		wait, again := p.Next(len(waits), total, random)
		if !again {
			break
		}
		waits = append(waits, wait)
		total += wait
	}
	return waits, total
}

// TestPolicies checks the table in Policy's comment.
func TestPolicies(t *testing.T) {
	s := time.Second
	for _, c := range []struct {
		name     string
		p        Policy
		retries  int // 0: still going after 1000
		total    time.Duration
		interval func(retry int) time.Duration // from 1
		random   bool                          // then the interval is its upper bound
	}{
		{"never", Policy{}, -1, 0, nil, false},
		{"Forever", Forever(s), 0, 0, func(int) time.Duration { return s }, false},
		{"NTimes", NTimes(3, s), 3, 3 * s, func(int) time.Duration { return s }, false},
		{"NTimes none", NTimes(0, s), -1, 0, nil, false},
		{"NTimes below none", NTimes(-5, s), -1, 0, nil, false},
		{"Once", Once(s), 1, s, func(int) time.Duration { return s }, false},
		{"UntilElapsed", UntilElapsed(3500*time.Millisecond, s), 4, 3500 * time.Millisecond,
			func(int) time.Duration { return s }, false},
		{"Exponential", Exponential(4, s), 4, (1<<5 - 2) * s, func(n int) time.Duration { return s << n }, true},
		{"BoundedExponential", BoundedExponential(5, s, 4*s), 5, 20 * s,
			func(n int) time.Duration { return min(4*s, s<<n) }, true},
		{"unbounded", BoundedExponential(-1, s, 4*s), 0, 0,
			func(n int) time.Duration { return min(4*s, s<<min(n, 10)) }, true},
	} {
		waits, total := follow(c.p, most, 1000)
		if want := c.retries; want == -1 && len(waits) != 0 || want > 0 && len(waits) != want ||
			want == 0 && len(waits) != 1000 {
			t.Errorf("%s: %d retries, want %d", c.name, len(waits), c.retries)
		}
		for i, w := range waits {
			bound := c.interval(i + 1)
			if low := bound * 99 / 100; c.random && (w >= bound || w < low) || !c.random && w > bound {
				t.Errorf("%s: wait %d is %s, bound %s", c.name, i+1, w, bound)
			}
		}
		if c.retries > 0 && (total > c.total || c.random && total >= c.total || !c.random && total != c.total) {
			t.Errorf("%s: %s in all, want %s", c.name, total, c.total)
		}
	}
}

// TestUntilElapsedNeverOvershoots checks that no retry begins after the given time, however long the
// failed attempts took.
func TestUntilElapsedNeverOvershoots(t *testing.T) {
	const d = 10 * time.Second
	p := UntilElapsed(d, 3*time.Second)
	for elapsed := time.Duration(0); elapsed < 2*d; elapsed += 7 * time.Millisecond {
		wait, again := p.Next(0, elapsed, 0)
		if again && (wait <= 0 || elapsed+wait > d) || !again && elapsed < d {
			t.Fatalf("after %s: wait %s, again %t", elapsed, wait, again)
		}
	}
}

// TestExponentialDoesNotOverflow checks that the wait is never negative, after however many retries.
func TestExponentialDoesNotOverflow(t *testing.T) {
	for _, p := range []Policy{Exponential(-1, time.Hour), BoundedExponential(-1, time.Hour, 1<<62),
		BoundedExponential(-1, 0, time.Minute), BoundedExponential(-1, time.Hour, time.Minute)} {
		for _, retries := range []int{0, 1, 20, 31, 62, 63, 64, 1000, 1 << 16} {
			if wait, again := p.Next(retries, 0, most); wait < 0 || !again {
				t.Errorf("%s after %d retries: %s, %t", p, retries, wait, again)
			}
		}
	}
}

func TestJitterIsFull(t *testing.T) {
	p := Exponential(-1, time.Second)
	if wait, _ := p.Next(3, 0, 0); wait != 0 {
		t.Errorf("lowest wait %s", wait)
	}
	if wait, _ := p.Next(2, 0, 0.5); wait != 4*time.Second {
		t.Errorf("middle wait %s, want half of 8s", wait)
	}
}

func TestParsePolicy(t *testing.T) {
	for _, p := range []Policy{{}, Forever(time.Second), NTimes(3, time.Millisecond), Once(0),
		UntilElapsed(time.Hour, time.Second), Exponential(7, time.Second),
		BoundedExponential(-1, time.Second, time.Minute)} {
		if got, err := ParsePolicy(p.String()); err != nil || got != p {
			t.Errorf("%s came back as %s, %v", p, got, err)
		}
	}
	for _, s := range []string{"", "often", "times/3/1s", "times/x/1s/0s", "times/3/1/0s", "times/3/-1s/0s",
		"times/3/1s/-1s", "times/-1/1s/0s", "sometimes/3/1s/0s", "times/3/1s/0s/x"} {
		if p, err := ParsePolicy(s); err == nil {
			t.Errorf("%q was read as %s", s, p)
		}
	}
}
