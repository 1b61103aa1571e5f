package engine_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// crowd is a client with so many latches that wait in lines of their own behind somebody
// else's node, as most do.
func crowd(tb testing.TB, many int) *term {
	c := newTerm(true, nil)
	for i := range many {
		id := events.ID(fmt.Sprint("latch-", i+1))
		path := fmt.Sprintf("/services/scheduler/shard-%05d", i)
		c.feed(id, events.Event{Kind: events.CommandOpen, Recipe: "latch", Seed: fmt.Sprintf("%032x", i), Path: path,
			Data: []byte("host-17.example.com:8080")})
		c.feed(id, events.Event{Kind: events.CommandStart, Request: uint64(i + 10)})
		answer := func(kind events.Kind, ev events.Event) {
			ev.Kind, ev.Session, ev.Request = kind, 1, c.owed[kind]
			c.feed(id, ev)
		}
		own, before := c.own, "_c_6f1f2a52-0000-4000-8000-00000000cafe-latch-0000000000"
		c.zxid++
		stat := &events.Stat{Czxid: c.zxid, EphemeralOwner: owner}
		answer(events.ReplyCreate, events.Event{Path: own, Zxid: c.zxid})
		answer(events.ReplyStat, events.Event{Path: own, Stat: stat})
		answer(events.ReplyChildren, events.Event{Path: path, Children: []string{before, own[len(path)+1:]}})
		answer(events.ReplyStat,
			events.Event{Path: path + "/" + before, Stat: &events.Stat{Czxid: 1, EphemeralOwner: 7}})
		if got := c.State(id); got != "waiting" {
			tb.Fatalf("%s is %s, not waiting", id, got)
		}
	}
	return c
}

// A log writes a checkpoint into one line, and a segment has to be several times as long. So
// a checkpoint of ten thousand latches may take eleven megabytes at most, written down or not.
func TestTheSizeOfACheckpoint(t *testing.T) {
	const many, limit = 1000, 970 // bytes for each latch
	c := crowd(t, many)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	taken := c.Checkpoint()
	runtime.ReadMemStats(&after)
	text, err := taken.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	written, copied := len(text)/many, int(after.TotalAlloc-before.TotalAlloc)/many
	t.Logf("bytes for each latch: %d written, %d copied", written, copied)
	if written > limit || copied > 2*limit {
		t.Errorf("bytes for each latch: %d written, at most %d; %d copied, at most %d\n%.2000s", written, limit, copied,
			2*limit, text)
	}
	if _, err := engine.ReadCheckpoint([][]byte{text}, machines.Recipes()...); err != nil {
		t.Error(err)
	}
	if n := testing.AllocsPerRun(5, func() { c.Checkpoint() }) / many; n > 10 {
		t.Errorf("%.1f allocations for each latch, at most 10", n)
	}
}

// BenchmarkCheckpoint measures how long it takes to copy ten thousand latches, and the part
// of it for which a loop stands still at a time; the others, what another goroutine does
// with the copy.
func BenchmarkCheckpoint(b *testing.B) {
	const many = 10_000
	c := crowd(b, many)
	b.ReportAllocs()
	for b.Loop() {
		c.Checkpoint()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)*engine.CopiedAtOnce/many, "ns/stop")
}

func BenchmarkCheckpointEncode(b *testing.B) {
	taken := crowd(b, 10_000).Checkpoint()
	n := 0
	for b.Loop() {
		text, err := taken.MarshalJSON()
		if err != nil {
			b.Fatal(err)
		}
		n = len(text)
	}
	b.SetBytes(int64(n))
	b.ReportMetric(float64(n), "B")
}

func BenchmarkCheckpointRead(b *testing.B) {
	text, err := crowd(b, 10_000).Checkpoint().MarshalJSON()
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := engine.ReadCheckpoint([][]byte{text}, machines.Recipes()...); err != nil {
			b.Fatal(err)
		}
	}
}
