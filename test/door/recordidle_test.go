package door_test

import (
	"io"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/logread"
	"github.com/incumbent-go/incumbent/test/kit/selection"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// inexact returns a clock that is ahead of another one by up to a fifth of a millisecond, differently at each reading,
// as real
// readings are: exact times would be compressed to nothing.
func inexact(now func() int64) func() int64 {
	var mu sync.Mutex
	last, dice := int64(0), rand.New(rand.NewPCG(1, 1))
	return func() int64 {
		mu.Lock()
		defer mu.Unlock()
		last = max(last+1+dice.Int64N(int64(20*time.Microsecond)), now()+dice.Int64N(int64(200*time.Microsecond)))
		return last
	}
}

// A leader that only sends heartbeats for a day leaves at most 1 MB of compressed log. A part of the day is measured,
// and its bytes are counted for all of it. In a single hour the beginning of the file weighs a tenth more.
func TestBytesOfAnIdleDay(t *testing.T) {
	most := int64(1_000_000)
	lasting := selection.Of(t, "an idle day", time.Hour, time.Hour, 8*time.Hour)
	if lasting < 3*time.Hour {
		most += most / 10
	}
	dir := t.TempDir()
	heartbeats := 0
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		w.now = inexact(w.now)
		n := w.recorded(incumbent.RecordIn(dir, incumbent.RecordOptions{}), io.Discard, 0)
		work := n.leads()
		defer work.Release()
		pass(lasting)
		if work.Check() != nil || n.Recording().Gaps != 0 {
			t.Errorf("%v, %+v", work.Check(), n.Recording())
		}
		counts := w.srv.Counts()
		heartbeats = counts.ByOp[zkmem.OpSync] + counts.ByOp[zkmem.OpMulti]
	})
	size := int64(0)
	all := logread.Runs(t, dir)
	if len(all) != 1 {
		t.Fatalf("%d runs", len(all))
	}
	for _, file := range all[0].Files {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	sum, _, err := logread.Replay(t, all[0])
	if err != nil || int(sum.Records) < 2*heartbeats || heartbeats < int(lasting/time.Minute) {
		t.Errorf("%d records of %d heartbeats replay: %v", sum.Records, heartbeats, err)
	}
	day := size * int64(24*time.Hour/lasting)
	t.Logf("%d bytes of %s, %d heartbeats, %d records: %d bytes a day", size, lasting, heartbeats, sum.Records, day)
	if day > most {
		t.Errorf("%d bytes a day, of %d", day, most)
	}
}
