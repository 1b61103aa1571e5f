package incidents

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/internal/why"
)

// TestAroundNoMove asks for a minute without a move: a line says that the nearest is shown, and no line does if there
// is one.
func TestAroundNoMove(t *testing.T) {
	logs, txns, err := Read(filepath.Join("testdata", "hung-writer"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		around string
		noted  bool
	}{{"2026-11-25T12:03:00Z", true}, {"2026-11-25T00:58:00Z", false}} {
		at, err := time.Parse(time.RFC3339, c.around)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(why.Explain(logs, txns, why.Options{Around: at}).Lines(false), "\n")
		note := "No move is in the minute from 2026-11-25 12:03:00 UTC, and no record: the logs are from 2026-11-25 " +
			"00:58:45 to 2026-11-25 00:58:48 UTC; the nearest move is shown, and the first line is about it alone."
		if strings.Contains(text, note) != c.noted {
			t.Errorf("around %s: noted is %t, want %t:\n%s", c.around, !c.noted, c.noted, text)
		}
	}
}

// TestDays looks for the days of the times: those of the moves that are shown.
func TestDays(t *testing.T) {
	logs, txns, err := Read(filepath.Join("testdata", "paused"))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []why.Options{{}, {Path: "/none"}} {
		text := strings.Join(why.Explain(logs, txns, o).Lines(false), "\n")
		if !strings.Contains(text, "Times are UTC of 2026-11-25 by the clock of the ensemble's leader") {
			t.Errorf("path %q: the day is missing:\n%s", o.Path, text)
		}
	}
}
