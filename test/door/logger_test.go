package door_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// panickingWriter panics at each line.
type panickingWriter struct{ lines atomic.Int32 }

func (w *panickingWriter) Write([]byte) (int, error) {
	w.lines.Add(1)
	panic("out of disk")
}

// A logger that panics loses its lines, and does not hide that. The client goes on, also if the
// error handler panics.
func TestALoggerThatPanicsIsReported(t *testing.T) {
	var reported []string
	before := zerolog.ErrorHandler
	defer func() { zerolog.ErrorHandler = before }()
	zerolog.ErrorHandler = func(err error) {
		reported = append(reported, err.Error())
		panic(err)
	}
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		out := &panickingWriter{}
		n := w.start(func(c *incumbent.Config) { c.Logger = zerolog.New(out) })
		n.leads().Release()
		synctest.Wait() // the log is written by another goroutine
		if lines := int(out.lines.Load()); lines < 2 || len(reported) != lines {
			t.Fatalf("%d of %d lost lines were reported", len(reported), lines)
		}
		for _, word := range []string{
			"incumbent: Config.Logger panicked, and a line is lost: out of disk", "logger_test.go:",
		} {
			if !strings.Contains(strings.Join(reported, ""), word) {
				t.Errorf("reported %q, want %q in it", reported, word)
			}
		}
	})
}
