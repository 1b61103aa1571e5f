//go:build unix

package main_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// TestPlainElection is an operator's look at a plain election, beside a line of
// latches in the same directory.
func TestPlainElection(t *testing.T) {
	srv := zkmem.Start(t)
	words, objects := start(t, srv, "watch", line, "--prefix", "n_"),
		start(t, srv, "watch", line, "--prefix", "n_", "--json")
	words.Prints("vacant: nobody is in line")
	objects.Prints(`"event":"vacant"`)
	first := elect(t, srv, "echo first; read line", "--id", "one", "--prefix", "n_")
	first.Prints("first")
	participant(t, srv, line, "a latch")
	second := elect(t, srv, "echo second; read line", "--id", "two", "--prefix", "n_")
	inLine(t, srv, line, 3)
	second.Notes(`1 other in line, "one" is first in line with token `)
	words.Prints(`"one" is first in line, token `)
	words.Prints("(election n_)")
	objects.Prints(`"recipe":"election","prefix":"n_","first"`)

	programtest.Contains(t, start(t, srv, "status", line).Exits(0).Out.String(), "1 in line", `"a latch"`,
		"and 2 children that belong to no recipe")
	out := start(t, srv, "status", line, "--prefix", "n_").Exits(0).Out.String()
	programtest.Contains(t, out, line+` (latch): 1 in line, "a latch" is first in line`,
		line+` (election n_): 2 in line, "one" is first in line`, `  1  "one"  `, "  n_0000000000\n", `  2  "two"  `,
		"  n_0000000002\n")
	if strings.Contains(out, "ignored") {
		t.Errorf("something is foreign in:\n%s", out)
	}
	start(t, srv, "status", line, "--prefix", "a/b").Exits(64)
	start(t, srv, "watch", line, "--prefix", "a/b").Exits(64)
	elect(t, srv, "true", "--prefix", "a/b").Exits(64)
	elect(t, srv, "true", "--prefix", "n_", "--selector").Exits(64)

	start(t, srv, "resign", line, "--prefix", "n_", "--id", "one").Exits(0)
	first.Exits(75)
	second.Prints("second")
	words.Prints(`"two" is first in line, token `)
	second.In.Close()
	second.Exits(1)
	words.Prints(`vacant: nobody is in line (election n_); "two" was first for `)
	words.Signal(syscall.SIGINT)
	words.Exits(0)
	objects.Signal(syscall.SIGINT)
	objects.Exits(0)
}
