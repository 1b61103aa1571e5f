package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

func (a *app) replay() *cobra.Command {
	var until uint64
	var show bool
	c := &cobra.Command{
		Use:   "replay FILE",
		Short: "feed a recorded log to fresh machines, and compare every effect",
		Long: `Feed the events of a flight recorder's log to fresh machines and compare every
record: the same events must give the same transitions and effects, byte for byte.

--print shows the records, one line each: number, time since the start, machine,
from --event [guard]--> to, and the effects. #4 is a request or a timer, by its
number; #4! goes past the requests that wait. "valid until" is a time since the
start, too. What is foreign comes out escaped.

A log has a gap where records were dropped, because its file was too slow or a
record was too long. A replay ends at the first gap; --print goes on behind it.

A log that another version wrote replays if its charts are those of this program.
--print shows its records in any case, in the words of the version that wrote them.

Exit codes:
   0  the same
   2  the log is damaged (the line and why), or another version's chart wrote it
   3  not the same: the first divergence is shown
   6  the same up to a gap: where it is, how many records are missing, and why
  64  the command line is wrong
  66  the file cannot be read`,
		Example: "  incumbent replay /tmp/worker.log\n  incumbent replay /tmp/worker.log --until 40 --print",
		Args:    exactly("a FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := os.Open(args[0])
			if err != nil {
				return cli.Exit(exitNoInput, err)
			}
			defer f.Close()
			return a.play(f, until, show)
		},
	}
	c.Flags().Uint64Var(&until, "until", 0, "stop after the record with this number")
	c.Flags().BoolVar(&show, "print", false, "print the records, too")
	a.JSONFlag(c)
	return c
}

func (a *app) play(f io.ReadSeeker, until uint64, show bool) error {
	if show {
		if err := a.printLog(f, until); err != nil {
			return cli.Exit(replayCode(err), err)
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return cli.Exit(exitNoInput, fmt.Errorf("--print reads the log twice, so it must be a file: %w", err))
		}
	}
	began := time.Now()
	sum, err := engine.Replay(f, until, machines.Recipes()...)
	took := time.Since(began)
	if a.JSON {
		a.Out.Object(replayObject(sum, took, err))
		if err != nil {
			return &cli.ExitError{Code: replayCode(err)}
		}
		return nil
	}
	same := "the same"
	var gap *events.Gap
	switch {
	case errors.As(err, &gap):
		same = "the same up to a gap"
	case err != nil && !show && errors.As(err, new(*engine.ChartChangedError)):
		return cli.Exit(replayCode(err), fmt.Errorf("%w; --print shows its records", err))
	case err != nil:
		return cli.Exit(replayCode(err), err)
	}
	a.Out.Line("%s: %s from %s, %.0f records/s", a.Out.Green(same),
		cli.Plural(sum.Records, "record"), cli.Plural(sum.Inputs, "input"), rate(sum, took))
	if sum.Torn {
		a.Note("the last line had no end and was left out: the program that wrote it was cut off")
	}
	for _, m := range states(sum) {
		a.Out.Line("  %s is %s", cli.Plain(m.ID), m.State)
	}
	if gap != nil {
		err = fmt.Errorf("%w; what stands behind it cannot be replayed, and --print shows it", err)
	}
	return cli.Exit(replayCode(err), err)
}

// replayCode is the exit code that a replay's error means.
func replayCode(err error) int {
	var damaged *events.DamagedError
	var changed *engine.ChartChangedError
	var diverged *engine.Divergence
	var gap *events.Gap
	switch {
	case errors.As(err, &gap):
		return exitGap
	case errors.As(err, &damaged), errors.As(err, &changed):
		return exitDamaged
	case errors.As(err, &diverged):
		return exitDiverged
	}
	return exitNoInput
}

type machineState struct {
	ID    string `json:"machine"`
	State string `json:"state"`
}

func states(sum engine.Replayed) []machineState {
	all := []machineState{}
	if sum.Engine == nil {
		return all
	}
	for _, id := range sum.Engine.Machines() {
		all = append(all, machineState{string(id), string(sum.Engine.State(id))})
	}
	return all
}

func rate(sum engine.Replayed, took time.Duration) float64 {
	return float64(sum.Records) / max(took.Seconds(), 1e-9)
}

func replayObject(sum engine.Replayed, took time.Duration, err error) any {
	o := struct {
		Same     bool           `json:"same"`
		Records  uint64         `json:"records"`
		Inputs   uint64         `json:"inputs"`
		Rate     int64          `json:"recordsPerSecond"`
		Torn     bool           `json:"torn,omitempty"`
		Machines []machineState `json:"machines"`
		Error    string         `json:"error,omitempty"`
		Line     int            `json:"line,omitempty"`
		Seq      uint64         `json:"seq,omitempty"`
		Gap      *events.Gap    `json:"gap,omitempty"`
	}{Same: err == nil, Records: sum.Records, Inputs: sum.Inputs, Rate: int64(rate(sum, took)), Torn: sum.Torn, Machines: states(sum)}
	if err != nil {
		o.Error = err.Error()
	}
	var damaged *events.DamagedError
	var diverged *engine.Divergence
	switch {
	case errors.As(err, &damaged):
		o.Line = damaged.Line
	case errors.As(err, &diverged):
		o.Seq = diverged.Seq
	}
	errors.As(err, &o.Gap)
	return o
}

// printLog prints the records for people, or as they are with --json.
func (a *app) printLog(f io.Reader, until uint64) error {
	r, err := events.NewReader(f)
	if err != nil {
		return err
	}
	if !a.JSON {
		a.Out.Line("%s, %s, begun %s", cli.Plain(r.Header.Library), cli.Plain(r.Header.Go), cli.Plain(r.Header.Start))
	}
	for {
		rec, err := r.Next()
		var gap *events.Gap
		isGap := errors.As(err, &gap)
		switch {
		case errors.Is(err, io.EOF), until != 0 && (err == nil && rec.Seq > until || isGap && gap.From > until):
			return nil
		case isGap && a.JSON:
			a.Out.Object(map[string]*events.Gap{"gap": gap})
		case isGap:
			a.Out.Line("%s", gapText(gap))
		case err != nil:
			return err
		case a.JSON:
			a.Out.Object(rec)
		default:
			a.Out.Line("%s", recordLine(rec, r.Header.StartAt))
		}
	}
}

// gapText is the line that is printed in place of a gap's records.
func gapText(g *events.Gap) string {
	return fmt.Sprintf("%6d … %d: %s missing: %s", g.From, g.To, cli.Plural(g.Count, "record"), oneLine(g.Why))
}

// oneLine makes foreign text harmless, and keeps it on its line.
func oneLine(s string) string { return strings.ReplaceAll(cli.Plain(s), "\n", `\n`) }

func recordLine(r events.Record, start int64) string {
	since := time.Duration(r.Event.At - start).Seconds()
	move := r.Row
	switch {
	case r.Row == events.RowLate || r.Row == events.RowIgnored || r.Row == events.RowUnknown:
		move = fmt.Sprintf("%s (%s: %s)", r.From, r.Event.Kind, r.Row)
	case r.From != "":
		move = fmt.Sprintf("%s --%s--> %s", r.From, r.Row, r.To)
	case r.To != "":
		move = fmt.Sprintf("%s: %s", r.Row, r.To)
	}
	line := fmt.Sprintf("%6d %+11.6fs  %-11s %s", r.Seq, since, r.Machine, strings.TrimSpace(move))
	if len(r.Effects) > 0 {
		shown := make([]string, len(r.Effects))
		for i, effect := range r.Effects.Strings() {
			shown[i] = sinceStart(effect, start)
		}
		line += "  | " + strings.Join(shown, "; ")
	}
	return oneLine(line)
}

// sinceStart puts the time since the log's start for the reading of its clock,
// in the one effect that holds such.
func sinceStart(effect string, start int64) string {
	const words = "valid until "
	reading, ok := strings.CutPrefix(effect, words)
	if !ok {
		return effect
	}
	at, err := time.ParseDuration(reading)
	if err != nil {
		return effect
	}
	return fmt.Sprintf("%s%+.6fs", words, (at - time.Duration(start)).Seconds())
}
