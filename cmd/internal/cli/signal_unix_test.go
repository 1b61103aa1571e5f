//go:build unix

package cli

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// A signal ends the context. It ends without one, too.
func TestInterruptible(t *testing.T) {
	other := make(chan os.Signal, 2)
	signal.Notify(other, syscall.SIGTERM)
	defer signal.Stop(other)
	ctx, stop := Interruptible(t.Context())
	defer stop()
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ctx.Done():
	case <-time.After(limit):
		t.Fatal("the signal does not end the context")
	}
	ctx, stop = Interruptible(t.Context())
	if stop(); ctx.Err() == nil {
		t.Error("stop does not end the context")
	}
}

// The first signal ends the context, and the second one the program.
func TestASecondSignalEndsTheProgram(t *testing.T) {
	const variable = "INCUMBENT_TEST_SIGNALS"
	if os.Getenv(variable) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), variable+"=1")
		var ended *exec.ExitError
		out, err := cmd.CombinedOutput()
		if !errors.As(err, &ended) || ended.Sys().(syscall.WaitStatus).Signal() != syscall.SIGTERM {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	ctx, stop := Interruptible(t.Context())
	defer stop()
	_ = syscall.Kill(os.Getpid(), syscall.SIGTERM)
	<-ctx.Done()
	for began := time.Now(); time.Since(began) < limit; runtime.Gosched() {
		_ = syscall.Kill(os.Getpid(), syscall.SIGTERM) // the signal is let go a moment later
	}
}
