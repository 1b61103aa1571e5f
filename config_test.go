package incumbent

import (
	"context"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Settings that cannot be the ensemble's are refused: their products overflow, and the
// heartbeat would be unsafe.
func TestConfigRefusesWhatOverflows(t *testing.T) {
	for _, tc := range []struct {
		config Config
		says   string
	}{
		{Config{SyncLimit: math.MaxInt}, "Config.SyncLimit"},
		{Config{SyncLimit: 1<<16 + 1}, "Config.SyncLimit"},
		{Config{Tick: math.MaxInt64}, "Config.Tick"},
		{Config{Tick: math.MaxInt64 / 2}, "Config.Tick"},
		{Config{Tick: 24*time.Hour + 1, SessionTimeout: 20 * 24 * time.Hour}, "Config.Tick"},
		{Config{SessionTimeout: 5 * time.Second, ObserverMasters: true}, "observer masters with a tick of 2s: ask for 6s"},
	} {
		tc.config.Servers = "192.0.2.1:2181"
		c, err := Open(context.Background(), tc.config)
		if err == nil {
			_ = c.Close(context.Background())
		}
		if err == nil || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("tick %s, sync limit %d: %v, want words about %s", tc.config.Tick, tc.config.SyncLimit, err, tc.says)
		}
	}
}

// A program that embeds the library knows one name: the packages behind the root package
// are not in its messages.
func TestErrorsNameTheLibraryOnce(t *testing.T) {
	for name, config := range map[string]Config{
		"servers":   {Servers: "h1,,h2"},
		"chroot":    {Servers: "h1/a//b"},
		"timeout":   {Servers: "h1", SessionTimeout: 1e6 * time.Hour},
		"auth":      {Servers: "h1", Auth: []Auth{{Scheme: "sasl"}}},
		"tls":       {Servers: "h1", TLS: &TLS{Cert: "only"}},
		"authority": {Servers: "h1", TLS: &TLS{CA: "no such file"}},
	} {
		c, err := Open(context.Background(), config)
		if err == nil {
			_ = c.Close(context.Background())
		}
		namesTheLibraryOnce(t, name, err)
	}
	_, err := ParseAuth("hunter2")
	namesTheLibraryOnce(t, "ParseAuth", err)
	for _, err := range []error{ErrNotConnected, ErrOutcomeUnknown, asError("SOME", "words")} {
		namesTheLibraryOnce(t, err.Error(), err)
	}
}

func namesTheLibraryOnce(t *testing.T, name string, err error) {
	t.Helper()
	if err == nil || !strings.HasPrefix(err.Error(), "incumbent: ") || strings.Count(err.Error(), "incumbent: ") > 1 ||
		strings.Contains(err.Error(), "zkio: ") {
		t.Errorf("%s: %v", name, err)
	}
}

// The delay of an observer master reaches both that compute with it: the session machine,
// by an option that is in the log, and what counts as a contact.
func TestObserverMastersAreTold(t *testing.T) {
	for observers, lag := range map[bool]time.Duration{false: time.Second, true: 2 * time.Second} {
		config, err := Config{Servers: "192.0.2.1:2181", ObserverMasters: observers}.withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		if config.lag() != lag || config.options()["observerMasters"] != strconv.FormatBool(observers) {
			t.Errorf("observer masters %t: lag %s, options %v", observers, config.lag(), config.options())
		}
	}
}
