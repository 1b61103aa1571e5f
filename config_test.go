package incumbent

import (
	"strconv"
	"strings"
	"testing"
	"time"
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
		{2337 * time.Millisecond, 0, false, "SessionTimeout is 2.337s, too short for the tick of 3s that is assumed without Config.Tick: set Config.Tick to the ensemble's tickTime, or ask for 2.338s or more"},
		{2 * second, 0, false, "set Config.Tick"},
		{5 * second, 0, true, ""},
		{4 * second, 0, true, "ask for 4.676s or more"},
		{2 * second, second, false, ""},
		{4 * second, 3 * second, false, "an ensemble with a tick of 3s grants no less than 6s: ask for that, or set Config.Tick to the ensemble's tickTime"},
		{6 * second, 2 * second, true, ""},
		{5 * second, 2 * second, true, "observer masters with a tick of 2s: ask for 6s or more"},
	} {
		c, err := Config{Servers: "192.0.2.1:2181", SessionTimeout: tc.timeout, Tick: tc.tick, ObserverMasters: tc.observers}.withDefaults()
		if (err == nil) != (tc.says == "") || err != nil && !strings.Contains(err.Error(), tc.says) {
			t.Errorf("timeout %s, tick %s, observer masters %t: %v, want %q", tc.timeout, tc.tick, tc.observers, err, tc.says)
		}
		if want := strconv.FormatBool(tc.tick == 0); err == nil && (c.options()["tickAssumed"] != want || c.options()["askedTimeout"] != tc.timeout.String()) {
			t.Errorf("timeout %s, tick %s: the session machine has the options %v", tc.timeout, tc.tick, c.options())
		}
	}
}

// The delay of an observer master reaches both that compute with it: the session machine,
// by an option that is in the log, and what counts as a contact.
func TestObserverMastersAreTold(t *testing.T) {
	for observers, lag := range map[bool]time.Duration{false: 1500 * time.Millisecond, true: 3 * time.Second} {
		c, err := Open(t.Context(), Config{Servers: "192.0.2.1:2181", ObserverMasters: observers})
		if err != nil {
			t.Fatal(err)
		}
		if c.reportLag() != lag || c.config.options()["observerMasters"] != strconv.FormatBool(observers) {
			t.Errorf("observer masters %t: lag %s, options %v", observers, c.reportLag(), c.config.options())
		}
		_ = c.Close(t.Context()) // there is no server
	}
}

// Without a MaxAnswer, replies may be as large as requests, and 4 MiB at least.
func TestSizesThatAreNotSet(t *testing.T) {
	for _, config := range []Config{
		{}, {MaxRequest: 0xfffff}, {MaxRequest: 1 << 20, MaxAnswer: 1 << 20}, {MaxRequest: 64 << 20},
		{MaxRequest: 64 << 20, MaxAnswer: 1 << 30},
	} {
		config.Servers = "127.0.0.1:1"
		got, err := config.withDefaults()
		if err != nil || got.MaxAnswer < got.MaxRequest || got.MaxAnswer < 4<<20 && config.MaxAnswer == 0 {
			t.Errorf("%+v: %d, %d: %v", config, got.MaxRequest, got.MaxAnswer, err)
		}
	}
}
