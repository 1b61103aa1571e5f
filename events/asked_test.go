package events_test

import (
	"compress/gzip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// The lines of docs/flight-log.md that ask a log who was elected find what the logs of an incident have: one line for
// each term, with its time and its token.
func TestAskedWhoWasElected(t *testing.T) {
	page, err := os.ReadFile("../docs/flight-log.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "### Who was elected")
	_, rest, _ = strings.Cut(rest, "```sh\n")
	block, _, _ := strings.Cut(rest, "\n```")
	lines := strings.Split(block, "\n")
	if len(lines) != 3 {
		t.Fatalf("%q", lines)
	}
	dir := incident(t)
	for i, c := range []struct{ tool, asked string }{
		{"jq", "elected"}, {"zgrep", "elected"}, {"zgrep", "stopped"},
	} {
		if _, err := exec.LookPath(c.tool); err != nil {
			t.Logf("%s is not there", c.tool)
			continue
		}
		sh := exec.Command("sh", "-c", lines[i])
		sh.Dir = dir
		out, err := sh.Output()
		if err != nil {
			t.Fatalf("%s: %v", lines[i], err)
		}
		got := strings.Split(strings.TrimSpace(string(out)), "\n")
		want := terms(t, dir, events.Notice(c.asked))
		if len(got) != len(want) || len(want) < 2 {
			t.Fatalf("%q, want %q", got, want)
		}
		for k := range want {
			for _, part := range want[k] {
				if !strings.Contains(got[k], part) {
					t.Errorf("%s: %q has no %s", lines[i], got[k], part)
				}
			}
		}
	}
}

// incident returns a directory with the logs of two who led: the first resigned.
func incident(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, file := range map[string]string{"a.jsonl.gz": "alice.log.gz", "b.jsonl.gz": "bob.log.gz"} {
		b, err := os.ReadFile(filepath.Join("../test/servers/incidents/testdata/resigned", file))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// terms returns what such a line has to say of each notice: the time, the node, the token, and of an end the reason.
func terms(t *testing.T, dir string, what events.Notice) (all [][]string) {
	t.Helper()
	for _, name := range []string{"a.jsonl.gz", "b.jsonl.gz"} {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		records, lr, err := read(z)
		if err != nil {
			t.Fatal(err)
		}
		start, err := time.Parse(time.RFC3339Nano, lr.Header.Start)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records {
			for _, e := range r.Effects {
				if n, is := e.(events.Notify); is && n.What == what {
					wall := start.Add(time.Duration(r.Event.At - lr.Header.StartAt)).UTC()
					all = append(all, []string{wall.Format("2006-01-02T15:04:05.000Z"), n.Path,
						strconv.FormatInt(n.Token, 10), string(n.Reason)})
				}
			}
		}
	}
	return all
}
