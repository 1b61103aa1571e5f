package zkmem

import (
	"testing"
	"time"
)

// The reaper may be due before New has returned.
func TestTheReaperAwaitsItsServer(t *testing.T) {
	for range 20_000 {
		New(Options{ContainerInterval: time.Nanosecond}).Close()
	}
}
