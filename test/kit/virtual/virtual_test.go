package virtual_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// planted is set in the process that has a lost wake-up.
const planted = "INCUMBENT_LOST_WAKE_UP"

// A test that waits while heartbeats go on ends with the last events and with the
// line that waits. It does so in a process of its own, which the watchdog ends.
func TestALostWakeUpIsFound(t *testing.T) {
	if os.Getenv(planted) != "" {
		virtual.Within(t, time.Hour, lost)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestALostWakeUpIsFound$")
	cmd.Env = append(os.Environ(), planted+"=1")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatalf("the test did not fail:\n%s", out)
	}
	begins := "panic: TestALostWakeUpIsFound: no progress for 1h0m0s of virtual time\n\nthe last events of log 1 of " +
		"2:\n  the first log\n\n" +
		"the last events of log 2 of 2:\n  the second log\n\nwhere the test's goroutines wait:\n"
	got := strings.ReplaceAll(string(out), "\n\t", "\n") // a panic's text is indented
	if !strings.HasPrefix(got, begins) {
		t.Errorf("got\n%s\nwant at its beginning\n%s", got, begins)
	}
	if !strings.Contains(got, "virtual_test.neverWoken(") || !strings.Contains(got, "virtual_test.lost.func") ||
		strings.Contains(got, "synctest.Run(") {
		t.Errorf("want the goroutines of the test, and no more:\n%s", got)
	}
}

func lost(t *testing.T) {
	virtual.Log(t, func() string { return "  the first log\n" })
	virtual.Log(t, func() string { return "  the second log\n" })
	go func() {
		for {
			virtual.Sleep(time.Second) // a heartbeat
		}
	}()
	neverWoken(make(chan struct{}))
}

func neverWoken(wake chan struct{}) { <-wake }

// A test that is over within its bound is left alone, and so is what follows it.
func TestABoundIsNoEnd(t *testing.T) {
	ended := false
	virtual.Within(t, 2*time.Hour, func(t *testing.T) {
		virtual.Sleep(2*time.Hour - 1)
		t.Cleanup(func() { ended = true })
	})
	if !ended {
		t.Error("the cleanup did not run")
	}
}

// Outside a bubble a sleep would take real time, so it is refused.
func TestNoSleepOutsideABubble(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("virtual.Sleep slept outside a bubble")
		}
	}()
	virtual.Sleep(time.Nanosecond)
}
