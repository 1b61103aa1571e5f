package clock

import (
	"bytes"
	"os"
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/incumbent-go/incumbent/test/kit/realzk"
)

// slept is set in the process whose boot clock is an hour ahead.
const slept = "INCUMBENT_TEST_SLEPT"

// The client's clock counts the time of the machine's suspensions. On a machine that was
// never suspended, CLOCK_MONOTONIC shows the same: there the test runs once more, in a time
// namespace whose boot clock is an hour ahead.
func TestTheClockGoesOnWhileTheMachineIsSuspended(t *testing.T) {
	if boot, running := clockReads(t, unix.CLOCK_BOOTTIME), clockReads(t, unix.CLOCK_MONOTONIC); boot-
		running < time.Minute {
		if os.Getenv(slept) != "" {
			t.Fatalf("the boot clock is to be an hour ahead, and is at %v: the other is at %v", boot, running)
		}
		afterAnHourAsleep(t)
		return
	}
	clock := System()
	for range 1000 {
		before := clockReads(t, unix.CLOCK_BOOTTIME)
		got := time.Duration(clock.Now())
		if after := clockReads(t, unix.CLOCK_BOOTTIME); got < before || got > after {
			t.Fatalf("the clock shows %v: CLOCK_BOOTTIME showed %v before and %v after that, CLOCK_MONOTONIC shows %v",
				got, before, after, clockReads(t, unix.CLOCK_MONOTONIC))
		}
	}
}

func clockReads(t *testing.T, id int32) time.Duration {
	t.Helper()
	var ts unix.Timespec
	if err := unix.ClockGettime(id, &ts); err != nil {
		t.Fatalf("clock %d: %v", id, err)
	}
	return time.Duration(ts.Nano())
}

// afterAnHourAsleep runs this test in a process with such a clock.
func afterAnHourAsleep(t *testing.T) {
	t.Helper()
	namespace := []string{"--time", "--boottime", "3600", "--fork"}
	if os.Geteuid() != 0 {
		namespace = append(namespace, "--user", "--map-root-user")
	}
	if out, err := exec.Command("unshare", append(namespace, "true")...).CombinedOutput(); err != nil {
		realzk.NotRun(t, "the clock of a machine that was suspended (no time namespace by unshare: "+err.Error()+" "+
			string(bytes.TrimSpace(out))+")")
	}
	cmd := exec.Command("unshare", append(namespace, os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")...)
	cmd.Env = append(os.Environ(), slept+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("--- PASS: "+t.Name())) {
		t.Fatalf("after an hour's sleep: %v\n%s", err, out)
	}
}
