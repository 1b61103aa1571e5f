package incidents

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/why"
)

// cutReader ends a log after some records.
type cutReader struct {
	why.Reader
	left int
}

func (c *cutReader) Next() (events.Record, error) {
	if c.left == 0 {
		return events.Record{}, io.EOF
	}
	c.left--
	return c.Reader.Next()
}

// aroundTruth is by how much the times of a truth and those of logs may differ.
const aroundTruth = 50 * time.Millisecond

// leads returns who led at an instant by a truth, "" for nobody or if that is about a change.
func (truth Truth) leads(at time.Time) string {
	for _, l := range truth.Terms {
		from, err := instant(l.From)
		until := at.Add(time.Hour)
		if l.Until != nil && err == nil {
			until, err = instant(l.Until.Earliest)
		}
		if err == nil && from.Add(aroundTruth).Before(at) && at.Before(until.Add(-aroundTruth)) {
			return l.Leader
		}
	}
	return ""
}

// wrongOf returns what a report says of the end of its logs that is not so in the truth.
func (truth Truth) wrongOf(r *why.Report) string {
	for _, s := range r.Summaries {
		switch who := truth.leads(s.AsOf); {
		case s.Leader != "" && who != "" && !strings.HasPrefix(s.Leader, who):
			return fmt.Sprintf("%s leads at %v, and not %s", who, s.AsOf, s.Leader)
		case s.NobodySince != nil && who != "":
			return fmt.Sprintf("%s leads at %v, where nobody is said to", who, s.AsOf)
		case s.Verdict != why.NeverProven || s.Unknown != "" || r.Why != "":
		default:
			return truth.missingTerm(s)
		}
	}
	return ""
}

// missingTerm returns a term that is missing in a summary that leaves nothing open.
func (truth Truth) missingTerm(s why.LineSummary) string {
	if len(s.Terms) == 0 {
		return ""
	}
	for _, l := range truth.Terms {
		from, err := instant(l.From)
		if err != nil || from.Before(s.Terms[0].From) || from.Add(aroundTruth).After(s.AsOf) {
			continue
		}
		named := false
		for _, led := range s.Terms {
			named = named || led.From.Sub(from).Abs() < aroundTruth
		}
		if !named {
			return fmt.Sprintf("%s led from %s, which is not said, and all is said to be proven", l.Leader, l.From)
		}
	}
	return ""
}

// alone reports whether terms were too short for another client to see their nodes, as those of an incident in which
// nobody else can read the line are.
func (truth Truth) alone() bool {
	return slices.ContainsFunc(truth.Why, func(w Reason) bool { return slices.Contains(w.Is, why.CauseNoRights) })
}

// Whatever logs of an incident are missing, and wherever one is cut: who leads at the end, and that nobody does, is
// only said where it is so.
func TestLogsThatAreMissingOrCut(t *testing.T) {
	dirs, err := os.ReadDir(twoCauses)
	if err != nil {
		t.Fatal(err)
	}
	said := 0
	for _, d := range dirs {
		dir := filepath.Join(twoCauses, d.Name())
		truth, err := ReadTruth(dir)
		if err != nil {
			t.Fatal(err)
		}
		whole, txns, err := Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		if len(truth.Clocks) > 0 { // times without the other logs are of the wrong clock
			continue
		}
		explain := func(what string, logs []*why.Log) {
			for _, with := range []bool{false, true} {
				some := txns
				if !with {
					some = nil
				}
				r := why.Explain(logs, some, why.Options{})
				for _, s := range r.Summaries {
					if s.NobodySince != nil || s.Leader != "" {
						said++
					}
				}
				if wrong := truth.wrongOf(r); wrong != "" {
					t.Errorf("%s %s (transaction logs: %t): %s\n%s", d.Name(), what, with, wrong,
						strings.Join(r.Lines(false)[:min(6, len(r.Lines(false)))], "\n"))
				}
			}
		}
		for kept := 1; kept < 1<<len(whole)-1 && !truth.alone(); kept++ {
			var some []*why.Log
			what := "with"
			for i, l := range whole {
				if kept&(1<<i) != 0 {
					some, what = append(some, l), what+" "+l.Name
				}
			}
			explain(what, some)
		}
		for cut, l := range whole {
			for left := 2; left < l.Records; left += 3 {
				for _, damage := range []string{"", "a line was changed"} {
					explain(fmt.Sprintf("with %d records of %s, damage %q", left, l.Name, damage),
						readCut(t, dir, cut, left, damage))
				}
			}
		}
	}
	if said == 0 {
		t.Error("nothing was said of who leads")
	}
}

// readCut reads the logs of a directory, and only the first records of one of them.
func readCut(t *testing.T, dir string, cut, left int, damage string) []*why.Log {
	t.Helper()
	n := -1
	logs, _, err := ReadThrough(dir, func(_ events.Header, r why.Reader) why.Reader {
		if n++; n == cut {
			return &cutReader{r, left}
		}
		return r
	})
	if err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	logs[cut].Damage = damage
	return logs
}
