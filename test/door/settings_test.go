package door_test

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
)

// Settings that cannot be the ensemble's are refused: their products overflow, and the
// heartbeat would be unsafe.
func TestConfigRefusesWhatOverflows(t *testing.T) {
	for _, tc := range []struct {
		config incumbent.Config
		says   string
	}{
		{incumbent.Config{SyncLimit: math.MaxInt}, "Config.SyncLimit"},
		{incumbent.Config{SyncLimit: 1<<16 + 1}, "Config.SyncLimit"},
		{incumbent.Config{Tick: math.MaxInt64}, "Config.Tick"},
		{incumbent.Config{Tick: math.MaxInt64 / 2}, "Config.Tick"},
		{incumbent.Config{Tick: 24*time.Hour + 1, SessionTimeout: 20 * 24 * time.Hour}, "Config.Tick"},
	} {
		tc.config.Servers = "192.0.2.1:2181"
		c, err := incumbent.Open(context.Background(), tc.config)
		if err == nil {
			_ = c.Close(context.Background())
		}
		if err == nil || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("tick %s, sync limit %d: %v, want words about %s", tc.config.Tick, tc.config.SyncLimit, err,
				tc.says)
		}
	}
}

// A program that embeds the library knows one name: the packages behind the root package
// are not in its messages.
func TestErrorsNameTheLibraryOnce(t *testing.T) {
	for name, config := range map[string]incumbent.Config{
		"servers":   {Servers: "h1,,h2"},
		"chroot":    {Servers: "h1/a//b"},
		"timeout":   {Servers: "h1", SessionTimeout: 1e6 * time.Hour},
		"auth":      {Servers: "h1", Auth: []incumbent.Auth{incumbent.AuthOf("sasl", nil)}},
		"tls":       {Servers: "h1", TLS: &incumbent.TLS{Cert: "only"}},
		"authority": {Servers: "h1", TLS: &incumbent.TLS{CA: "no such file"}},
	} {
		c, err := incumbent.Open(context.Background(), config)
		if err == nil {
			_ = c.Close(context.Background())
		}
		namesTheLibraryOnce(t, name, err)
	}
	_, err := incumbent.ParseAuth("hunter2")
	namesTheLibraryOnce(t, "ParseAuth", err)
	for _, err := range []error{incumbent.ErrNotConnected, incumbent.ErrOutcomeUnknown} {
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
