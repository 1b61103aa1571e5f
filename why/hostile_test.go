package why

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/selection"
	"github.com/incumbent-go/incumbent/test/sim"
	"github.com/incumbent-go/incumbent/why/txnlog"
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
	if len(lines) == 0 || len(lines) > 10 {
		tb.Fatalf("%d lines", len(lines))
	}
	for _, line := range lines {
		if strings.ContainsAny(line, "\x1b\n\r\x00") {
			tb.Fatalf("%q may do something to a terminal", line)
		}
	}
	return lines
}

// FuzzLogs explains two logs whose bytes are anything.
func FuzzLogs(f *testing.F) {
	for seed := range int64(3) {
		var two [2][]byte
		for i, log := range sim.Run(seed+1, sim.Options{Keep: true}).Logs[:2] {
			var b bytes.Buffer
			if err := sim.WriteLog(&b, log[:min(len(log), 150)]); err != nil {
				f.Fatal(err)
			}
			two[i] = b.Bytes()
		}
		f.Add(two[0], two[1], "/app")
	}
	f.Fuzz(func(t *testing.T, a, b []byte, path string) {
		var logs []*Log
		for i, file := range [][]byte{a, b} {
			r, err := events.NewReader(bytes.NewReader(file))
			if err != nil {
				continue
			}
			l, _ := Read([]string{"a", "b"}[i], r.Header, r) // what was read before an error is explained
			logs = append(logs, l)
		}
		explainAll(t, logs, nil, Options{Path: path})
		Redact(logs, nil)
		explainAll(t, logs, nil, Options{})
	})
}

// spoil changes a record to what no client writes.
func spoil(dice *rand.Rand, r *events.Record) {
	odd := []int64{0, -1, 1, math.MaxInt64, math.MinInt64, 1 << 32, 1e18}
	n := odd[dice.IntN(len(odd))]
	paths := []string{"", "/", "no path", "/l/x\x1b[31m", "/l/_c_00000000-0000-0000-0000-000000000001-latch-99999999999999999999", "/a/leases/_c_x-lease-0000000001"}
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
		r.Effects = events.WrittenEffects("notify elected "+path+" token=5", "notify stopped "+path+" token=5", "valid until 1h", "#3 multi {create "+path, "#4 timer x", "notify failed")
	case 8:
		ev.ValidUntil = n
	case 9:
		ev.Children = paths
	case 10:
		r.Cause = uint64(n)
	case 11:
		r.Machine, ev.Options = events.ID(path), map[string]string{"permits": "-7", "limit": "99999999999999999999", "opener": path}
	}
}

// Logs with records that no client writes are explained somehow, without a panic, and within the bounds of output.
func TestSpoiltLogs(t *testing.T) {
	for seed := range uint64(selection.Of(t, "worlds", 10, 30, 150)) {
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
