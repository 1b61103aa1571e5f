// Package program is the operators' program, without its main: a module of its own can have a main with more logins.
package program

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/incumbent-go/incumbent/cmd/internal/cli"
)

// app is one run of the program.
type app struct {
	*cli.App
	logins []Login
}

// known refuses an unknown command.
func known(_ *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case args[0] == "demo":
		return cli.Usage("no command %q: the demonstration is a program of its own: go run ./cmd/demo, in a clone",
			args[0])
	}
	return cli.Usage("no command %q: see incumbent --help", args[0])
}

// exactly accepts one argument for each name. Its error names a missing one.
func exactly(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return cli.Usage("%s needs %s, as in: %s", c.Name(), names[len(args)], firstLine(c.Example))
		case len(args) > len(names):
			return cli.Usage("%s does not know what to do with %q: see %s --help", c.Name(), args[len(names)],
				c.CommandPath())
		}
		return nil
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
