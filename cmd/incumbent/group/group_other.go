//go:build !unix

package group

import (
	"context"
	"io"
	"os"
	"os/exec"
	"time"
)

// Group has no function on this platform.
type Group struct{}

// New fails.
func New(*os.File, ...string) (*Group, error) { return nil, ErrUnsupported }

// These are never called, because New fails.
func (*Group) Run(*exec.Cmd) error   { return ErrUnsupported }
func (*Group) Until(time.Time) error { return ErrUnsupported }
func (*Group) Gone() <-chan struct{} { return nil }
func (*Group) Replace() <-chan error { return nil }
func (*Group) ID() int               { return 0 }
func (*Group) Done() <-chan struct{} { return nil }
func (*Group) Code() int             { return 0 }
func (*Group) Signal(os.Signal)      {}
func (*Group) Stop()                 {}
func (*Group) Kill() error           { return ErrUnsupported }

// Guard does nothing.
func Guard(io.Reader, io.Writer, *os.File, func(string), func(Kill)) {}

// Now returns 0: there is no such clock here.
func Now() int64 { return 0 }

// Failure returns the exit code of a command that could not be started.
func Failure(error) int { return 126 }

// RunWithin runs a command, and kills it when the context ends first, but not what it started.
func RunWithin(ctx context.Context, cmd *exec.Cmd, _ time.Duration) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() }) // an error means that it has ended
	err := cmd.Wait()
	if !stop() {
		return context.Cause(ctx)
	}
	return err
}
