package door_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// tooDeep returns a directory in which not even root can create a segment: its path would be too long.
func tooDeep(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for deeper := dir; ; deeper = filepath.Join(dir, strings.Repeat("d", 30)) {
		if err := os.MkdirAll(deeper, 0o700); err != nil {
			return dir
		}
		dir = deeper
	}
}

// A directory that cannot be written does not keep a client from leading. The log says so at the start, with and
// without Ring,
// and again when the last records are lost.
func TestADirectoryThatCannotBeWrittenAtTheStart(t *testing.T) {
	for name, o := range map[string]incumbent.RecordOptions{"segments": {}, "the last records": {Ring: 10}} {
		t.Run(name, func(t *testing.T) {
			dir := tooDeep(t)
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				logged := &lines{}
				n := w.recorded(incumbent.RecordIn(dir, o), logged, 0)
				if found := logged.with("cannot be written"); len(found) != 1 ||
					!strings.Contains(found[0], "file name too long") ||
					!strings.Contains(found[0], `"level":"error"`) {
					t.Errorf("%q", logged.all)
				}
				work := n.leads()
				defer work.Release()
				n.busyFor(2)
				if err := n.Recording().Err; work.Check() != nil || !errors.Is(err, syscall.ENAMETOOLONG) {
					t.Errorf("%v, %v", work.Check(), err)
				}
				if _, err := n.SaveRecord("a test"); o.Ring > 0 &&
					(err == nil || !strings.Contains(err.Error(), "file name too long")) {
					t.Error(err)
				}
			})
			if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
				t.Errorf("%v, %v", entries, err)
			}
		})
	}
}

// Open tries whether the last records can be written, and leaves nothing there.
func TestTheLastRecordsAreTriedWithoutATrace(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		logged := &lines{}
		w.recorded(incumbent.RecordIn(dir, incumbent.RecordOptions{Ring: 10}), logged, 0)
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 ||
			len(logged.with("cannot be written")) != 0 {
			t.Errorf("%v, %v, %q", entries, err, logged.all)
		}
	})
}

// Recording has the error of the last file of the last records, until one can be written again.
func TestTheErrorOfTheLastRecords(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.recorded(incumbent.RecordIn(dir, incumbent.RecordOptions{Ring: 10}), io.Discard, 0)
		if s := n.Recording(); s != (incumbent.Recording{}) {
			t.Errorf("%+v", s)
		}
		if err := errors.Join(os.Remove(dir), os.WriteFile(dir, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		if _, err := n.SaveRecord("a test"); err == nil || n.Recording().Err == nil ||
			!errors.Is(err, n.Recording().Err) {
			t.Errorf("%v, %v", err, n.Recording().Err)
		}
		if err := os.Remove(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := n.SaveRecord("a test"); err != nil || n.Recording() != (incumbent.Recording{}) {
			t.Errorf("%v, %+v", err, n.Recording())
		}
	})
}
