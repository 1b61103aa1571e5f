package incumbent

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"
)

// Settings that cannot be the ensemble's are refused: their products overflow,
// and the heartbeat would be of the kind that is unsafe.
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
