package door_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/logread"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// left are files of a directory, by their names.
type left map[string][]byte

// inDir writes the files into a directory, and replays the one run there.
func (l left) inDir(t *testing.T) (records, after uint64, cut bool) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range l {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all := logread.Runs(t, dir)
	if len(all) != 1 {
		t.Fatalf("%d runs", len(all))
	}
	sum, _, err := logread.Replay(t, all[0])
	if err != nil {
		t.Fatal(err)
	}
	return sum.Records, sum.After, sum.Cut || sum.Torn
}

// segment is a file of a log: its name, compressed and not, and what it has.
type segment struct {
	name         string // of the file that is not compressed
	plain, small []byte
	first        string // its header
	head         string // and all lines before the first record
}

func readSegment(t *testing.T, file string) (s segment) {
	t.Helper()
	small, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(small))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	s = segment{name: strings.TrimSuffix(filepath.Base(file), ".gz"), plain: plain, small: small}
	for _, line := range strings.SplitAfter(string(plain), "\n") {
		if strings.HasPrefix(line, `{"seq":`) {
			return s
		}
		if s.head += line; s.first == "" {
			s.first = line
		}
	}
	return s
}

// A process that is killed between two segments leaves the first with its last line, plain or compressed or both, and
// of the
// second nothing, or no record. That is the log of a process that was cut off, with all that the first segment has.
func TestAKillBetweenTwoSegments(t *testing.T) {
	dir := t.TempDir()
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.recorded(incumbent.RecordIn(dir, incumbent.RecordOptions{Segment: 64 << 10, Keep: -1}), io.Discard, 0)
		work := n.leads()
		defer work.Release()
		n.busyFor(100)
	})
	files := logread.Runs(t, dir)[0].Files
	if len(files) < 3 {
		t.Fatalf("%d files", len(files))
	}
	closed, next := readSegment(t, files[0]), readSegment(t, files[1])
	lines := strings.Split(strings.TrimSpace(string(closed.plain)), "\n")
	if end := lines[len(lines)-1]; !strings.Contains(end, events.EndRotated) ||
		!strings.Contains(next.head, `{"checkpoint":`) {
		t.Fatalf("the first segment ends with %s, the second begins with\n%s", end, next.head)
	}
	records := uint64(strings.Count(string(closed.plain), `{"seq":`))
	before := map[string]left{
		"plain": {closed.name: closed.plain},
		"half compressed": {closed.name: closed.plain, closed.name +
			".gz.part": closed.small[:len(closed.small)/2]},
		"plain and compressed": {closed.name: closed.plain, closed.name + ".gz": closed.small},
		"compressed":           {closed.name + ".gz": closed.small},
	}
	behind := map[string]left{
		"nothing":                    {},
		"an empty file":              {next.name: nil},
		"a part of a header":         {next.name: []byte(next.first[:len(next.first)/2])},
		"a header":                   {next.name: []byte(next.first)},
		"a part of a checkpoint":     {next.name: []byte(next.head[:len(next.head)-9])},
		"a checkpoint":               {next.name: []byte(next.head)},
		"a part of the first record": {next.name: next.plain[:len(next.head)+9]},
	}
	for name, first := range before {
		for then, second := range behind {
			all := left{}
			for _, some := range []left{first, second} {
				for file, text := range some {
					all[file] = text
				}
			}
			got, after, cut := all.inDir(t)
			if got != records || after != 0 || !cut {
				t.Errorf("%s, and then %s: %d records of %d replay after %d, cut off %t", name, then, got, records,
					after, cut)
			}
		}
	}
	whole := left{}
	for _, file := range files {
		s := readSegment(t, file)
		whole[s.name] = s.plain
	}
	if got, after, cut := whole.inDir(t); got <= records || after != 0 || cut {
		t.Errorf("the whole log: %d records after %d, cut off %t", got, after, cut)
	}
}
