package machines

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/engine"
)

// FuzzCheckpointInParts reads checkpoints in several parts of any content, each on a line of the input. Nothing panics:
// what is read is written as the same, in parts of any length, and a part that is missing or stands there twice is
// never read as the same.
func FuzzCheckpointInParts(f *testing.F) {
	several := 0
	for _, recipe := range Recipes() {
		sum, err := engine.Replay(strings.NewReader(string(logOfOneMachine(f, recipe.Name()))), 7, Recipes()...)
		if err != nil {
			f.Fatal(err)
		}
		parts, err := sum.Engine.Checkpoint().Parts(1)
		if err != nil {
			f.Fatal(err)
		}
		if len(parts) > 1 {
			several++
		}
		f.Add(bytes.Join(parts, []byte("\n")), 1)
		f.Add(bytes.Join(parts[1:], []byte("\n")), 100)
		f.Add(bytes.Join(append(slices.Clone(parts), parts[len(parts)-1]), []byte("\n")), 1000)
	}
	if several == 0 {
		f.Fatal("no checkpoint has several parts")
	}
	f.Fuzz(func(t *testing.T, text []byte, most int) {
		c, err := engine.ReadCheckpoint(bytes.Split(text, []byte("\n")), Recipes()...)
		if err != nil {
			return
		}
		again, err := c.Parts(max(1, most))
		if err != nil {
			t.Fatal(err)
		}
		read, err := engine.ReadCheckpoint(again, Recipes()...)
		if err != nil || read.Seq() != c.Seq() || read.Machines() != c.Machines() {
			t.Fatalf("%v\n%q", err, again)
		}
		third, err := read.Parts(max(1, most))
		if err != nil || !slices.EqualFunc(again, third, bytes.Equal) {
			t.Errorf("%v\n%q\n%q", err, again, third)
		}
		if short, err := engine.ReadCheckpoint(again[1:], Recipes()...); err == nil &&
			short.Machines() == c.Machines() && short.Seq() == c.Seq() {
			t.Errorf("without its first part it is the same: %q", again)
		}
	})
}
