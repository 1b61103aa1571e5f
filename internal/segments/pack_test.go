//go:build unix

package segments

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// unpackedText returns the text of a compressed segment.
func unpackedText(t *testing.T, name string) string {
	t.Helper()
	open, end := Run{Name: "x", Files: []string{name}}.Opener()
	defer end()
	_, r, err := open()
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// What has the name of an unfinished file does not keep a segment from being compressed. It is not
// followed, written to, or waited for.
func TestWhatIsInThePlaceOfAnUnfinishedFile(t *testing.T) {
	for what, put := range map[string]func(part, other string) error{
		"the rest of a killed process": func(part, _ string) error {
			return os.WriteFile(part, []byte("a longer rest than all that follows"), 0o644)
		},
		"a link":                 func(part, other string) error { return os.Symlink(other, part) },
		"a link to nothing":      func(part, other string) error { return os.Symlink(other+".missing", part) },
		"another name of a file": func(part, other string) error { return os.Link(other, part) },
		"a pipe":                 func(part, _ string) error { return syscall.Mkfifo(part, 0o600) },
		"an empty directory":     func(part, _ string) error { return os.Mkdir(part, 0o700) },
	} {
		t.Run(what, func(t *testing.T) {
			d, other := openDir(t, 0), filepath.Join(t.TempDir(), "other")
			if err := os.WriteFile(other, []byte("of another"), 0o600); err != nil {
				t.Fatal(err)
			}
			f := create(t, d, 1, "one")
			part := strings.TrimSuffix(f.Name(), plain) + compressed + unfinished
			if err := errors.Join(put(part, other), f.Close()); err != nil {
				t.Fatal(err)
			}
			d.Wait()
			if !strings.HasSuffix(f.Final(), compressed) || exists(f.Name()) || exists(part) {
				t.Fatalf("it is in %s", f.Final())
			}
			info, err := os.Lstat(f.Final())
			if err != nil || info.Mode() != 0o600 || unpackedText(t, f.Final()) != "one" {
				t.Errorf("%v, %v", info, err)
			}
			if b, err := os.ReadFile(other); err != nil || string(b) != "of another" || exists(other+".missing") {
				t.Errorf("another file has %q, %v", b, err)
			}
		})
	}
}

// A segment that cannot be compressed stays as it is, and nothing else is left.
func TestASegmentThatCannotBeCompressed(t *testing.T) {
	for _, ending := range []string{compressed, compressed + unfinished} {
		d := openDir(t, 0)
		f := create(t, d, 1, "one")
		taken := strings.TrimSuffix(f.Name(), plain) + ending
		if err := errors.Join(os.MkdirAll(filepath.Join(taken, "sub"), 0o700), f.Close()); err != nil {
			t.Fatal(err)
		}
		d.Wait()
		entries, err := os.ReadDir(d.path)
		if f.Final() != f.Name() || len(entries) != 2 || err != nil {
			t.Errorf("%s: it is in %s, of %v, %v", ending, f.Final(), entries, err)
		}
	}
}

// Whether a directory can be written is tried without a trace.
func TestADirectoryIsTried(t *testing.T) {
	d := openDir(t, 0)
	if err := d.Try(); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(d.path); len(entries) != 0 || err != nil {
		t.Errorf("%v, %v", entries, err)
	}
	d.path = filepath.Join(t.TempDir(), "file")
	write(t, filepath.Dir(d.path), map[string]string{"file": ""})
	if err := d.Try(); !errors.Is(err, syscall.ENOTDIR) || errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
