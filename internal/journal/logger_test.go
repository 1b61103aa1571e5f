package journal

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/internal/async"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

// manyLines are more than wait for a slow logger.
const manyLines = 5*async.MaxUncalled + 1

// heldWriter holds the first line until it is released.
type heldWriter struct {
	release chan bool
	lines   []string
}

func (w *heldWriter) Write(p []byte) (int, error) {
	<-w.release
	w.lines = append(w.lines, string(p))
	return len(p), nil
}

// A logger that hangs loses lines, and says how many when it goes on, also if no other line follows.
func TestASlowLoggerSaysWhatItDropped(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := &heldWriter{release: make(chan bool)}
		l := New(zerolog.New(w), "")
		for range manyLines {
			l.Log(zerolog.InfoLevel, "a line", nil)
			synctest.Wait()
		}
		close(w.release)
		synctest.Wait()
		dropped := int(l.Dropped.Load())
		gap := w.lines[len(w.lines)-1]
		if dropped == 0 || len(w.lines)-1+dropped != manyLines ||
			!strings.Contains(gap, fmt.Sprintf(`"lines":%d`, dropped)) {
			t.Errorf("%d lines, %d dropped, of %d; the last: %s", len(w.lines), dropped, manyLines, gap)
		}
		l.Log(zerolog.InfoLevel, "the next", nil)
		if synctest.Wait(); !strings.Contains(w.lines[len(w.lines)-1], "the next") ||
			len(w.lines)+dropped != manyLines+2 {
			t.Errorf("after the gap: %s", w.lines[len(w.lines)-1])
		}
	})
}
