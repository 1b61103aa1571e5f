package segments

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// begun is when the clients of the tests began.
var begun = time.Date(2026, 11, 24, 23, 48, 22, 0, time.UTC)

func create(t *testing.T, d *Dir, number int, text string) *File {
	t.Helper()
	f, err := d.Create(number)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(f, text); err != nil {
		t.Fatal(err)
	}
	return f
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// A segment whose process ended while it was compressed is there once.
func TestASegmentThatIsPlainAndCompressed(t *testing.T) {
	path := t.TempDir()
	d, err := Open(path, Stem(begun, "a host/with-marks", 7), 0)
	if err != nil {
		t.Fatal(err)
	}
	one := "one\n" + lastLine
	first, second := create(t, d, 1, one), create(t, d, 2, "two")
	for _, left := range []string{compressed, compressed + unfinished} {
		if err := os.WriteFile(strings.TrimSuffix(first.Name(), plain)+left, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	d.Wait()
	if err := os.WriteFile(filepath.Join(path, "notes.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	runs, err := Runs(path)
	if err != nil || len(runs) != 1 || len(runs[0].Files) != 2 || runs[0].Files[0] != first.Name() ||
		!strings.HasSuffix(runs[0].Files[1], compressed) {
		t.Fatalf("%+v, %v", runs, err)
	}
	open, end := runs[0].Opener()
	defer end()
	for _, want := range []string{one, "two"} {
		_, r, err := open()
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(r); err != nil || string(b) != want {
			t.Errorf("%q, %v", b, err)
		}
	}
	if _, _, err := open(); err != io.EOF {
		t.Error(err)
	}
	if first.Vanished() {
		t.Error("it has vanished")
	}
	if err := os.Remove(first.Name()); err != nil || !first.Vanished() {
		t.Errorf("it has not vanished: %v", err)
	}
	if err := first.Discard(2); err != nil {
		t.Error(err)
	}
	third := create(t, d, 3, "three")
	if err := third.Discard(0); err != nil || exists(third.Name()) {
		t.Errorf("nothing of it is good, and it is there: %v", err)
	}
}

// A segment that is compressed while a directory is listed, or before it is opened, is read nevertheless.
func TestASegmentThatIsCompressedMeanwhile(t *testing.T) {
	d := openDir(t, 0)
	first, second := create(t, d, 1, "one"), create(t, d, 2, "two")
	compress := func(f *File) {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		d.Wait()
	}
	listed := 0
	all, err := listBy(func(path string) ([]fs.DirEntry, error) {
		entries, err := os.ReadDir(path)
		if listed++; listed == 1 {
			compress(first)
		}
		return entries, err
	}, d.path)
	if err != nil || listed != 2 || len(all) != 2 ||
		all[0].name != filepath.Base(strings.TrimSuffix(first.Name(), plain))+compressed {
		t.Fatalf("listed %d times: %+v, %v", listed, all, err)
	}
	runs, err := Runs(d.path)
	if err != nil || len(runs) != 1 {
		t.Fatal(runs, err)
	}
	compress(second)
	open, end := runs[0].Opener()
	defer end()
	for _, want := range []string{"one", "two"} {
		name, r, err := open()
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(r); err != nil || string(b) != want || !strings.HasSuffix(name, compressed) {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	if err := os.Remove(filepath.Join(d.path, all[0].name)); err != nil {
		t.Fatal(err)
	}
	again, done := runs[0].Opener()
	defer done()
	if _, _, err := again(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a segment that is gone: %v", err)
	}
}

// A segment without anything good in it that could not be deleted, because the disk had failed, is deleted before
// another one gets its number. A file of anyone else is not.
func TestASegmentThatCouldNotBeDiscarded(t *testing.T) {
	d := openDir(t, 0)
	d.remove = func(path string) error { return &fs.PathError{Op: "remove", Path: path, Err: syscall.EROFS} }
	torn := create(t, d, 1, "{")
	if err := torn.Discard(0); !errors.Is(err, syscall.EROFS) {
		t.Fatal(err)
	}
	if _, err := d.Create(1); !errors.Is(err, syscall.EROFS) {
		t.Errorf("the disk has still failed: %v", err)
	}
	d.remove = os.Remove
	f := create(t, d, 1, "one")
	if b, err := os.ReadFile(f.Name()); err != nil || string(b) != "one" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := d.Create(1); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a segment that is being written: %v", err)
	}
}

// What Runs passes over is named, with the reason; what is being compressed, or is there twice, is not.
func TestWhatIsNotRead(t *testing.T) {
	path := t.TempDir()
	const stem = "20261124T234822.000000Z-host-7-000001"
	for _, name := range []string{stem + plain, stem + compressed, stem + compressed + unfinished, "alice.log",
		stem + ".json"} {
		if err := os.WriteFile(filepath.Join(path, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before, err := State(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Mkdir(filepath.Join(path, "old"), 0o700),
		os.Symlink("alice.log", filepath.Join(path, "z"+plain))); err != nil {
		t.Fatal(err)
	}
	const form = "not named as a client names its segments"
	want := []Unread{{stem + ".json", form}, {"alice.log", form}, {"old", "a directory"},
		{"z" + plain, "a symbolic link"}}
	if all, err := UnreadIn(path); err != nil || !slices.Equal(all, want) {
		t.Errorf("%q, %v; want %q", all, err, want)
	}
	if after, err := State(path); err != nil || after == before {
		t.Errorf("the state is the same, %v", err)
	}
}

// The last file of a run can be read at its end again, when there is no other file.
func TestTheEndOfTheLastFileIsReadTwice(t *testing.T) {
	d, err := Open(t.TempDir(), Stem(begun, "host", 7), 0)
	if err != nil {
		t.Fatal(err)
	}
	file := create(t, d, 1, "one")
	open, end := Run{Name: "x", Files: []string{file.Name()}}.Opener()
	defer end()
	_, r, err := open()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(r); err != nil {
		t.Fatal(err)
	}
	if _, _, err := open(); err != io.EOF {
		t.Error(err)
	}
	if n, err := r.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("%d, %v", n, err)
	}
}

// Clients of one process that begin in the same microsecond have files of their own, while those of the others are
// plain and after they are compressed.
func TestClientsThatBeginInTheSameMicrosecond(t *testing.T) {
	path, clients := t.TempDir(), 3
	for _, compress := range []bool{false, true} {
		for range clients {
			d, err := Open(path, Stem(begun, "host", 7), 0)
			if err != nil {
				t.Fatal(err)
			}
			for number := range 2 {
				f := create(t, d, number+1, "one")
				if compress {
					if err := f.Close(); err != nil {
						t.Fatal(err)
					}
					d.Wait()
				}
				if kept := f.Final(); !exists(kept) || strings.HasSuffix(kept, compressed) != compress {
					t.Errorf("it is kept in %s", kept)
				}
			}
		}
	}
	runs, err := Runs(path)
	if err != nil || len(runs) != 2*clients {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	for i, r := range runs {
		if want := Stem(begun.Add(time.Duration(i)*time.Microsecond), "host", 7); r.Name != want || len(r.Files) != 2 {
			t.Errorf("%+v, want %s", r, want)
		}
	}
}

// A directory that was replaced by a file has vanished, too.
func TestAFileInThePlaceOfADirectory(t *testing.T) {
	d := openDir(t, 0)
	d.path = filepath.Join(d.path, "sub")
	f := create(t, d, 1, "one")
	if f.Vanished() {
		t.Error("it has vanished")
	}
	if err := errors.Join(os.RemoveAll(d.path), os.WriteFile(d.path, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if !f.Vanished() {
		t.Error("it has not vanished")
	}
}
