package why

import (
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/events"
)

// tailOf returns a log that begins with the end of a term.
func tailOf(t *testing.T, why string) *Log {
	t.Helper()
	c := newCrafted(2, 100)
	c.stop(2, 900, events.NodeGone)
	l, err := Read("secret-host", events.Header{},
		&holed{each{c.records}, &events.Gap{From: 1, To: 2, Count: 2, Why: why}})
	if err != nil || len(l.truncated) != 1 {
		t.Fatal(err, len(l.truncated))
	}
	return l
}

// The verdict is the same with pseudonyms: a term whose beginning is missing counts in its line.
func TestRedactedLogsHaveTheSameVerdict(t *testing.T) {
	for _, redacted := range []bool{false, true} {
		logs := []*Log{newCrafted(1, 100).read(t, "a"), tailOf(t, "slow")}
		if redacted {
			Redact(logs, nil)
		}
		if r := Explain(logs, nil, Options{}); r.Verdict != CannotTell ||
			!strings.Contains(r.Why, "whose beginning is missing") {
			t.Errorf("redacted %t: %s: %s", redacted, r.Verdict, r.Why)
		}
	}
}

// The error of a write names a file, and with it the host: with pseudonyms, a gap does not show it.
func TestARedactedGapHasNoNames(t *testing.T) {
	for why, want := range map[string]string{
		"the log could not be written for 10.003s: write /srv/secret/x-secret-host-1.jsonl: no space " +
			"left on device": "the log could not be written for 10.003s",
		"the log could not be written for secret: x": "the log could not be written",
		"Config.Record was too slow for 2s":          "Config.Record was too slow for 2s",
	} {
		logs := []*Log{tailOf(t, why)}
		Redact(logs, nil)
		if got := logs[0].gaps[0].gap.Why; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if text := strings.Join(Explain(logs, nil, Options{}).Lines(true), "\n"); strings.Contains(text, "secret") {
			t.Error(text)
		}
	}
}

// Logs of which the beginning is missing do not say that nobody led.
func TestWithoutATermTheLogsSayWhatIsMissing(t *testing.T) {
	tail := tailOf(t, "only the last records were kept in memory")
	for path, want := range map[string]string{"": "secret-host led in a term whose beginning is missing",
		"/l": "secret-host led in a term whose beginning is missing", "/other": "a term may be among those"} {
		if r := Explain([]*Log{tail}, nil, Options{Path: path}); r.Verdict != CannotTell ||
			!strings.Contains(r.Why, want) {
			t.Errorf("path %q: %s: %s", path, r.Verdict, r.Why)
		}
	}
}
