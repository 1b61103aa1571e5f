//go:build unix

package group

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"
)

// tooLong runs a script with a context that ends when it has said "up", and returns what it says after that.
func tooLong(t *testing.T, text string, grace time.Duration) (string, error) {
	t.Helper()
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = out.Close() })
	ctx, cancel := context.WithCancelCause(t.Context())
	result, cmd := make(chan error, 1), exec.Command("sh", "-c", text)
	cmd.Stdout = in
	go func() {
		defer in.Close()
		result <- RunWithin(ctx, cmd, grace)
	}()
	read(t, out, "up\n")
	cancel(errTooLong)
	if err := out.SetReadDeadline(time.Now().Add(limit)); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(out) // until nobody of the group holds it
	if err != nil {
		t.Fatalf("%q: %v", rest, err)
	}
	return string(rest), <-result
}

var errTooLong = errors.New("it took too long")

// A command that takes too long may end at SIGTERM, and so may what it started; then both are killed.
func TestACommandThatTakesTooLong(t *testing.T) {
	said, err := tooLong(t, `trap "echo ending; exit 0" TERM; (trap - TERM; echo up; exec sleep 1000) & wait`, limit)
	if said != "ending\n" || !errors.Is(err, errTooLong) {
		t.Errorf("it says %q, and the error is %v", said, err)
	}
	for _, text := range []string{stubborn, `trap "" TERM; (sleep 1000; sleep 1000) & echo up; exec sleep 1000`} {
		if _, err := tooLong(t, text, 10*time.Millisecond); !errors.Is(err, errTooLong) {
			t.Errorf("a command that ignores SIGTERM: %v", err)
		}
	}
}

// The error of a command that ends in time is its own, and what it has started goes on.
func TestACommandThatEndsInTime(t *testing.T) {
	var code *exec.ExitError
	err := RunWithin(t.Context(), exec.Command("sh", "-c", "exit 7"), limit)
	if !errors.As(err, &code) || code.ExitCode() != 7 {
		t.Errorf("the error is %v", err)
	}
	if err := RunWithin(t.Context(), exec.Command("/no/such/command"), limit); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the error is %v", err)
	}
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", `(read x <&3; echo "$x") & exit 0`)
	cmd.Stdout, cmd.ExtraFiles = in, []*os.File{from}
	if err := RunWithin(t.Context(), cmd, limit); err != nil {
		t.Error(err)
	}
	in.Close()
	from.Close()
	if _, err := to.WriteString("goes on\n"); err != nil {
		t.Fatal(err)
	}
	to.Close()
	read(t, out, "goes on\n")
}
