//go:build unix

package programtest

import (
	"os"
	"syscall"
	"testing"
)

// ClosedPipe returns the end of a pipe that nobody reads any more.
func ClosedPipe(t *testing.T) *os.File {
	t.Helper()
	out, in := pipe(t)
	_ = out.Close()
	return in
}

// FullPipe returns the end of a pipe that has no room for another byte.
func FullPipe(t *testing.T) *os.File {
	t.Helper()
	_, in := pipe(t)
	raw, err := in.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{4096, 1} {
		for full := false; !full; {
			// Without a deadline, which may have passed before anything is written.
			if err := raw.Write(func(fd uintptr) bool {
				_, err := syscall.Write(int(fd), make([]byte, size))
				full = err != nil
				return true
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return in
}

func pipe(t *testing.T) (out, in *os.File) {
	t.Helper()
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = out.Close(), in.Close() }) // one may be closed
	return out, in
}
