//go:build unix

package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
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

// The first signal ends the context, and the second one the program. A third may not follow: where a signal's frame
// is large, three of them fill the stack of signals.
func TestASecondSignalEndsTheProgram(t *testing.T) {
	const variable = "INCUMBENT_TEST_SIGNALS"
	if os.Getenv(variable) != "" {
		ctx, stop := Interruptible(t.Context())
		defer stop()
		_ = syscall.Kill(os.Getpid(), syscall.SIGTERM)
		<-ctx.Done()
		for stacks := ""; stacks == "" || strings.Contains(stacks, ".Interruptible."); { // until it lets the signal go
			buf := make([]byte, 1<<16)
			stacks = string(buf[:runtime.Stack(buf, true)])
		}
		_ = syscall.Kill(os.Getpid(), syscall.SIGTERM)
		_, _ = io.Copy(io.Discard, os.Stdin)
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), variable+"=1")
	if _, err := cmd.StdinPipe(); err != nil { // it stays open
		t.Fatal(err)
	}
	var ended *exec.ExitError
	out, err := cmd.CombinedOutput()
	if !errors.As(err, &ended) || ended.Sys().(syscall.WaitStatus).Signal() != syscall.SIGTERM {
		t.Errorf("%v: %s", err, out)
	}
}
