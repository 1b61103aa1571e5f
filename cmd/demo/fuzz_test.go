package main

import (
	"testing"

	"github.com/spf13/cobra"

	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
)

func FuzzArguments(f *testing.F) {
	programtest.FuzzArguments(f, "demo", func(a *cli.App) *cobra.Command { return (&app{a}).root() },
		"", "bogus", "--bogus", "--json", "--json=\x1b", "--record\nx\n--json", "--record", "elect\n/x\n--\ntrue",
		"status\n\x1b]0;owned\a", "--\n--", "--version", "help", "__complete\n")
}
