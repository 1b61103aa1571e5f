package programtest

import (
	"io"
	"os"
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/incumbent-go/incumbent/cmd/internal/cli"
)

// FuzzArguments fuzzes a program's command line, in which line feeds separate the
// arguments: it is either understood or refused as usage, in words that are harmless
// on a terminal. What a command does then is not run.
func FuzzArguments(f *testing.F, name string, root func(*cli.App) *cobra.Command, seeds ...string) {
	for _, line := range seeds {
		f.Add(line)
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = null.Close() })
	f.Fuzz(func(t *testing.T, line string) {
		a := cli.New(name, strings.NewReader(""), null, null)
		program := root(a)
		for _, c := range append(program.Commands(), program) {
			if c.RunE != nil {
				c.RunE = func(*cobra.Command, []string) error { return nil }
			}
		}
		program.SetOut(io.Discard)
		program.SetErr(io.Discard)
		var args []string
		if line != "" {
			args = strings.Split(line, "\n")
		}
		err := a.Execute(program, args)
		if err == nil {
			return
		}
		coded := a.Coded(err)
		if coded.Code != cli.ExitUsage {
			t.Errorf("%q: exit code %d", args, coded.Code)
		}
		for _, text := range cli.ErrorLines(coded) {
			if strings.ContainsFunc(text, unicode.IsControl) {
				t.Errorf("the error for %q is printed as %q", args, text)
			}
		}
	})
}
