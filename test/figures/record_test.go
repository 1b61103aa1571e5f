//go:build unix

package figures

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// counter counts the bytes of a log.
type counter struct{ bytes int }

func (c *counter) Write(b []byte) (int, error) {
	c.bytes += len(b)
	return len(b), nil
}

// cycles leads and resigns so many times, each time with a latch of its own.
func cycles(t testing.TB, c *incumbent.Client, n int) {
	t.Helper()
	for range n {
		l, err := c.Latch("/bench-7/latch", incumbent.LatchOptions{})
		ok(t, err)
		ok(t, l.Start())
		held, err := l.Await(context.Background())
		ok(t, err)
		held.Release()
		ok(t, l.Close(context.Background()))
	}
}

// The flight log of one cycle of a latch: create the node, lead, resign, delete the node.
func TestBytesOfACycleInTheLog(t *testing.T) {
	const n, most = 200, 2250
	var size [2]int
	for i, cyclesOf := range []int{n, 2 * n} {
		log := &counter{}
		c, err := incumbent.Open(context.Background(), incumbent.Config{Servers: zkmem.Start(t).Addr(), Record: log})
		ok(t, err)
		cycles(t, c, cyclesOf)
		ok(t, c.Close(context.Background()))
		for c.Recording().Bytes == 0 {
			t.Fatal("nothing was recorded")
		}
		size[i] = int(c.Recording().Bytes)
	}
	each := (size[1] - size[0]) / n
	t.Logf("%d bytes a cycle", each)
	if each > most {
		t.Errorf("%d bytes a cycle, of %d", each, most)
	}
}

// The flight log of a line of 400 of one client: each lists the children when it enrols, and when it may be next.
func TestBytesOfALineInTheLog(t *testing.T) {
	const participants, most = 400, 2 << 20
	log := &counter{}
	ctx := context.Background()
	c, err := incumbent.Open(ctx, incumbent.Config{Servers: zkmem.Start(t).Addr(), Record: log})
	ok(t, err)
	var line []*incumbent.Latch
	for range participants {
		l, err := c.Latch("/line", incumbent.LatchOptions{})
		ok(t, err)
		ok(t, l.Start())
		line = append(line, l)
		if len(line) == 1 { // the directory is there now, so the others enrol in the order of this loop
			held, err := l.Await(ctx)
			ok(t, err)
			held.Release()
		}
	}
	for _, l := range line {
		held, err := l.Await(ctx)
		ok(t, err)
		held.Release()
		ok(t, l.Close(ctx))
	}
	ok(t, c.Close(ctx))
	size := c.Recording().Bytes
	t.Logf("%d bytes", size)
	if size > most {
		t.Errorf("%d bytes, of %d", size, most)
	}
}

// What a record costs to write: its line is made without reflection.
func TestAllocationsOfALine(t *testing.T) {
	const most = 8
	w, err := events.NewWriter(io.Discard, events.Header{})
	ok(t, err)
	seq := uint64(0)
	r := events.Record{Machine: "latch-1", Cause: 1, From: "a", Row: "reply.stat [ours]", To: "b", Event: events.Event{Kind: events.ReplyStat, Session: 1, Request: 2, Zxid: 3, SentAt: 4,
		Path: "/jobs/nightly/_c_0123456789-0000000001", Stat: &events.Stat{Czxid: 1, Mzxid: 1}, Attached: true, ValidUntil: 9},
		Effects: events.Effects{events.Exists{Path: "/jobs/nightly/_c_0123456789-0000000001", Watch: true}}}
	got := testing.AllocsPerRun(1000, func() {
		seq++
		r.Seq, r.Event.At = seq, int64(seq)
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	})
	t.Logf("%.1f allocations a line", got)
	if got > most {
		t.Errorf("%.1f allocations a line, of %d", got, most)
	}
}

// BenchmarkRecordedCycle compares cycles with a flight log and without, in turns. It reports the median times, and the CPU
// time of the process, which the in-memory server shares.
func BenchmarkRecordedCycle(b *testing.B) {
	const perRound = 100
	type side struct {
		c         *incumbent.Client
		wall, cpu []time.Duration
	}
	open := func(record io.Writer) *side {
		c, err := incumbent.Open(context.Background(), incumbent.Config{Servers: zkmem.Start(b).Addr(), Record: record})
		ok(b, err)
		return &side{c: c}
	}
	none, recorded := open(nil), open(incumbent.RecordIn(b.TempDir(), incumbent.RecordOptions{}))
	for b.Loop() {
		for _, s := range []*side{none, recorded} {
			before, start := cpuTime(b), time.Now()
			cycles(b, s.c, perRound)
			s.wall = append(s.wall, time.Since(start)/perRound)
			s.cpu = append(s.cpu, (cpuTime(b)-before)/perRound)
		}
	}
	ok(b, errors.Join(none.c.Close(context.Background()), recorded.c.Close(context.Background())))
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(none.wall), "µs/none")
	b.ReportMetric(median(recorded.wall), "µs/recorded")
	b.ReportMetric(median(none.cpu), "cpu-µs/none")
	b.ReportMetric(median(recorded.cpu), "cpu-µs/recorded")
}

func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(fmt.Errorf("the CPU time of the process: %w", err))
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
