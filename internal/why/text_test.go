package why

import (
	"testing"
	"time"
)

// Seconds are rounded before minutes are counted: there is no sixtieth second.
func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		90 * time.Second: "1 min 30 s", time.Hour - time.Millisecond: "1h0m0s",
		2*time.Minute - time.Millisecond: "2 min 0 s",
		-time.Hour:                       "-1h0m0s", 1500 * time.Millisecond: "1.50 s",
		2500 * time.Microsecond: "2.5 ms", 2500: "0.003 ms",
	} {
		if got := span(d); got != want {
			t.Errorf("%d ns are %q, want %q", d, got, want)
		}
	}
}
