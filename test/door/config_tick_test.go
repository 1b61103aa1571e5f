package door_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// A tick that is not set refuses only a timeout that leaves no time for belief. One that is
// set is taken for the ensemble's: a server grants no less than two. The error says which
// setting would be right.
func TestConfigRefusesATimeoutThatTheTickLeavesNoTimeIn(t *testing.T) {
	const second = time.Second
	for _, tc := range []struct {
		timeout, tick time.Duration
		observers     bool
		says          string // "" is no error
	}{
		{4 * second, 0, false, ""},
		{2400 * time.Millisecond, 0, false, ""},
		{2338 * time.Millisecond, 0, false, ""},
		{2337 * time.Millisecond, 0, false, "SessionTimeout is 2.337s, too short for the tick of 3s that is assumed " +
			"without Config.Tick: set Config.Tick to the ensemble's tickTime, or ask for 2.338s or more"},
		{2 * second, 0, false, "set Config.Tick"},
		{5 * second, 0, true, ""},
		{4 * second, 0, true, "ask for 4.676s or more"},
		{2 * second, second, false, ""},
		{4 * second, 3 * second, false, "an ensemble with a tick of 3s grants no less than 6s: ask for that, or set " +
			"Config.Tick to the ensemble's tickTime"},
		{6 * second, 2 * second, true, ""},
		{5 * second, 2 * second, true, "observer masters with a tick of 2s: ask for 6s or more"},
	} {
		config := incumbent.Config{Servers: "192.0.2.1:2181", SessionTimeout: tc.timeout, Tick: tc.tick,
			ObserverMasters: tc.observers}
		if tc.says != "" {
			if _, err := incumbent.Open(t.Context(), config); err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("timeout %s, tick %s, observer masters %t: %v, want %q", tc.timeout, tc.tick,
					tc.observers, err,
					tc.says)
			}
			continue
		}
		bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
			n := w.open(func(c *incumbent.Config) {
				c.SessionTimeout, c.Tick, c.ObserverMasters = tc.timeout, tc.tick, tc.observers
			})
			pass(time.Second)
			options := n.tape.Records()[0].Event.Options
			if options["tickAssumed"] != strconv.FormatBool(tc.tick == 0) ||
				options["askedTimeout"] != tc.timeout.String() {
				t.Errorf("timeout %s, tick %s: the session machine has the options %v", tc.timeout, tc.tick, options)
			}
		})
	}
}
