//go:build unix

package figures

import (
	"context"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
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

// cycles leads and resigns so many times, each time with a latch of its own. It returns how long each took.
func cycles(t testing.TB, c *incumbent.Client, n int) (took []time.Duration) {
	t.Helper()
	for range n {
		start := time.Now()
		l, err := c.Latch("/bench-7/latch", incumbent.LatchOptions{})
		ok(t, err)
		ok(t, l.Start())
		held, err := l.Await(context.Background())
		ok(t, err)
		held.Release()
		ok(t, l.Close(context.Background()))
		took = append(took, time.Since(start))
	}
	return took
}

// The bytes of the flight log of one cycle of a latch: create the node, lead, resign, delete the node.
func TestBytesOfACycleInTheLog(t *testing.T) {
	const n, most = 200, 3250
	var size [2]int
	for i, cyclesOf := range []int{n, 2 * n} {
		log := &counter{}
		c, err := incumbent.Open(context.Background(), incumbent.Config{Servers: zkmem.Start(t).Addr(),
			Record: incumbent.RecordTo(log)})
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

// The bytes of the flight log of a line of 400 latches of one client. Each lists the children when it enrols, and when
// it may be next.
func TestBytesOfALineInTheLog(t *testing.T) {
	const participants, most = 400, 2 << 20
	log := &counter{}
	ctx := context.Background()
	c, err := incumbent.Open(ctx, incumbent.Config{Servers: zkmem.Start(t).Addr(), Record: incumbent.RecordTo(log)})
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

// To write the line of a record allocates nothing: it is encoded without reflection.
func TestAllocationsOfALine(t *testing.T) {
	const most = 0
	w, err := events.NewWriter(io.Discard, events.Header{})
	ok(t, err)
	seq := uint64(0)
	r := events.Record{Machine: "latch-1", Cause: 1, From: "a", Row: "reply.stat [ours]", To: "b",
		Event: events.Event{Kind: events.ReplyStat, Session: 1, Request: 2, Zxid: 3, SentAt: 4,
			Path: "/jobs/nightly/_c_0123456789-0000000001", Stat: &events.Stat{Czxid: 1, Mzxid: 1},
			Attached: true, ValidUntil: 9},
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

// BenchmarkRecordedCycle compares cycles with a flight log in a directory and without, in turns; the server is in
// another process. A round is a client that is opened, leads 2,000 times and is closed: its log is written and
// compressed then. The figures are medians of the rounds' median cycles, of the CPU time that this process took for a
// cycle, and of the ratios of two rounds that followed each other, with the ends of the interval that has the median of
// such ratios with 95 %.
func BenchmarkRecordedCycle(b *testing.B) {
	srv, dir := otherProcess(b), b.TempDir()
	var none, recorded side
	none.round(b, srv.addr, nil) // the path is there then, and the code is in the caches
	none = side{}
	for b.Loop() {
		log := incumbent.RecordIn(dir, incumbent.RecordOptions{})
		if len(none.wall)%2 == 0 {
			none.round(b, srv.addr, nil)
			recorded.round(b, srv.addr, log)
		} else {
			recorded.round(b, srv.addr, log)
			none.round(b, srv.addr, nil)
		}
	}
	b.ReportMetric(0, "ns/op")
	report(b, "p50", none.wall, recorded.wall)
	report(b, "cpu", none.cpu, recorded.cpu)
}

// side is rounds with a log, or without.
type side struct{ wall, cpu []time.Duration }

func (s *side) round(b *testing.B, servers string, record *incumbent.FlightLog) {
	const perRound = 2000
	runtime.GC() // what the round before left
	before := cpuTime(b)
	c, err := incumbent.Open(context.Background(), incumbent.Config{Servers: servers, Record: record})
	ok(b, err)
	took := cycles(b, c, perRound)
	ok(b, c.Close(context.Background()))
	s.cpu = append(s.cpu, (cpuTime(b)-before)/perRound)
	slices.Sort(took)
	s.wall = append(s.wall, took[len(took)/2])
}

// report reports the medians of two sides, and of their ratios round by round.
func report(b *testing.B, what string, none, recorded []time.Duration) {
	var ratios []float64
	for i := range none {
		ratios = append(ratios, float64(recorded[i])/float64(none[i]))
	}
	slices.Sort(ratios)
	middle, far := len(ratios)/2, int(math.Ceil(0.98*math.Sqrt(float64(len(ratios))))) // of a binomial distribution
	b.ReportMetric(median(none), what+"-µs/none")
	b.ReportMetric(median(recorded), what+"-µs/recorded")
	b.ReportMetric(ratios[middle], what+"-ratio")
	b.ReportMetric(ratios[max(middle-far, 0)], what+"-ratio-from")
	b.ReportMetric(ratios[min(middle+far, len(ratios)-1)], what+"-ratio-to")
}

func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(fmt.Errorf("the CPU time of the process: %w", err))
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
