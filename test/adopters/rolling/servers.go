package rolling

import (
	"fmt"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// Timeout is that of every session of a run, whatever an instance asks for: so long does one that is killed hold the
// others up.
const Timeout = 6 * time.Second

const tick = 200 * time.Millisecond

// OnBoth runs a test on zkmem and on a real server, each its own with its defaults.
func OnBoth(t *testing.T, test func(t *testing.T, addr string)) {
	t.Helper()
	onBoth(t, zkmem.Options{}, realzk.Options{}, test)
}

// Runs does a run on zkmem and on a real server.
func Runs(t *testing.T, old, port Side) {
	t.Helper()
	memory := zkmem.Options{Tick: tick, MinSessionTimeout: Timeout, MaxSessionTimeout: Timeout}
	least := fmt.Sprint("minSessionTimeout=", Timeout.Milliseconds())
	real := realzk.Options{Tick: tick, MaxTimeout: Timeout, Settings: []string{least}}
	onBoth(t, memory, real, func(t *testing.T, addr string) { Run(t, addr, "/counter", old, port) })
}

func onBoth(t *testing.T, memory zkmem.Options, real realzk.Options, test func(t *testing.T, addr string)) {
	t.Helper()
	t.Run("zkmem", func(t *testing.T) { test(t, zkmem.Start(t, memory).Addr()) })
	real.Release = realzk.Newest
	t.Run("ZooKeeper-"+real.Release.String(), func(t *testing.T) { test(t, realzk.Start(t, real).Addr()) })
}
