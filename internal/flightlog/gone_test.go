package flightlog

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/logread"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

// A file that is deleted or renamed while it is written is noticed when the log ends, and a second after it
// vanished at the next record, whatever stands in its place.
func TestALogThatIsGoneIsNoticed(t *testing.T) {
	for name, vanish := range map[string]func(dir, file string) error{
		"the file is deleted":      func(_, file string) error { return os.Remove(file) },
		"the file is renamed":      func(_, file string) error { return os.Rename(file, file+".old") },
		"the directory is deleted": func(dir, _ string) error { return os.RemoveAll(dir) },
		"the directory is another": func(dir, _ string) error {
			_ = os.RemoveAll(dir)
			return os.Mkdir(dir, 0o700)
		},
		"the directory is a file": func(dir, _ string) error {
			_ = os.RemoveAll(dir)
			return os.WriteFile(dir, nil, 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			for when, check := range map[string]func(*testing.T, *Recorder, *lines){
				"at its end": goneAtTheEnd, "after a second": goneAfterASecond,
			} {
				t.Run(when, func(t *testing.T) {
					virtual.Test(t, func(t *testing.T) {
						dir := filepath.Join(t.TempDir(), "log")
						r, logged := inDir(t, dir, DirOptions{})
						r.Record(step(1, 10))
						synctest.Wait()
						if err := vanish(dir, r.State().Segment); err != nil {
							t.Fatal(err)
						}
						check(t, r, logged)
					})
				})
			}
		})
	}
}

func goneAtTheEnd(t *testing.T, r *Recorder, logged *lines) {
	<-r.Close()
	synctest.Wait() // the log is written by another goroutine
	if s := r.State(); s.Err == nil || len(logged.with("deleted or renamed")) != 1 {
		t.Errorf("%+v, %q", s, logged.all)
	}
}

func goneAfterASecond(t *testing.T, r *Recorder, logged *lines) {
	elapse(time.Second)
	r.Record(step(2, 10))
	synctest.Wait()
	if s := r.State(); s.Err == nil || len(logged.with("deleted or renamed")) != 1 {
		t.Errorf("%+v, %q", s, logged.all)
	}
	<-r.Close()
}

// A rotation notices that the file is gone: what follows is in a file that is there.
func TestARotationNoticesThatTheLogIsGone(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "log")
		r, logged := inDir(t, dir, DirOptions{Segment: 64 << 10})
		r.Record(step(1, 10))
		synctest.Wait()
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		r.Record(step(2, 64<<10))
		synctest.Wait()
		if s := r.State(); s.Err == nil || len(logged.with("deleted or renamed")) != 1 {
			t.Errorf("%+v, %q", s, logged.all)
		}
		elapse(2 * retryOutput)
		r.Record(step(3, 10))
		<-r.Close()
		if seqs, gaps, _ := logread.Run(t, logread.Runs(t, dir)[0]); !slices.Equal(seqs, []uint64{3}) ||
			len(gaps) == 0 {
			t.Errorf("%v, %v", seqs, gaps)
		}
	})
}
