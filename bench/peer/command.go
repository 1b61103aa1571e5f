// Package peer is the protocol between the driver and the programs that it compares: one command on a line of standard
// input, one answer on a line of standard output. It has both sides of it, and the scenarios, as programs in Go play
// them.
package peer

import (
	"fmt"
	"strconv"
	"strings"
)

// The commands, in the order in which the driver sends them for one measurement.
const (
	Versions = "versions" // asks which versions the program runs
	Prepare  = "prepare"  // builds what a scenario needs: directories, participants that wait
	Go       = "go"       // plays what was prepared; only this is measured
	Clean    = "clean"    // releases what Prepare and Go left behind
)

// Command is one line from the driver. Only Prepare has more than its first word.
type Command struct {
	Do       string
	Scenario string // one of the names in scenarios.go
	Recipe   string // "latch", "mutex", …
	Path     string // a directory that no other measurement uses
	N        int    // how many repetitions, participants or clients
}

// String returns the command's line, without its end.
func (c Command) String() string {
	if c.Do != Prepare {
		return c.Do
	}
	return fmt.Sprintf("%s %s %s %s %d", c.Do, c.Scenario, c.Recipe, c.Path, c.N)
}

// ParseCommand reads a line. The error says what is wrong with it.
func ParseCommand(line string) (Command, error) {
	words := strings.Fields(line)
	switch {
	case len(words) == 1 && (words[0] == Versions || words[0] == Go || words[0] == Clean):
		return Command{Do: words[0]}, nil
	case len(words) != 5 || words[0] != Prepare:
		return Command{}, fmt.Errorf("peer: the command %q is none of %s, %s, %s, and %s SCENARIO RECIPE PATH N", line,
			Versions, Go, Clean, Prepare)
	}
	n, err := strconv.Atoi(words[4])
	if err != nil || n < 1 {
		return Command{}, fmt.Errorf("peer: the command %q ends with %q: want a number above 0", line, words[4])
	}
	return Command{Do: Prepare, Scenario: words[1], Recipe: words[2], Path: words[3], N: n}, nil
}

// Answer is one line from a program, as JSON. An answer without an Error and without Unsupported says that the command
// was carried out.
type Answer struct {
	Error string `json:"error,omitempty"` // what failed
	// why the program cannot play this scenario with this recipe
	Unsupported string             `json:"unsupported,omitempty"`
	Versions    string             `json:"versions,omitempty"`
	Samples     map[string][]int64 `json:"samples,omitempty"` // nanoseconds, by what was measured
	// objects allocated during Go; 0 if the program does not know
	Mallocs uint64 `json:"mallocs,omitempty"`
}
