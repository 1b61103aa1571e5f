package program

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// TestAnOutageSaysItsReasonWhenItChangesAndOnceAMinute looks each second for ten minutes.
func TestAnOutageSaysItsReasonWhenItChangesAndOnceAMinute(t *testing.T) {
	var printed []string
	why, now := "", time.Unix(1000, 0)
	o := outage{reason: func() string { return why }, note: func(format string, args ...any) {
		printed = append(printed, fmt.Sprintf(format, args...))
	}}
	look := func(reason string, seconds int, want ...string) {
		t.Helper()
		printed, why = nil, reason
		for range seconds {
			now = now.Add(time.Second)
			o.look(now)
		}
		for i := range want {
			want[i] = "still not connected: " + want[i]
		}
		if !slices.Equal(printed, want) {
			t.Errorf("%q for %d s: printed %q, want %q", reason, seconds, printed, want)
		}
	}
	look("", 600)
	look("closed", 30) // printed by the listener
	look("expired", 59, "expired")
	look("expired", 1)
	look("expired", 110, "expired", "expired")
	look("closed", 2) // known, and the minute is not over
	look("", 1)
	look("closed", 5)
	for i := range maxReasons - 1 {
		look(fmt.Sprint("reason ", i), 1, fmt.Sprint("reason ", i))
	}
	look("one more", 50)
}
