package page

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/why"
	"github.com/incumbent-go/incumbent/machines"
)

// seqs returns the numbers of the rows that are kept.
func seqs(k *Rows) (all []int64) {
	for r := range k.each() {
		all = append(all, r.seq)
	}
	return all
}

// holed gives records with a gap in their place.
type holed struct {
	steady
	at uint64
}

func (h *holed) Next() (events.Record, error) {
	if h.given+1 == h.at {
		h.given++
		return events.Record{}, &events.Gap{From: h.at, To: h.at, Count: 1}
	}
	return h.steady.Next()
}

// A part has both its ends, without what a gap has in its place, and is read no further.
func TestAPartOfALog(t *testing.T) {
	for _, c := range []struct {
		part why.Part
		want []int64
		read uint64
	}{
		{why.Part{From: 3, To: 6}, []int64{3, 4, 6}, 7}, {why.Part{From: 9, To: 20}, []int64{9, 10}, 10},
		{why.Part{From: 1, To: 1}, []int64{1}, 2}, {why.Part{From: 5, To: 5}, nil, 6},
	} {
		h := &holed{steady{all: 10}, 5}
		k := KeepPart(events.Header{}, h, Whole, c.part)
		if got := seqs(k); !slices.Equal(got, c.want) || h.given != c.read {
			t.Errorf("%+v: %v, want %v; %d are read, want %d", c.part, got, c.want, h.given, c.read)
		}
	}
}

// A row's numbers are differences: its cause to itself, and the rest to the row before that is wanted.
func TestTheNumbersOfARow(t *testing.T) {
	k := &Rows{rows: []row{{seq: 1, at: 100}, {seq: 5, cause: 1, at: 300, zxid: 7, flags: 2}, {seq: 6, cause: 5,
		at: 310}}}
	for after, want := range map[int64][]int64{
		0: {1, 100, 0, 0, 4, 200, 4, 7, 1, 10, 1, 0}, 1: {5, 300, 4, 7, 1, 10, 1, 0}, 5: {6, 310, 1, 0}, 6: nil,
	} {
		d, got := &Document{}, []int64(nil)
		all := d.encode(k, after, map[string]int64{})
		for row := range slices.Chunk(all, rowLength) {
			got = append(got, row[0], row[1], row[7], row[11])
		}
		if !slices.Equal(got, want) {
			t.Errorf("after %d: %v, want %v", after, got, want)
		}
	}
}

// noted is a reader with notes.
type noted struct {
	why.NoRecords
	take func(events.Note)
}

func (r *noted) EachNote(take func(events.Note)) { r.take = take }

// The recipes whose chart was another one are named, of those that have records.
func TestWhichChartsWereOthers(t *testing.T) {
	k := Keep(events.Header{}, nil, Whole)
	k.add(events.Record{Machine: "latch-1"})
	k.add(events.Record{Machine: "session"})
	for _, r := range machines.Recipes() {
		k.noteChart(events.Record{Event: events.Event{Recipe: r.Name()}, Chart: r.Digest()})
	}
	if got := k.otherCharts(); got != nil {
		t.Errorf("%q are others, and all are the same", got)
	}
	for _, name := range []string{"mutex", "latch"} { // no mutex has a record
		k.noteChart(events.Record{Event: events.Event{Recipe: name}, Chart: "another"})
	}
	if got := k.otherCharts(); !slices.Equal(got, []string{"latch"}) {
		t.Errorf("%q", got)
	}
	state := `{"engine":{"recipes":[{"name":"latch","chart":"` + machines.LatchRecipe.Digest() +
		`"},{"name":"session","chart":"another"}]},"machines":[]}`
	var r noted
	k.r = &r
	k.EachNote(func(events.Note) {})
	r.take(events.Note{Checkpoint: &events.Checkpoint{State: []byte(state)}})
	if got := k.otherCharts(); !slices.Equal(got, []string{"session"}) {
		t.Errorf("%q, by the checkpoint", got)
	}
}

// What an event says is there, and what it does not say is not.
func TestTheFactsOfAnEvent(t *testing.T) {
	for want, ev := range map[string]events.Event{
		"":                            {},
		"timer heartbeat":             {Name: "heartbeat"},
		"code NoNode, path /a":        {Code: "NoNode", Path: "/a"},
		"zxid 0x1":                    {Zxid: 1},
		"zxid 0x10":                   {Zxid: 16},
		"server a:1":                  {Server: "a:1", Address: "a:1"},
		"server a:1, address 1.2.3.4": {Server: "a:1", Address: "1.2.3.4"},
		"address 1.2.3.4":             {Address: "1.2.3.4"},
		"paused 1ns":                  {Paused: 1},
		"paused 1.5s":                 {Paused: 15e8},
		"children 1":                  {Children: []string{"a"}},
		"children 2, says why":        {Children: []string{"a", "b"}, Text: "why"},
		"owner 0xffffffffffffffff":    {Stat: &events.Stat{EphemeralOwner: -1}},
		"owner 0x1":                   {Stat: &events.Stat{EphemeralOwner: 1}},
		"recipe latch":                {Recipe: "latch", Stat: &events.Stat{}},
	} {
		if got := facts(ev); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A deadline is given since the log's start; without belief it has none. A line is one effect.
func TestTheEffectsOfARecord(t *testing.T) {
	k := Keep(events.Header{StartAt: 1e9}, nil, Whole)
	for until, want := range map[int64]string{25e8: "valid until +1.500 s", 1: "valid until -1.000 s",
		0: events.Deadline{}.String()} {
		if got := k.effects(events.Record{Effects: events.Effects{events.Deadline{Until: until}}}); got != want {
			t.Errorf("until %d: %q, want %q", until, got, want)
		}
	}
	got := k.effects(events.Record{Effects: events.Effects{events.Answer{Text: "a\nb"}, events.Answer{Text: "c"}}})
	if lines := strings.Split(got, "\n"); len(lines) != 2 || !strings.Contains(lines[0], `a\nb`) {
		t.Errorf("%q", got)
	}
}

// noting is a reader of its own kind.
type noting struct {
	why.NoRecords
	take func(events.Note)
}

func (n *noting) EachNote(take func(events.Note)) { n.take = take }

// Whatever reads the log, its notes are taken.
func TestNotesAreTakenFromEachReader(t *testing.T) {
	reader, joined, own := &events.Reader{}, &events.Segments{}, &noting{}
	for _, r := range []why.Reader{reader, joined, own} {
		taken := 0
		Keep(events.Header{}, r, Whole).EachNote(func(events.Note) { taken++ })
		for _, take := range []func(events.Note){reader.Notes, joined.Notes, own.take} {
			if take != nil {
				take(events.Note{})
			}
		}
		if taken != 1 {
			t.Errorf("%T: %d notes are taken", r, taken)
		}
		reader.Notes, joined.Notes, own.take = nil, nil, nil
	}
}

// The last record is that of the last block with records.
func TestTheLastRecord(t *testing.T) {
	some := func(from, to int64) (all []row) {
		for seq := from; seq <= to; seq++ {
			all = append(all, row{seq: seq})
		}
		return all
	}
	for _, c := range []struct {
		full [][]row
		rows []row
		want uint64
	}{
		{nil, nil, 0}, {nil, some(1, 3), 3}, {[][]row{some(1, 3)}, nil, 3}, {[][]row{some(1, 3), some(4, 5)}, nil, 5},
		{[][]row{some(1, 3), some(4, 5)}, some(6, 6), 6}, {[][]row{some(1, 3), nil}, nil, 3},
	} {
		k := &Rows{full: c.full, rows: c.rows}
		before := len(seqs(k))
		if got := k.Last(); got != c.want || k.Last() != got || len(seqs(k)) != before {
			t.Errorf("%d full blocks and %d rows: %d, want %d", len(c.full), len(c.rows), got, c.want)
		}
	}
}

// writes counts what is written at once.
type writes struct {
	bytes.Buffer
	count int
}

func (w *writes) Write(b []byte) (int, error) {
	w.count++
	return w.Buffer.Write(b)
}

// Characters outside of ASCII are escaped, to the last of each kind, and much is written in few parts.
func TestEachCharacterIsASCII(t *testing.T) {
	for text, want := range map[string]string{
		"\x7f": "\x7f", "\u0080": `\u0080`, "\uffff": `\uffff`, "\U00010000": `\ud800\udc00`,
		"\U0010ffff": `\udbff\udfff`,
		"aä":         `a\u00e4`, "": "",
	} {
		var w writes
		if err := writeASCII(&w, []byte(text)); err != nil || w.String() != want || w.count > 1 {
			t.Errorf("%q: %q in %d parts, %v", text, w.String(), w.count, err)
		}
	}
	var w writes
	long := strings.Repeat("x", 200_000)
	if err := writeASCII(&w, []byte(long)); err != nil || w.String() != long || w.count > 4 {
		t.Errorf("%d bytes in %d parts, %v", w.Len(), w.count, err)
	}
}

// The budget counts what is kept, and what is older than what was dropped is not kept at all.
func TestTheBudgetCountsWhatIsKept(t *testing.T) {
	b := &Budget{Most: 2000}
	logs := keptOf(t, b, 10_000, 0, -3600e9, 0)
	full := 0
	for i, k := range logs {
		full += blockRows * len(k.full)
		if n := countRows(k); (n == 0) != (i == 1) {
			t.Errorf("log %d: %d rows are kept", i, n)
		}
	}
	if b.full != full || b.floor.Load() == 0 {
		t.Errorf("%d rows are counted, and %d are in full blocks", b.full, full)
	}
	k := Keep(events.Header{Start: logs[0].header.Start}, &steady{all: 1}, Whole).Within(b)
	k.full, b.full = [][]row{make([]row, blockRows)}, b.full+blockRows
	if b.drop(k); b.full != full || countRows(k) != 0 || !k.dropped {
		t.Errorf("after a log was dropped %d rows are counted, want %d", b.full, full)
	}
}
