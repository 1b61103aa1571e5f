// Package program is the operators' program, without its main: a module of its own can have a main with more logins.
package program

import (
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/incumbent-go/incumbent/cmd/internal/cli"
)

// app is one run of the program.
type app struct {
	*cli.App
	logins []Login
}

// Run runs the program with its arguments, its name not among them, and returns the exit code. Logins are offered by
// every command that connects.
func Run(args []string, in, out, errs *os.File, logins ...Login) int {
	a := &app{cli.New("incumbent", in, out, errs), logins}
	return a.Run(a.root(), args)
}

const help = `Operate leader election on ZooKeeper: run commands under leadership or a lock, see
who is in line, move leadership, replay what was recorded. Lines are Curator's.

The servers are named by --servers of a command, or by INCUMBENT_SERVERS.

Exit codes:
   0  done; each command's help has its own
  64  the command line is wrong`

// root returns the program without a command. It prints help to stdout and exits with
// 0, as kubectl does.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:     "incumbent",
		Short:   "operate leader election on ZooKeeper",
		Long:    help,
		Example: "  incumbent status /jobs/nightly\n  incumbent elect /jobs/nightly -- ./nightly.sh",
		Args:    known,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetFlagErrorFunc(cli.FlagError)
	root.SetHelpCommand(helpOf(root))
	root.AddCommand(a.elect(), a.lock(), a.status(), a.watch(), a.resign(), a.replay(), a.why(), a.servePages(), a.playWorlds(), a.chart(), a.zk(), a.guard())
	return root
}

// helpOf returns the command help. Cobra's own exits with 0 if there is no such command.
func helpOf(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "print the help of a command",
		RunE: func(_ *cobra.Command, args []string) error {
			found, rest, err := root.Find(args)
			switch {
			case err != nil:
				return cli.Usage("%w", err)
			case found == root && len(rest) > 0:
				return known(root, rest)
			}
			found.InitDefaultHelpFlag() // which is printed, too
			return found.Help()
		},
	}
}

// known refuses an unknown command.
func known(_ *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case args[0] == "demo":
		return cli.Usage("no command %q: the demonstration is a program of its own: go run ./cmd/demo, in a clone", args[0])
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
			return cli.Usage("%s does not know what to do with %q: see %s --help", c.Name(), args[len(names)], c.CommandPath())
		}
		return nil
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
