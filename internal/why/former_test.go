package why

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/incumbent-go/incumbent/events"
)

// Logs of earlier versions are explained, too: their terms are found, with their ends.
func TestLogsOfEarlierVersions(t *testing.T) {
	files, err := filepath.Glob("../../events/testdata/format1/*.jsonl")
	if err != nil || len(files) < 6 {
		t.Fatal(files, err)
	}
	terms := 0
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		r, err := events.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		l, err := Read(filepath.Base(file), r.Header, r)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		for _, term := range l.terms {
			terms++
			if term.Node == "" || term.Token == 0 || term.until == 0 {
				t.Errorf("%s: %+v", file, term)
			}
			if term.Stopped != 0 && term.Reason == "" {
				t.Errorf("%s: %s ended without a reason", file, term.Node)
			}
		}
		rep := Explain([]*Log{l}, nil, Options{})
		if len(rep.Lines(true)) == 0 || rep.Verdict == "" {
			t.Errorf("%s: nothing is said", file)
		}
	}
	if terms < 15 {
		t.Errorf("%d terms", terms)
	}
}
