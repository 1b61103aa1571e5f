package engine

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/seal"
)

// tamper changes the records of the conversation before they are written.
func tamper(t *testing.T, change func(r []events.Record) []events.Record) []byte {
	records := change(append([]events.Record(nil), conversation().records...))
	for i := range records {
		records[i].Seq = uint64(i + 1)
	}
	return logOf(t, records)
}

func replay(log []byte, until uint64) (Replayed, error) {
	return Replay(bytes.NewReader(log), until, toys...)
}

func TestReplayIsTheSame(t *testing.T) {
	s := conversation()
	sum, err := replay(s.log(t), 0)
	if err != nil {
		t.Fatal(err)
	}
	inputs := uint64(0)
	for _, r := range s.records {
		if !r.Internal {
			inputs++
		}
	}
	want(t, "records", sum.Records, len(s.records))
	want(t, "torn", sum.Torn, false)
	want(t, "state", sum.Engine.State("a"), s.State("a"))
	if sum.Inputs == 0 || sum.Inputs > inputs {
		t.Errorf("%d inputs of %d records that nobody told", sum.Inputs, inputs)
	}
}

func TestReplayOfNothing(t *testing.T) {
	sum, err := replay(logOf(t, nil), 0)
	want(t, "error", err, nil)
	want(t, "records", sum.Records, 0)
}

// position finds a record of the conversation.
func position(t *testing.T, records []events.Record, fits func(events.Record) bool) int {
	t.Helper()
	for i, r := range records {
		if fits(r) {
			return i
		}
	}
	t.Fatal("no such record")
	return 0
}

func TestReplayFindsWhatDiffers(t *testing.T) {
	made := func(r events.Record) bool { return r.Row == "reply.create [made]" }
	told := func(r events.Record) bool { return r.Internal && r.Event.Text == "to all" }
	for name, c := range map[string]struct {
		change func(r []events.Record) []events.Record
		kind   string
		says   string
	}{
		"an effect": {func(r []events.Record) []events.Record {
			i := position(t, r, made)
			r[i].Effects = events.Effects{events.StopTimer{Request: 4}}
			return r
		}, "different", `{"stop":"","req":3}`},
		"a state": {func(r []events.Record) []events.Record {
			i := position(t, r, made)
			r[i].To = "pausing"
			return r
		}, "different", `"to":"holding"`},
		"a guard": {func(r []events.Record) []events.Record {
			i := position(t, r, made)
			r[i].Tried = []string{"taken"}
			return r
		}, "different", ""},
		"a stamp": {func(r []events.Record) []events.Record {
			i := position(t, r, made)
			r[i].Event.ValidUntil++
			return r
		}, "different", `"validUntil":"105"`},
		"a cause": {func(r []events.Record) []events.Record {
			i := position(t, r, made)
			r[i].Cause++
			return r
		}, "different", ""},
		"an input": {func(r []events.Record) []events.Record {
			i := position(t, r, made)
			r[i].Event.Code = events.NoAuth // confirms nothing, so nothing is told before it
			return r
		}, "missing", "connection.confirmed"},
		"a told event that the log lacks": {func(r []events.Record) []events.Record {
			i := position(t, r, told)
			return append(r[:i:i], r[i+1:]...)
		}, "different", ""},
		"the last told event that the log lacks": {func(r []events.Record) []events.Record {
			i := position(t, r, told) + 2
			return append(r[:i:i], r[i+1:]...)
		}, "extra", "to all"},
		"a told event that nobody tells": {func(r []events.Record) []events.Record {
			i := position(t, r, told)
			extra := r[i]
			extra.Event.Text = "out of the blue"
			return append(r[:i+3:i+3], append([]events.Record{extra}, r[i+3:]...)...)
		}, "missing", "out of the blue"},
		"a told event at the very end": {func(r []events.Record) []events.Record {
			extra := r[position(t, r, told)]
			return append(r, extra)
		}, "missing", "to all"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := replay(tamper(t, c.change), 0)
			var d *Divergence
			if !errors.As(err, &d) {
				t.Fatalf("not a divergence: %v", err)
			}
			want(t, "kind", d.Kind, c.kind)
			if !strings.Contains(err.Error(), c.says) || d.Seq == 0 || d.Machine == "" {
				t.Errorf("%v", err)
			}
		})
	}
}

// The first divergence is told, with its line's own number and machine.
func TestReplayTellsTheFirstDivergence(t *testing.T) {
	var at uint64
	log := tamper(t, func(r []events.Record) []events.Record {
		i := position(t, r, func(r events.Record) bool { return r.Row == "reply.create [made]" })
		at = uint64(i + 1)
		r[i].To = "pausing"
		r[len(r)-1].To = "pausing"
		return r
	})
	sum, err := replay(log, 0)
	var d *Divergence
	if !errors.As(err, &d) {
		t.Fatal(err)
	}
	want(t, "where", []any{d.Seq, d.Machine}, []any{at, "a"})
	want(t, "records that were the same", sum.Records, at-1)
	for _, part := range []string{"logged:", "replayed:", `"to":"pausing"`, `"to":"holding"`} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is missing from %v", part, err)
		}
	}
}

// A log of another table says so before anything is called a divergence.
func TestReplayOfAnotherChart(t *testing.T) {
	log := seal.Again(bytes.Replace(conversation().log(t), []byte(workerChart.Digest()), []byte("0123456789abcdef"), 1))
	_, err := replay(log, 0)
	var changed *ChartChangedError
	if !errors.As(err, &changed) ||
		!strings.Contains(err.Error(), `the chart "worker" changed: the log ran 0123456789abcdef`) {
		t.Error(err)
	}
	said := []byte(`,"chart":"` + workerChart.Digest() + `"`)
	_, err = replay(seal.Again(bytes.Replace(conversation().log(t), said, nil, 1)), 0)
	if !errors.As(err, &changed) || !strings.Contains(err.Error(), `does not say which chart "worker" it ran`) {
		t.Error(err)
	}
	_, err = Replay(bytes.NewReader(conversation().log(t)), 0, toys[0])
	if !errors.As(err, &changed) || !strings.Contains(err.Error(), `a chart "worker" that this program does not have`) {
		t.Error(err)
	}
}

// Until may fall into the middle of a step, which is then compared to its end.
func TestReplayUntil(t *testing.T) {
	s := conversation()
	for i := range s.records {
		until := uint64(i + 1)
		sum, err := replay(s.log(t), until)
		if err != nil {
			t.Fatal(err)
		}
		if sum.Records < until || sum.Records > s.ends[i] {
			t.Errorf("until %d, whose step ends with %d: stopped after %d", until, s.ends[i], sum.Records)
		}
	}
}

// A log ends where its process ended: anywhere.
func TestReplayOfACutLog(t *testing.T) {
	s := conversation()
	log := s.log(t)
	header := bytes.IndexByte(log, '\n') + 1
	for cut := header; cut <= len(log); cut++ {
		if cut%17 > 0 && log[cut-1] != '\n' && log[cut-2] != '\n' {
			continue
		}
		sum, err := replay(log[:cut], 0)
		whole := uint64(bytes.Count(log[header:cut], []byte("\n")))
		if whole > 0 && s.records[whole-1].Event.Kind == events.ConnectionConfirmed {
			whole-- // it belongs to the reply that was cut off
		}
		if torn := log[cut-1] != '\n'; sum.Torn != torn {
			t.Fatalf("cut at %d: torn is %v", cut, sum.Torn)
		}
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if sum.Records != whole {
			t.Fatalf("cut at %d: %d of %d whole lines replayed", cut, sum.Records, whole)
		}
	}
}

func TestReplayOfADamagedLog(t *testing.T) {
	log := conversation().log(t)
	lines := bytes.SplitAfter(log, []byte("\n"))
	lines[7] = []byte("{\"seq\": oops}\n")
	_, err := replay(bytes.Join(lines, nil), 0)
	var damaged *events.DamagedError
	if !errors.As(err, &damaged) || damaged.Line != 8 {
		t.Error(err)
	}
	_, err = replay(nil, 0)
	if !errors.As(err, &damaged) || damaged.Line != 1 {
		t.Error(err)
	}
}
