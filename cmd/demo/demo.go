package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/cmd/demo/story"
	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/events"
)

const help = `Show leader election on ZooKeeper, and check it, with nothing else installed: start
a ZooKeeper in memory, let participants queue, kill the leader's session, lose the
reply to a create, have selectors take turns, print every change of leadership, and
replay what was recorded. It takes a few seconds.

The operators' commands are in cmd/incumbent: see go run ./cmd/incumbent --help.

Exit codes:
   0  every check succeeded
   1  one failed: the last line says which
  64  the command line is wrong
  73  the file of --record cannot be written`

// limit is how long the main job may take.
const limit = 20 * time.Second

// app is one run of the program.
type app struct{ *cli.App }

// run is the program.
func run(args []string, in, out, errs *os.File) int {
	a := &app{cli.New("demo", in, out, errs)}
	return a.Run(a.root(), args)
}

func (a *app) root() *cobra.Command {
	var record string
	c := &cobra.Command{
		Use:     "demo",
		Short:   "show leader election on ZooKeeper, and check it",
		Long:    help,
		Example: "  go run ./cmd/demo\n  go run ./cmd/demo --record /tmp/demo.log --json",
		Args:    none,
		RunE:    func(c *cobra.Command, _ []string) error { return a.show(c.Context(), record) },
	}
	c.Flags().StringVar(&record, "record", "",
		"where to record one client's log (default: a new file in the directory for temporary ones)")
	a.JSONFlag(c)
	c.CompletionOptions.DisableDefaultCmd = true
	c.SetFlagErrorFunc(cli.FlagError)
	return c
}

// none refuses every argument.
func none(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return cli.Usage("no command %q here: operators' commands are in cmd/incumbent: see go run ./cmd/incumbent --help",
		args[0])
}

func (a *app) show(ctx context.Context, record string) error {
	ctx, stop := cli.Interruptible(ctx)
	defer stop()
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not done within %s", limit))
	defer cancel()
	if record == "" {
		record = filepath.Join(os.TempDir(), fmt.Sprintf("incumbent-%d-%d.log", os.Getpid(), time.Now().UnixNano()))
	}
	f, err := incumbent.CreateLog(record)
	if err != nil {
		return cli.Exit(cli.ExitNoOutput, err)
	}
	defer f.Close()
	began := time.Now()
	tell := a.printStory
	if a.JSON {
		tell = func(l story.Line) { a.Out.Object(l) }
	}
	if err := story.Run(ctx, story.Options{Log: f, Tell: tell}); err != nil {
		if ctx.Err() != nil && !errors.Is(err, context.Cause(ctx)) {
			err = fmt.Errorf("%w (%w)", err, context.Cause(ctx))
		}
		if a.JSON {
			a.Out.Object(story.Line{Event: "failed", Text: err.Error()})
		}
		return cli.Exit(cli.ExitFailed, fmt.Errorf("a check failed: %w; the log is %s", err, record))
	}
	took := time.Since(began)
	if a.JSON {
		a.Out.Object(story.Line{Event: "done", Text: "every check succeeded", Ms: took.Milliseconds(), Log: record})
		return nil
	}
	a.Out.Line("%s in %s.", a.Out.Green("Every check succeeded"), cli.Short(took))
	a.Out.Line("")
	a.Out.Line("Try next (make install puts the program on the PATH as incumbent):")
	a.Out.Table([][]string{
		{"incumbent replay " + record + " --print", "what was recorded, line by line"},
		{"incumbent chart latch", "the state machine that ran, from the table that runs"},
		{"incumbent zk", "a ZooKeeper in memory; then, in other terminals:"},
		{"incumbent elect /jobs/x -- sleep 60", "run a command only while leading"},
		{"incumbent status /jobs/x", "who is in line"},
		{"incumbent watch /jobs/x", "every change of the first in line"},
		{"incumbent resign /jobs/x", "move leadership"},
	})
	return nil
}

func (a *app) printStory(l story.Line) {
	text := events.Foreign(l.Text, events.MaxText)
	switch l.Event {
	case "chapter":
		a.Out.Line("")
		text = a.Out.Bold(text)
	case "intro":
	default:
		text = "   " + text
	}
	a.Out.Line("%s", text)
}
