package main

import (
	"io"
	"os"
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/incumbent-go/incumbent/cmd/internal/cli"
)

// FuzzArguments: whatever stands on the command line, it is either understood or
// refused as usage, in words that are harmless on a terminal. What a command does
// then is not run. Arguments are separated by line feeds.
func FuzzArguments(f *testing.F) {
	for _, line := range []string{
		"", "bogus", "--bogus", "status", "status\n/jobs/nightly\n--json", "status\n/x\x1b[31m", "elect\n--path\n/x\n--try\n5s\n--\ntrue",
		"resign\n/x\n--id\n\x1b]0;owned\a\n--dry-run", "chart\nlatch\n--format\nsvg", "zk\n--listen\n[::1]:2181", "replay\n-", "watch\n/x\n--servers\nh1,,h2",
		"help\nstatus", "completion\nbash", "__complete\nsta", "--\n--", "status\n--timeout=\n-", "-\x00",
	} {
		f.Add(line)
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = null.Close() })
	f.Fuzz(func(t *testing.T, line string) {
		a := &app{cli.New("incumbent", strings.NewReader(""), null, null)}
		root := a.root()
		for _, c := range append(root.Commands(), root) {
			if c.RunE != nil {
				c.RunE = func(*cobra.Command, []string) error { return nil }
			}
		}
		root.SetOut(io.Discard)
		root.SetErr(io.Discard)
		var args []string
		if line != "" {
			args = strings.Split(line, "\n")
		}
		err := a.Execute(root, args)
		if err == nil {
			return
		}
		coded := a.Coded(err)
		if coded.Code != cli.ExitUsage {
			t.Errorf("%q: exit code %d", args, coded.Code)
		}
		if text := cli.Plain(coded.Error()); strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }) {
			t.Errorf("%q is told as %q", args, text)
		}
	})
}
