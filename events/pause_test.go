package events

import (
	"testing"
	"time"
)

func TestPauseExplains(t *testing.T) {
	const limit = 4 * time.Second
	for _, c := range []struct {
		why            string
		paused, waited time.Duration
		want           bool
	}{
		{"no pause", 0, 5 * time.Second, false},
		{"nothing but the pause", 4 * time.Second, 4 * time.Second, true},
		{"a quarter", time.Second, 4 * time.Second, true},
		{"less than a quarter", time.Second - 1, 4 * time.Second, false},
		{"it ran for longer than the limit", 3 * time.Second, 7 * time.Second, false},
		{"it ran for just less than that", 3 * time.Second, 7*time.Second - 1, true},
	} {
		if got := PauseExplains(c.paused, c.waited, limit); got != c.want {
			t.Errorf("%s: paused %s of %s, a limit of %s: explains %t", c.why, c.paused, c.waited, limit, got)
		}
	}
	if PauseExplains(0, 0, 0) {
		t.Error("no pause explains something")
	}
	if got, want := PauseText(3049*time.Millisecond), "this process did not run for 3.0 s"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
