//go:build unix

package main_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// A candidate that queues again does so after any number of resigns.
func TestElectQueuesAgainAfterManyResigns(t *testing.T) {
	t.Parallel()
	srv := zkmem.Start(t)
	p := elect(t, srv, "echo term; sleep 1000", "--requeue", "--timeout", "3s", "--tick", "200ms")
	for n := range 4 {
		p.Prints(strings.Repeat("term\n", n+1))
		inLine(t, srv, line, 1)
		start(t, srv, "resign", line).Exits(0)
	}
	p.Prints(strings.Repeat("term\n", 5))
	p.Notes("was deleted again and again")
	p.Signal(syscall.SIGTERM)
	p.Exits(143)
}
