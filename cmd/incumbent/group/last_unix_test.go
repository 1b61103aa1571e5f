//go:build unix

package group

import (
	"os/exec"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

// The guard's last line and note are both tried, and it waits for them, but no longer than its limit.
func TestWithin(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		for name, c := range map[string]struct {
			takes []time.Duration
			want  time.Duration
		}{
			"nothing":        {nil, 0},
			"at once":        {[]time.Duration{0, 0}, 0},
			"in time":        {[]time.Duration{20 * time.Millisecond, 30 * time.Millisecond}, 30 * time.Millisecond},
			"one takes long": {[]time.Duration{time.Hour, 0}, 50 * time.Millisecond},
			"both do":        {[]time.Duration{time.Hour, time.Hour}, 50 * time.Millisecond},
		} {
			begun, all := make(chan bool, len(c.takes)), []func(){}
			for _, takes := range c.takes {
				all = append(all, func() { begun <- true; virtual.Sleep(takes) })
			}
			began := time.Now()
			within(maxLastLine, all...)
			if took := time.Since(began); took != c.want || len(begun) != len(c.takes) {
				t.Errorf("%s: %d of %d begun, in %s; want %s", name, len(begun), len(c.takes), took, c.want)
			}
			virtual.Sleep(time.Hour)
			synctest.Wait()
		}
	})
}

// A command that is not on the path does not exist, and one that is no program cannot be run.
func TestFailureOfALookup(t *testing.T) {
	_, missing := exec.LookPath("no-such-command")
	for want, err := range map[int]error{127: missing, 126: exec.Command(t.TempDir()).Start()} {
		if got := Failure(err); err == nil || got != want {
			t.Errorf("%v: %d, want %d", err, got, want)
		}
	}
}
