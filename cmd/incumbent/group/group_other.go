//go:build !unix

package group

import (
	"io"
	"os"
	"os/exec"
	"time"
)

// Group does not exist here.
type Group struct{}

// New fails.
func New(...string) (*Group, error) { return nil, ErrUnsupported }

// The rest is never reached.
func (*Group) Run(*exec.Cmd) error   { return ErrUnsupported }
func (*Group) Until(time.Time) error { return ErrUnsupported }
func (*Group) ID() int               { return 0 }
func (*Group) Done() <-chan struct{} { return nil }
func (*Group) Code() int             { return 0 }
func (*Group) Signal(os.Signal)      {}
func (*Group) Stop()                 {}
func (*Group) Kill() error           { return ErrUnsupported }

// Guard does nothing.
func Guard(io.Reader, io.Writer, func(string)) {}

// Failure is the exit code of a command that could not be started.
func Failure(error) int { return 126 }
