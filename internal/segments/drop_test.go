package segments

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// numbers are those of the segments that are there, each once.
func numbers(t *testing.T, path string) (all []int) {
	t.Helper()
	there, err := list(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range there {
		all = append(all, s.number)
	}
	return slices.Compact(all)
}

func openDir(t *testing.T, keep int64) *Dir {
	t.Helper()
	d, err := Open(t.TempDir(), Stem(begun, "host", 7), keep)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// However fast segments are closed, those that are kept follow each other, up to the last. None is compressed while old
// ones are deleted.
func TestNoSegmentIsMissingBetweenOthers(t *testing.T) {
	text := strings.Repeat("0123456789 abcdefghij", 20000)
	for range 10 {
		d := openDir(t, 8000)
		d.remove = func(path string) error {
			if d.tidying.TryLock() {
				d.tidying.Unlock()
				t.Error("segments may be compressed while old ones are deleted")
			}
			return os.Remove(path)
		}
		const many = 40
		for number := range many {
			if err := create(t, d, number+1, text).Close(); err != nil {
				t.Fatal(err)
			}
		}
		d.Wait()
		all := numbers(t, d.path)
		if len(all) == 0 || len(all) == many || all[len(all)-1] != many || all[len(all)-1]-all[0] != len(all)-1 {
			t.Fatalf("the segments %v are there", all)
		}
	}
}

// A segment that another process deletes while it is compressed does not come back.
func TestASegmentThatIsDeletedWhileItIsCompressed(t *testing.T) {
	d := openDir(t, 0)
	name := create(t, d, 1, "one").Name()
	part := strings.TrimSuffix(name, plain) + compressed + unfinished
	if err := os.WriteFile(part, []byte("small"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if err := replace(name, part); err != nil || len(numbers(t, d.path)) != 0 {
		t.Errorf("%v, %v", numbers(t, d.path), err)
	}
}

// If another process compresses the oldest segment while old ones are deleted, the next one is not deleted in its
// place.
func TestASegmentThatIsCompressedWhileOthersAreDeleted(t *testing.T) {
	d := openDir(t, 2500)
	for number := range 3 {
		create(t, d, number+1, strings.Repeat("x", 1000))
	}
	other := true
	d.remove = func(path string) error {
		if other && filepath.Base(path) == filepath.Base(d.path+"/"+d.stem+"-000001"+plain) {
			other = false
			if err := os.Rename(path, strings.TrimSuffix(path, plain)+compressed); err != nil {
				return err
			}
			return &fs.PathError{Op: "remove", Path: path, Err: fs.ErrNotExist}
		}
		return os.Remove(path)
	}
	if err := d.drop(); err != nil || other || !slices.Equal(numbers(t, d.path), []int{2, 3}) {
		t.Errorf("%v, %v", numbers(t, d.path), err)
	}
}
