package program

import (
	"testing"

	"github.com/spf13/cobra"

	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
)

func FuzzArguments(f *testing.F) {
	programtest.FuzzArguments(f, "incumbent", func(a *cli.App) *cobra.Command { return (&app{App: a}).root() },
		"", "bogus", "--bogus", "status", "status\n/jobs/nightly\n--json", "status\n/x\x1b[31m",
		"elect\n/x\n--try\n5s\n--\ntrue", "elect\n--path\n/x\n--\ntrue",
		"resign\n/x\n--id\n\x1b]0;owned\a\n--dry-run", "chart\nlatch\n--format\nsvg", "zk\n--listen\n[::1]:2181",
		"replay\n-", "watch\n/x\n--servers\nh1,,h2",
		"help\nstatus", "completion\nbash", "__complete\nsta", "--\n--", "status\n--timeout=\n-", "-\x00", "--version",
		"demo\n--record\nx")
}
