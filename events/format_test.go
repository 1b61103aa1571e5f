package events_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/seal"
)

// Whatever records a log has, they are read as they were written; a field that a writer
// leaves out follows for the reader from the lines before.
func TestAnyRecordsAreReadAsTheyWereWritten(t *testing.T) {
	differences, replies, causes := 0, 0, 0
	short := map[string]int{`{"deadline":`: 0, `{"timer":"deadline"}`: 0, `{"stop":"heartbeat"}`: 0,
		`"urgent":true,"keep":true`: 0}
	for seed := range uint64(200) {
		r := &random{Rand: rand.New(rand.NewPCG(seed, 2)), asked: map[string]uint64{}, numbers: map[events.ID]uint64{}}
		var records []events.Record
		for range 60 {
			records = append(records, r.record())
		}
		log := written(t, records...)
		differences += strings.Count(log, `,"of":`)
		replies += strings.Count(log, `,"reply":`)
		causes += withoutCause(records, log)
		for form := range short {
			short[form] += strings.Count(log, form)
		}
		got, lr, err := read(strings.NewReader(log))
		if err != nil || len(got) != len(records) || lr.Unknown() != nil {
			t.Fatalf("seed %d: %d records, %v, unknown %q", seed, len(got), err, lr.Unknown())
		}
		for i := range got {
			if !got[i].Equal(records[i]) {
				t.Fatalf("seed %d\n got %+v\nwant %+v\nline %s", seed, got[i], records[i],
					strings.Split(log, "\n")[i+1])
			}
			line, _, _ := strings.Cut(strings.Split(log, "\n")[i+1], "\n")
			if len(line) > events.LineLength(records[i]) {
				t.Fatalf("seed %d: a line of %d bytes, and at most %d were promised: %s", seed, len(line),
					events.LineLength(records[i]), line)
			}
		}
	}
	if differences < 500 || replies < 500 || causes < 20 {
		t.Errorf(
			"%d lists were written as differences, %d replies by their requests, %d without: the test shows little",
			differences, replies, causes)
	}
	for form, many := range short {
		if many < 50 {
			t.Errorf("%d effects are written as %s: the test shows little", many, form)
		}
	}
}

// withoutCause returns how many lines leave out which request they answer.
func withoutCause(records []events.Record, log string) (many int) {
	for i, line := range strings.Split(log, "\n")[1 : 1+len(records)] {
		if records[i].Event.Request != 0 && !strings.Contains(line, `"req":`) && !strings.Contains(line, `"reply":`) {
			many++
		}
	}
	return many
}

func TestReaderRefuses(t *testing.T) {
	log := written(t, record(1, events.CommandStart), record(2, events.CommandClose))
	lines := strings.SplitAfter(log, "\n")
	swap := func(old, new string) string {
		if !strings.Contains(log, old) {
			t.Fatalf("no %q in the log", old)
		}
		return string(seal.Again([]byte(strings.Replace(log, old, new, 1))))
	}
	for _, c := range []struct {
		name, log string
		line      int
		says      string
	}{
		{"newer version", swap(`"version":1`, `"version":3`), 1, "format version 3, this reader knows 1"},
		{"older version than the first", swap(`"version":1`, `"version":0`), 1, "format version 0"},
		{"no checksum in the header", strings.Replace(lines[0], `,"crc":`, `,"cra":`, 1), 1, "no checksum"},
		{"header with another type", swap(`"library":"v1"`, `"library":1`), 1, "not a log header"},
		{"unknown kind", swap(`"row":"command.start"`, `"row":"command.begin"`), 2, `unknown kind "command.begin"`},
		{"unknown kind of note", swap(`{"seq":1,`, `{"sek":1,`), 2, `unknown kind of note "sek"`},
		{"two notes", seal2(log, `{"late":{"at":"1","by":"2"},"late":{"at":"1","by":"2"}`), 4, "twice"},
		{"two kinds of note", seal2(log, `{"late":{"at":"1","by":"2"},"clock":{"at":"1","wall":""}`), 4,
			"neither a record nor one note"},
		{"no note", seal2(log, `{"late":null`), 4, "expected"},
		{"end that counts wrong", seal2(log, `{"end":{"why":"closed","records":3}`), 4,
			"the log ends with record 2, and its last line says 3"},
		{"checkpoint of another record", seal2(log, `{"checkpoint":{"seq":1,"state":{}}`), 4,
			"a checkpoint of record 1 stands after record 2"},
		{"line behind the end", seal2(log, `{"end":{"why":"closed","records":2}`, `{"late":{"at":"1","by":"2"}`), 5,
			"a line follows the log's end"},
		{"field twice", swap(`"seq":1,`, `"seq":1,"id":"x",`), 2, `the field "id" stands there twice`},
		{"no machine", swap(`"id":"latch",`, ``), 2, `no field "id"`},
		{"number out of range", swap(`"seq":1`, `"seq":-1`), 2, "invalid syntax"},
		{"fraction", swap(`"seq":1`, `"seq":1.5`), 2, "invalid character '.'"},
		{"another type", swap(`"seq":1,`, `"seq":1,"do":{},`), 2, "invalid character '{'"},
		{"unknown effect", swap(`"seq":1,`, `"seq":1,"do":[{"grow":"/a"}],`), 2, `unknown effect "grow"`},
		{"effect without a field", swap(`"seq":1,`, `"seq":1,"do":[{}],`), 2, "an effect without a field"},
		{"effect in words", swap(`"seq":1,`, `"seq":1,"do":["connect session 1"],`), 2, "expected"},
		{"deadline that is no number", swap(`"seq":1,`, `"seq":1,"do":[{"deadline":nil}],`), 2, "invalid character"},
		{"timer without an end", swap(`"seq":1,`, `"seq":1,"do":[{"timer":"x"}],`), 2,
			`the timer "x" runs until the deadline, but the record has none`},
		{"timer that is not there", swap(`"seq":1,`, `"seq":1,"do":[{"stop":"x"}],`), 2,
			`latch has set no timer "x", which is stopped`},
		{"difference from no list", swap(`"seq":1,`, `"seq":1,"of":9,"plus":["a"],`), 2,
			"differs from that of record 9"},
		{"reply to no request", swap(`"seq":1,`, `"seq":1,"reply":7,`), 2,
			"no record before has the request 7 of latch"},
		{"part of a checkpoint without the first", seal2(log, `{"checkpoint":{"seq":2,"part":2,"of":2,"state":{}}`), 4,
			"part 2 of 2 of a checkpoint follows part 0 of 0"},
		{"part of a checkpoint twice",
			seal2(log, `{"checkpoint":{"seq":2,"part":1,"of":3,"state":{}}`,
				`{"checkpoint":{"seq":2,"part":1,"of":2,"state":{}}`,
				`{"checkpoint":{"seq":2,"part":1,"of":1,"state":{}}`), 6, "part 1 of 1"},
		{"parts of two checkpoints",
			seal2(log, `{"checkpoint":{"seq":2,"part":1,"of":3,"state":{}}`,
				`{"checkpoint":{"seq":2,"part":2,"of":2,"state":{}}`), 5,
			"part 2 of 2 of a checkpoint follows part 1 of 3"},
		{"own without a session", swap(`"seq":1,`, `"seq":1,"stat":{"own":true},`), 2, "no session is attached"},
		{"missing line", lines[0] + lines[2], 2, "seq 2 follows 0"},
		{"line that is no JSON", lines[0] + "{oops}\n", 2, "the line has no checksum"},
		{"line too long", lines[0] + `{"seq":1,"id":"` + strings.Repeat("x", events.MaxLine) + "\"}\n", 2,
			"line is longer than 8388608 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := read(strings.NewReader(c.log))
			var d *events.DamagedError
			if !errors.As(err, &d) {
				t.Fatalf("not damage: %v", err)
			}
			if d.Line != c.line || !strings.Contains(d.Error(), c.says) {
				t.Errorf("%v; want line %d: %s", d, c.line, c.says)
			}
		})
	}
}

// seal2 is a log with more lines, which have no checksums yet.
func seal2(log string, lines ...string) string {
	for _, line := range lines {
		log += line + `,"crc":"00000000"}` + "\n"
	}
	return string(seal.Again([]byte(log)))
}

// What happened to a line is named.
func TestDamageIsNamed(t *testing.T) {
	var records []events.Record
	for seq := range uint64(6) {
		r := record(seq+1, events.TimerFired)
		r.Event.At = int64(seq) * 1e9
		records = append(records, r)
	}
	lines := strings.SplitAfter(written(t, records...), "\n")
	records[0].Event.Text = "other"
	records[2].Event.At++
	other := strings.SplitAfter(written(t, records...), "\n")
	lines = lines[:7]
	with := func(of ...string) string { return strings.Join(of, "") }
	for _, c := range []struct {
		name, log string
		line      int
		says      string
	}{
		{"missing", with(lines[0], lines[1], lines[3], lines[4]), 3, "seq 3 follows 1; lines are missing"},
		{"doubled", with(lines[0], lines[1], lines[2], lines[2], lines[3]), 4,
			"the line stands there twice: it is line 3, too"},
		{"doubled later", with(lines[0], lines[1], lines[2], lines[3], lines[1], lines[4]), 5, "it is line 2, too"},
		{"swapped", with(lines[0], lines[1], lines[3], lines[2], lines[4]), 3, "the lines 3 and 4 are swapped"},
		{"foreign", with(lines[0], lines[1], lines[2], other[4], lines[3], lines[4]), 4, "the line is foreign here"},
		{"of another log", with(lines[0], lines[1], lines[2], other[3], lines[4]), 4, "is of another log"},
		{"changed", with(lines[0], lines[1], strings.Replace(lines[2], "timer", "tamer", 1), lines[3]), 3,
			"the line was changed after it was written"},
		{"changed at the end", with(lines[0], lines[1], strings.Replace(lines[2], "timer", "tamer", 1)), 3,
			"the line was changed after it was written"},
		{"its checksum changed",
			with(lines[0], lines[1], strings.Replace(lines[2], `"crc":"`+sum(lines[2]), `"crc":"01234567`, 1),
				lines[3]), 3, "the line's checksum was changed: it is 01234567, want " + sum(lines[2])},
		{"two logs", with(lines...) + with(lines...), 8, "another log begins here"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := read(strings.NewReader(c.log))
			var d *events.DamagedError
			if !errors.As(err, &d) || d.Line != c.line || !strings.Contains(d.Error(), c.says) {
				t.Errorf("%v; want line %d: %s", err, c.line, c.says)
			}
		})
	}
}

// sum is the checksum in a line.
func sum(line string) string {
	at := strings.LastIndex(line, `"crc":"`) + len(`"crc":"`)
	return line[at : at+8]
}

// No flipped bit gives another log: what is read is a beginning of what was written, and
// the reader says that it is no whole log.
func TestNoFlippedBitIsMissed(t *testing.T) {
	r := &random{Rand: rand.New(rand.NewPCG(1, 2)), asked: map[string]uint64{}, numbers: map[events.ID]uint64{}}
	var records []events.Record
	for range 12 {
		records = append(records, r.record())
	}
	var b bytes.Buffer
	w, err := events.NewWriter(&b, events.Header{Library: "v2"})
	for _, rec := range records {
		err = errors.Join(err, w.Write(rec))
	}
	if err = errors.Join(err, w.WriteEnd(events.EndClosed)); err != nil {
		t.Fatal(err)
	}
	log := b.Bytes()
	check := func(what string, bad []byte) {
		got, lr, err := read(bytes.NewReader(bad))
		var d *events.DamagedError
		if err != nil && !errors.As(err, &d) || err == nil && lr.End() != nil {
			t.Fatalf("%s: %v", what, err)
		}
		for i := range got {
			if !got[i].Equal(records[i]) {
				t.Fatalf("%s: record %d was read as %+v", what, i+1, got[i])
			}
		}
	}
	for i := range 1000 {
		at, bit := r.IntN(len(log)), r.IntN(8)
		bad := bytes.Clone(log)
		bad[at] ^= 1 << bit
		check(fmt.Sprintf("flip %d: bit %d of byte %d", i, bit, at), bad)
	}
	for cut := 0; cut < len(log); cut += 7 { // no line is as short
		check(fmt.Sprintf("cut at %d", cut), log[:cut])
	}
	if got, lr, err := read(bytes.NewReader(log)); err != nil || len(got) != len(records) || lr.End() == nil ||
		lr.End().Why != events.EndClosed {
		t.Errorf("the log as it is: %v", err)
	}
}

// A newer version may write more: it is kept, and its names are said once.
func TestUnknownFieldsAreKept(t *testing.T) {
	r := record(1, events.CommandStart)
	r.Unknown = `,"newer":{"a":[1,"x"]},"stat.more":"x"`
	again := record(2, events.CommandStart)
	again.Unknown = `,"newer":2`
	log := written(t, r, again)
	log = seal2(strings.Replace(log, `"library"`, `"laboratory":"x","library"`, 1),
		`{"late":{"at":"1","by":"2","why":"y"}`)
	got, lr, err := read(strings.NewReader(log))
	if err != nil || len(got) != 2 || got[0].Unknown != r.Unknown || got[1].Unknown != again.Unknown {
		t.Fatalf("%+v, %v", got, err)
	}
	if want := []string{"header.laboratory", "newer", "stat.more", "late.why"}; !slices.Equal(lr.Unknown(), want) {
		t.Errorf("it says %q, want %q", lr.Unknown(), want)
	}
	const more = `"seq":1,"stat":{"czxid":1,"more":2},"ops":[{"verb":"x","path":"","how":3}],` +
		`"do":[{"stop":"","req":1,"by":4}],`
	one := written(t, record(1, events.CommandStart))
	inside := string(seal.Again([]byte(strings.Replace(one, `"seq":1,`, more, 1))))
	got, lr, err = read(strings.NewReader(inside))
	if err != nil || len(got) != 1 || got[0].Event.Stat.Czxid != 1 || len(lr.Unknown()) != 3 ||
		got[0].Unknown != `,"stat.more":2,"ops.how":3,"do.by":4` {
		t.Errorf("%+v, %v", got, err)
	}
	for _, capital := range []string{`"Path":"/x"`, `"validUntIl":5`} {
		log := strings.Replace(written(t, record(1, events.CommandStart)), `"seq":1,`, `"seq":1,`+capital+`,`, 1)
		got, lr, err := read(strings.NewReader(string(seal.Again([]byte(log)))))
		if err != nil || len(lr.Unknown()) != 1 || got[0].Event.Path != "" || got[0].Event.ValidUntil != 0 {
			t.Errorf("%s is taken for a field: %+v, %v", capital, got, err)
		}
	}
}

// Each kind of note comes back as it was, in its place.
func TestNotes(t *testing.T) {
	notes := []events.Note{
		{Clock: &events.ClockNote{At: 5, Wall: "2026-11-22T23:22:33Z", Jumped: -7}},
		{Late: &events.Late{At: 6, By: 7}},
		{Write: &events.Write{At: 8, Sent: 7, Path: "/l/a\"b", Token: 5, Zxid: 1 << 60}},
		{Write: &events.Write{At: 8, Path: "/l/n", Token: 5, Refused: events.NoNode}},
		{Checkpoint: &events.Checkpoint{Seq: 1, State: []byte(`{"a":1}`)}},
		{Checkpoint: &events.Checkpoint{Seq: 1, Part: 1, Of: 2, State: []byte(`{"a":1}`)}},
		{Checkpoint: &events.Checkpoint{Seq: 1, Part: 2, Of: 2, State: []byte(`{"b":1}`)}},
		{Checkpoint: &events.Checkpoint{Seq: 1, Why: "too long"}},
		{End: &events.End{Why: events.EndClosed, Records: 1}},
	}
	var b bytes.Buffer
	w, err := events.NewWriter(&b, events.Header{Before: 0})
	err = errors.Join(err, w.Write(record(1, events.CommandStart)))
	for _, n := range notes {
		err = errors.Join(err, w.WriteNote(n))
	}
	if err = errors.Join(err, w.Flush()); err != nil {
		t.Fatal(err)
	}
	lr, err := events.NewReader(&b)
	if err != nil {
		t.Fatal(err)
	}
	var got []events.Note
	lr.Notes = func(n events.Note) { got = append(got, n) }
	for err == nil {
		_, err = lr.Next()
	}
	if !reflect.DeepEqual(got, notes) {
		t.Errorf("%+v, %v; want %+v", got, err, notes)
	}
	for _, n := range []events.Note{{}, {Late: &events.Late{}, End: &events.End{}}} {
		if w.WriteNote(n) == nil {
			t.Errorf("%+v was written", n)
		}
	}
}
