package why

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/why/txnlog"
	"github.com/incumbent-go/incumbent/test/kit/selection"
	"github.com/incumbent-go/incumbent/test/worlds/sim"
)

// explainAll uses all that a report offers, and returns its lines.
func explainAll(tb testing.TB, logs []*Log, txns []txnlog.Txn, o Options) []string {
	tb.Helper()
	r := Explain(logs, txns, o)
	r.Facts()
	if b, err := r.Trace(); err != nil {
		tb.Fatal(err)
	} else if _, _, err := checkTrace(b); err != nil {
		tb.Fatal(err)
	}
	r.Lines(true)
	lines := r.Lines(false)
	if len(lines) == 0 || len(lines) > mostLines {
		tb.Fatalf("%d lines", len(lines))
	}
	for _, line := range lines {
		if strings.ContainsAny(line, "\x1b\n\r\x00") {
			tb.Fatalf("%q may do something to a terminal", line)
		}
	}
	return lines
}

// chooser is what spoil draws from.
type chooser interface{ IntN(n int) int }

// choices are made by a fuzzer: two bytes are one choice. When none is left, the first possibility is chosen.
type choices struct{ left []byte }

func (c *choices) IntN(n int) int {
	if len(c.left) < 2 {
		c.left = nil
		return 0
	}
	chosen := int(c.left[0])<<8 | int(c.left[1])
	c.left = c.left[2:]
	return chosen % n
}

// shortLogs are the beginnings of two clients' logs: of one that leads, and of one that waits.
func shortLogs(tb testing.TB, seed int64) (two [2][]events.Record) {
	tb.Helper()
	const most = 40
	for i, log := range sim.Run(seed, sim.Options{Keep: true}).Logs[:2] {
		two[i] = log[:min(len(log), most)]
	}
	return two
}

// FuzzLogs explains two short logs with records that no client writes. The bytes choose which records, and what becomes
// of them: bytes of the files would hardly get beyond the checksum of a line, which package events is fuzzed with.
func FuzzLogs(f *testing.F) {
	var worlds [][2][]events.Record
	for seed := range int64(3) {
		worlds = append(worlds, shortLogs(f, seed+1))
	}
	for seed := range uint64(10) {
		dice := rand.New(rand.NewPCG(seed, 11))
		edits := make([]byte, 4+8*dice.IntN(8))
		for i := range edits {
			edits[i] = byte(dice.IntN(256))
		}
		f.Add(edits, "/app")
	}
	f.Fuzz(func(t *testing.T, edits []byte, path string) {
		chosen := &choices{edits[:min(len(edits), 512)]}
		var logs []*Log
		for i, records := range worlds[chosen.IntN(len(worlds))] {
			records = slices.Clone(records[:1+chosen.IntN(len(records))])
			for range chosen.IntN(16) {
				spoil(chosen, &records[chosen.IntN(len(records))])
			}
			l, err := Read([]string{"a", "b"}[i],
				events.Header{StartAt: int64(chosen.IntN(1<<16)) << chosen.IntN(48)}, &each{records})
			if err != nil {
				t.Fatal(err)
			}
			logs = append(logs, l)
		}
		explainAll(t, logs, nil, Options{Path: path})
		Redact(logs, nil)
		explainAll(t, logs, nil, Options{})
	})
}

// spoil changes a record to what no client writes.
func spoil(dice chooser, r *events.Record) {
	odd := []int64{0, -1, 1, math.MaxInt64, math.MinInt64, 1 << 32, 1e18}
	n := odd[dice.IntN(len(odd))]
	paths := []string{"", "/", "no path", "/l/x\x1b[31m",
		"/l/_c_00000000-0000-0000-0000-000000000001-latch-99999999999999999999", "/a/leases/_c_x-lease-0000000001"}
	path := paths[dice.IntN(len(paths))]
	ev := &r.Event
	switch dice.IntN(12) {
	case 0:
		ev.At = n
	case 1:
		ev.SentAt = n
	case 2:
		ev.Zxid = n
	case 3:
		ev.Path = path
	case 4:
		ev.Stat = &events.Stat{Mtime: n, Mzxid: n, EphemeralOwner: n}
	case 5:
		ev.SessionID, ev.Timeout = n, n
	case 6:
		ev.Kind = events.Kinds()[dice.IntN(len(events.Kinds()))]
	case 7:
		r.Effects = events.Effects{events.Notify{What: events.Elected, Path: path, Token: 5},
			events.Notify{What: events.Stopped, Path: path, Token: 5}, events.Deadline{Until: int64(time.Hour)},
			events.Multi{Call: events.Call{Request: 3}, Ops: []events.Op{{Verb: "create", Path: path}}},
			events.SetTimer{Request: 4, Name: "x", After: time.Duration(n)}, events.Notify{What: events.Failed}}
	case 8:
		ev.ValidUntil = n
	case 9:
		ev.Children = paths
	case 10:
		r.Cause = uint64(n)
	case 11:
		r.Machine, ev.Options = events.ID(path),
			map[string]string{"permits": "-7", "limit": "99999999999999999999", "opener": path}
	}
}

// Logs with records that no client writes are explained somehow, without a panic, and within the bounds of output.
func TestSpoiltLogs(t *testing.T) {
	for seed := range uint64(selection.Of(t, "worlds", 10, 15, 75)) {
		dice := rand.New(rand.NewPCG(seed, 7))
		world := sim.Run(int64(seed)+1, sim.Options{Keep: true})
		var logs []*Log
		for _, records := range world.Logs {
			for range 1 + dice.IntN(8) {
				spoil(dice, &records[dice.IntN(len(records))])
			}
			l, err := Read("client", events.Header{StartAt: dice.Int64() >> dice.IntN(60)}, &each{records})
			if err != nil {
				t.Fatal(err)
			}
			logs = append(logs, l)
		}
		explainAll(t, logs, nil, Options{})
	}
}
