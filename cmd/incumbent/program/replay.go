package program

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

func (a *app) replay() *cobra.Command {
	o := replayOptions{}
	c := &cobra.Command{
		Use:   "replay FILE|DIR",
		Short: "feed a recorded log to fresh machines, and compare every effect",
		Long: `Feed the events of a flight recorder's log to fresh machines and compare every
record: the same events must give the same transitions and effects, byte for byte.

A DIR is one of --record DIR: each run in it is replayed, all its segments in order.
DIR/RUN is one of them: RUN is what the names of its segments begin with, as why names
a record if several runs are of one host. A file X.jsonl that has been compressed since
is X.jsonl.gz. A file without a header, whose process was killed before it had written
one, is left out, and a line says so.

--print shows the records, one line each: number, time since the start, wall clock
(UTC), machine, from --event [guard]--> to, and the effects. #4 is a request or a timer, by its
number; #4! goes past the requests that wait. "valid until" is a time since the
start, too. What is foreign comes out escaped.

A log has a gap where records were dropped, because its file was too slow or a
record was too long. The replay goes on behind it from the checkpoint that follows;
if there is none, it ends at the gap, and --print goes on. A log in a directory whose
first files were deleted begins with a checkpoint, and has no gap.

A log that another version wrote replays if its charts are those of this program.
--print shows its records in any case, in the words of the version that wrote them.

Exit codes:
   0  the same
   2  the log is damaged (the line and why), or another version's chart wrote it
   3  not the same: the first divergence is shown
   6  the same but for a gap: where it is, how many records are missing, and why
      (of several runs, the first that is not 0)
  64  the command line is wrong
  66  the file cannot be read`,
		Example: "  incumbent replay /tmp/worker.log\n  incumbent replay /tmp/worker.log --until 40 --print",
		Args:    exactly("a FILE or a DIR"),
		RunE: func(_ *cobra.Command, args []string) error {
			if o.noHeartbeats && !o.show {
				return cli.Usage("--no-heartbeats needs --print: it leaves out records that are printed")
			}
			logs, err := a.logsAt(args[0])
			if err != nil {
				return cli.Exit(exitNoInput, err)
			}
			return a.playAll(logs, o)
		},
	}
	c.Flags().Uint64Var(&o.until, "until", 0, "stop after the record with this number")
	c.Flags().BoolVar(&o.show, "print", false, "print the records, too")
	c.Flags().BoolVar(&o.noHeartbeats, "no-heartbeats", false,
		"with --print: leave out what heartbeats do while nothing changes")
	a.JSONFlag(c)
	return c
}

func (a *app) play(l flightLog, o replayOptions) error {
	if o.show {
		if err := a.printLog(l, o); err != nil {
			return cli.Exit(replayCode(err), err)
		}
	}
	s, end, err := l.open()
	if err != nil {
		return a.replayFailed(err)
	}
	defer end()
	began := time.Now()
	sum, err := engine.ReplaySegments(s, o.until, machines.Recipes()...)
	took, show := time.Since(began), o.show
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
	case errors.As(err, &gap) && sum.Engine.Seq() > gap.To:
		same = "the same but for a gap"
	case errors.As(err, &gap):
		same = "the same up to a gap"
	case err != nil && !show && errors.As(err, new(*engine.ChartChangedError)):
		return cli.Exit(replayCode(err), fmt.Errorf("%w; --print shows its records", err))
	case err != nil:
		return cli.Exit(replayCode(err), err)
	}
	a.Out.Line("%s: %s from %s, %.0f records/s", a.Out.Green(same),
		cli.Plural(sum.Records, "record"), cli.Plural(sum.Inputs, "input"), rate(sum, took))
	switch {
	case sum.Torn:
		a.Note("the last line had no end and was left out: the program that writes the log was killed, or still runs")
	case sum.Cut:
		a.Note("the log has no last line that says why it ended: the program that writes it was killed, or still runs")
	}
	if sum.After > 0 {
		a.Note("the log begins with the checkpoint after record %d: what was before is not there", sum.After)
	}
	if len(sum.Unknown) > 0 {
		a.Note("a newer version wrote the log; this one does not know: %s", events.Foreign(strings.Join(sum.Unknown,
			", "), events.MaxText))
	}
	for _, m := range states(sum) {
		a.Out.Line("  %s", oneLine(fmt.Sprintf("%s is %s", m.ID, m.State)))
	}
	if gap != nil && sum.Engine.Seq() < gap.To {
		err = fmt.Errorf("%w; what stands behind it cannot be replayed, and --print shows it", err)
	}
	return cli.Exit(replayCode(err), err)
}

// replayFailed reports a log whose first line cannot be read.
func (a *app) replayFailed(err error) error {
	if a.JSON {
		a.Out.Object(replayObject(engine.Replayed{}, 0, err))
		return &cli.ExitError{Code: replayCode(err)}
	}
	return cli.Exit(replayCode(err), err)
}

// replayCode is the exit code that a replay's error means.
func replayCode(err error) int {
	var damaged *events.DamagedError
	var changed *engine.ChartChangedError
	var diverged *engine.Divergence
	var gap *events.Gap
	var fields *engine.ModelChangedError
	var bad *engine.BadCheckpointError
	switch {
	case errors.As(err, &gap):
		return exitGap
	case errors.As(err, &damaged), errors.As(err, &changed), errors.As(err, &fields), errors.As(err, &bad):
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
		After    uint64         `json:"afterCheckpoint,omitempty"` // of this record: what was before is not there
		Rate     int64          `json:"recordsPerSecond"`
		Torn     bool           `json:"torn,omitempty"`
		Cut      bool           `json:"cutOff,omitempty"` // the log does not say why it ended
		Unknown  []string       `json:"unknownFields,omitempty"`
		Machines []machineState `json:"machines"`
		Error    string         `json:"error,omitempty"`
		Line     int            `json:"line,omitempty"`
		Seq      uint64         `json:"seq,omitempty"`
		Gap      *events.Gap    `json:"gap,omitempty"`
	}{Same: err == nil, Records: sum.Records, Inputs: sum.Inputs, After: sum.After, Rate: int64(rate(sum, took)),
		Torn: sum.Torn, Cut: sum.Cut || sum.Torn, Unknown: sum.Unknown, Machines: states(sum)}
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
