package segments

import (
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// What is deleted for room: the oldest, but not the file that is being written, nor the last one of another
// process if it was written within the hour.
func TestWhatIsDeletedForRoom(t *testing.T) {
	const young, old = 59 * time.Minute, 61 * time.Minute
	for what, c := range map[string]struct {
		ages [4]time.Duration // of two segments of another process, and of two of this one, which writes the last
		want []bool           // which of them stay
	}{
		"another one writes":       {[4]time.Duration{young, young, young, young}, []bool{false, true, false, true}},
		"another one has ended":    {[4]time.Duration{old, old, young, young}, []bool{false, false, false, true}},
		"nothing is written often": {[4]time.Duration{old, old, old, old}, []bool{false, false, false, true}},
	} {
		t.Run(what, func(t *testing.T) {
			d := openDir(t, 1)
			other, err := Open(d.path, Stem(begun.Add(-time.Hour), "another", 8), 1)
			if err != nil {
				t.Fatal(err)
			}
			files := []*File{
				create(t, other, 1, "xx"), create(t, other, 2, "xx"), create(t, d, 1, "xx"), create(t, d, 2, "xx"),
			}
			for i, f := range files {
				then := time.Now().Add(-c.ages[i])
				if err := os.Chtimes(f.Name(), then, then); err != nil {
					t.Fatal(err)
				}
			}
			if err := d.drop(); err != nil {
				t.Fatal(err)
			}
			var stay []bool
			for _, f := range files {
				stay = append(stay, exists(f.Name()))
			}
			if !slices.Equal(stay, c.want) {
				t.Errorf("%v stay, want %v", stay, c.want)
			}
		})
	}
}

// What fits is not deleted, to the byte.
func TestNoMoreThanNeededIsDeleted(t *testing.T) {
	for keep, want := range map[int64][]int{300: {1, 2, 3}, 299: {2, 3}, 200: {2, 3}, 199: {3}, 1: {3}} {
		d := openDir(t, keep)
		for number := range 3 {
			create(t, d, number+1, fmt.Sprintf("%100d", number))
		}
		if err := d.drop(); err != nil || !slices.Equal(numbers(t, d.path), want) {
			t.Errorf("%d bytes are kept: %v, %v, want %v", keep, numbers(t, d.path), err, want)
		}
	}
}

// A directory is tried with the name of the first segment, which is gone afterwards.
func TestADirectoryIsTriedWithTheFirstSegment(t *testing.T) {
	d, tried := openDir(t, 0), ""
	d.remove = func(path string) error {
		tried = filepath.Base(path)
		return os.Remove(path)
	}
	if err := d.Try(); err != nil || tried != d.stem+"-000001"+plain || len(numbers(t, d.path)) != 0 {
		t.Errorf("%v, %s, and %v are left", err, tried, numbers(t, d.path))
	}
}

// A segment that was full within a minute is compressed fast.
func TestHowWellASegmentIsCompressed(t *testing.T) {
	for filled, want := range map[time.Duration]int{
		0: gzip.BestSpeed, time.Minute - 1: gzip.BestSpeed,
		time.Minute: gzip.BestCompression, time.Hour: gzip.BestCompression,
	} {
		if got := level(filled); got != want {
			t.Errorf("filled in %s: level %d, want %d", filled, got, want)
		}
	}
}

// A directory that is not there is an error everywhere.
func TestADirectoryThatIsNotThere(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	_, unread := UnreadIn(missing)
	_, state := State(missing)
	_, runs := Runs(missing)
	for what, err := range map[string]error{"unread": unread, "state": state, "runs": runs} {
		if !os.IsNotExist(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// Of a segment that is named plain and compressed, and whose plain file cannot be read, the compressed one is taken.
func TestAPlainFileThatCannotBeRead(t *testing.T) {
	name := filepath.Join(t.TempDir(), oneSegment+plain)
	for _, what := range []string{"it is not there", "it is a directory"} {
		if kept := Once([]string{name, name + ".gz"}); !slices.Equal(kept, []string{name + ".gz"}) {
			t.Errorf("%s: %q", what, kept)
		}
		if err := os.MkdirAll(name, 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

// The dumps of one run are one log in the order of their records, whatever their names. All else stays as it is.
func TestDumpsAreInTheOrderOfTheirRecords(t *testing.T) {
	path := t.TempDir()
	write := func(name, dump, run string, before uint64) Run {
		t.Helper()
		f, err := os.Create(filepath.Join(path, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		w, err := events.NewWriter(f, events.Header{Dump: dump, Run: run, Before: before})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		return Run{Name: name, Files: []string{f.Name()}}
	}
	torn := filepath.Join(path, "torn")
	if err := os.WriteFile(torn, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	const one, two = "00000000000000000000000000000001", "00000000000000000000000000000002"
	runs := []Run{
		write("a", "asked for", one, 90), write("b", "", two, 0), write("c", "asked for", one, 10),
		{Name: "torn", Files: []string{torn}}, write("d", "asked for", two, 5), write("e", "asked for", "", 1),
		write("f", "asked for", one, 50), write("g", "asked for", "", 2),
		{Name: "gone", Files: []string{filepath.Join(path, "gone")}}, {Name: "none"},
	}
	var got [][]string
	for _, r := range JoinDumps(runs) {
		names := []string{r.Name}
		for _, file := range r.Files {
			names = append(names, filepath.Base(file))
		}
		got = append(got, names)
	}
	want := [][]string{
		{"a", "c", "f", "a"}, {"b", "b"}, {"torn", "torn"}, {"d", "d"},
		{"e", "e"}, {"g", "g"}, {"gone", "gone"}, {"none"},
	}
	if !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("%q, want %q", got, want)
	}
}
