package engine

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/incumbent-go/incumbent/events"
)

// Divergence is the first place where a replay and its log differ.
type Divergence struct {
	Kind     string // "missing", "extra" or "different": the replay's line, compared with the log's
	Seq      uint64
	Machine  events.ID
	Logged   string // the log's line, if there is one
	Replayed string // the replay's line, if there is one
}

func (d *Divergence) Error() string {
	return fmt.Sprintf("first divergence: %s at seq %d, machine %s\n  logged:   %s\n  replayed: %s",
		d.Kind, d.Seq, d.Machine, orNone(d.Logged), orNone(d.Replayed))
}

func orNone(s string) string {
	if s == "" {
		return "(nothing)"
	}
	return strings.TrimSuffix(s, "\n")
}

// ChartChangedError says that another table wrote the log than this program has: a
// difference would say nothing about determinism.
type ChartChangedError struct {
	Chart, Logged, Here string
}

func (e *ChartChangedError) Error() string {
	switch {
	case e.Logged == "":
		return fmt.Sprintf("the log does not say which chart %q it ran, this program has %s; "+
			"replay it with the version that wrote it", e.Chart, e.Here)
	case e.Here == "":
		return fmt.Sprintf("the log ran a chart %q that this program does not have; replay it with the version that "+
			"wrote it", e.Chart)
	}
	return fmt.Sprintf("the chart %q changed: the log ran %s, this program has %s; replay it with the version that "+
		"wrote it", e.Chart, e.Logged, e.Here)
}

// Replayed sums up a replay.
type Replayed struct {
	Records uint64   // compared and found the same
	Inputs  uint64   // events from outside among them
	Last    uint64   // seq of the last of them
	After   uint64   // seq of the checkpoint with which the replay began, because what was before it is not there
	Torn    bool     // the last line had no end and was dropped
	Cut     bool     // the log has no last line that says why it ended: the process was cut off
	Unknown []string // fields that a newer version wrote
	Engine  *Engine
}

// Replay feeds the events of a log to fresh machines and compares every record, and each
// checkpoint. It stops after the record with the seq until, unless that is 0. The error is
// a *Divergence, a *ChartChangedError, an *events.DamagedError, an *events.Gap, or the
// reader's own; of a checkpoint, also a *BadCheckpointError or *ModelChangedError.
//
// The machines' states after a gap depend on the missing records. If a checkpoint follows
// the gap, the replay goes on from there, and returns the first gap at its end: all other
// records were the same then. If none does, it ends at the gap. A log whose beginning is
// missing, and that begins with a checkpoint, has no gap: see Replayed.After.
func Replay(log io.Reader, until uint64, recipes ...Recipe) (Replayed, error) {
	read := false
	s, err := events.NewSegments(func() (string, io.Reader, error) {
		if read {
			return "", nil, io.EOF
		}
		read = true
		return "", log, nil
	})
	if err != nil {
		return Replayed{}, err
	}
	return ReplaySegments(s, until, recipes...)
}

// ReplayRecords does the same as Replay, with the records that next returns until its
// error is io.EOF.
func ReplayRecords(next func() (events.Record, error), until uint64, recipes ...Recipe) (Replayed, error) {
	p := replayer{engine: New(true, recipes...), next: next}
	err := p.play(until)
	p.sum.Engine = p.engine
	return p.sum, err
}

// sameChart returns a *ChartChangedError if the record opened a machine of another chart than it would here.
func (p *replayer) sameChart(logged events.Record) error {
	if logged.Row != string(events.CommandOpen) {
		return nil
	}
	here := ""
	if r := p.engine.recipes.find(logged.Event.Recipe); r != nil {
		here = r.digest
	}
	if logged.Chart != here {
		return &ChartChangedError{logged.Event.Recipe, logged.Chart, here}
	}
	return nil
}

// replayer reads a log. The records of a step are together in the log; the event from
// outside is somewhere among the internal ones.
type replayer struct {
	engine *Engine
	next   func() (events.Record, error)
	seq    uint64 // of the last record that was compared, or of the checkpoint before
	sum    Replayed
}

func (p *replayer) play(until uint64) error {
	var group []events.Record
	for until == 0 || p.seq < until {
		r, err := p.next()
		if err != nil {
			return ending(group, err)
		}
		group = append(group, r)
		if r.Internal {
			continue
		}
		if err := p.feed(group, r); err != nil {
			return err
		}
		group = group[:0]
	}
	return nil
}

// ending returns the result of a replay that cannot go on: err is the log's end, a
// gap, or damage. Group has the internal records at the end, whose event from outside
// is missing.
func ending(group []events.Record, err error) error {
	var gap *events.Gap
	ended := errors.Is(err, io.EOF)
	switch {
	case len(group) > 0 && (ended && group[0].Event.Kind != events.ConnectionConfirmed || errors.As(err, &gap)):
		return &Divergence{"missing", group[0].Seq, group[0].Machine, line(group[0]), ""}
	case ended:
		// A confirmation's record is before that of the reply which confirmed: a log that
		// ends with one was cut between the two. A gap never cuts there: it has whole steps.
		return nil
	}
	return err
}

// feed steps one event from outside and compares the records: first with the internal
// ones that were read before it, then with those that follow it.
func (p *replayer) feed(group []events.Record, input events.Record) error {
	p.sum.Inputs++
	p.engine.Step(events.Envelope{To: input.Machine, Event: input.Event})
	for i, got := range p.engine.Records() {
		if i == len(group) {
			want, err := p.next()
			if errors.Is(err, io.EOF) {
				return nil // the log ends in the middle of a step: it was cut there
			}
			if err != nil {
				return err
			}
			group = append(group, want)
		}
		if err := compare(group[i], got); err != nil {
			return cmp.Or(p.sameChart(group[i]), err)
		}
		p.sum.Records++
		p.sum.Last = got.Seq
		p.seq = got.Seq
	}
	return nil
}

func compare(want, got events.Record) error {
	if want.Equal(got) {
		return nil
	}
	kind := "different"
	switch {
	case got.Internal && !want.Internal:
		kind = "extra"
	case want.Internal && !got.Internal:
		kind = "missing"
	}
	return &Divergence{kind, want.Seq, want.Machine, line(want), line(got)}
}

func line(r events.Record) string {
	b, err := events.Encode(r)
	if err != nil {
		return err.Error()
	}
	return string(bytes.TrimSuffix(b, []byte("\n")))
}
