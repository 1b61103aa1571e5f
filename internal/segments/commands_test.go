package segments

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// A log of commands stays as long as its process has a segment, or it is younger than all segments.
func TestOldLogsOfCommandsAreDeleted(t *testing.T) {
	dir := t.TempDir()
	day := func(n int) time.Time { return time.Date(2026, 11, n, 0, 0, 0, 0, time.UTC) }
	var want []string
	for _, c := range []struct {
		began, written int
		process        string
		stays          bool
	}{{1, 1, "host-1", false}, {1, 9, "host-2", true}, {2, 2, "host-3", true}} {
		name := filepath.Join(dir, Stem(day(c.began), "host", 0)[:24]+c.process+commands)
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, day(c.written), day(c.written)); err != nil {
			t.Fatal(err)
		}
		if c.stays {
			want = append(want, name)
		}
	}
	segment := filepath.Join(dir, Stem(day(5), "host", 3)+"-000001"+plain)
	if err := os.WriteFile(segment, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := CreateCommands(dir, Stem(day(10), "host", 4))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, err := CommandsIn(dir)
	if want = append(want, f.Name()); err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	if near, err := CommandsNextTo(segment); err != nil || len(near) != 1 || near[0] != want[1] {
		t.Errorf("next to the segment: %q, %v", near, err)
	}
	if others, err := UnreadIn(dir); err != nil || len(others) != 1 {
		t.Errorf("%+v, %v: only the segment has no header", others, err)
	}
}

// A log of commands may be gzipped.
func TestALogOfCommandsMayBeGzipped(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a"+commands+packedEnding)
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte("what it says")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if found, err := CommandsIn(dir); err != nil || !slices.Equal(found, []string{name}) {
		t.Fatal(found, err)
	}
	in, err := OpenCommands(name)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if got, err := io.ReadAll(in); err != nil || string(got) != "what it says" {
		t.Errorf("%q %v", got, err)
	}
}
