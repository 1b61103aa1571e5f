package program

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/incumbent-go/incumbent/cmd/internal/cli"
)

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
	root.AddCommand(a.elect(), a.lock(), a.status(), a.shards(), a.doctor(), a.watch(), a.resign(), a.replay(),
		a.why(), a.servePages(), a.playWorlds(), a.chart(), a.zk(), a.guard())
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
