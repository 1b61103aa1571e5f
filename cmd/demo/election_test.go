//go:build unix

package main_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// TestPlainElection is an operator's look at a plain election, beside a line of
// latches in the same directory.
func TestPlainElection(t *testing.T) {
	srv := zkmem.Start(t)
	words, objects := start(t, srv, "watch", line, "--prefix", "n_"), start(t, srv, "watch", line, "--prefix", "n_", "--json")
	words.prints("vacant: nobody is in line")
	objects.prints(`"event":"vacant"`)
	first := elect(t, srv, "echo first; read line", "--id", "one", "--prefix", "n_")
	first.prints("first")
	participant(t, srv, line, "a latch")
	second := elect(t, srv, "echo second; read line", "--id", "two", "--prefix", "n_")
	inLine(t, srv, line, 3)
	second.notes(`1 other in line, "one" leads`)
	words.prints(`"one" leads, token `)
	words.prints("(election n_)")
	objects.prints(`"recipe":"election","prefix":"n_","leader"`)

	contains(t, start(t, srv, "status", line).exits(0).out.String(), "1 in line", `"a latch"`, "and 2 children that belong to no recipe")
	out := start(t, srv, "status", line, "--prefix", "n_").exits(0).out.String()
	contains(t, out, "3 in line", "1  election  n_0000000000", `"one"`, "2  election  n_0000000002", `"two"`)
	if strings.Contains(out, "ignored") {
		t.Errorf("something is foreign in:\n%s", out)
	}
	start(t, srv, "status", line, "--prefix", "a/b").exits(64)
	start(t, srv, "watch", line, "--prefix", "a/b").exits(64)
	elect(t, srv, "true", "--prefix", "a/b").exits(64)
	elect(t, srv, "true", "--prefix", "n_", "--selector").exits(64)

	start(t, srv, "resign", line, "--prefix", "n_", "--id", "one").exits(0)
	first.exits(75)
	second.prints("second")
	words.prints(`"two" leads, token `)
	second.in.Close()
	second.exits(1)
	words.prints(`vacant: nobody is in line (election n_); "two" led for `)
	words.signal(syscall.SIGINT)
	words.exits(0)
	objects.signal(syscall.SIGINT)
	objects.exits(0)
}
