package events

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// A list of children is a difference only if that is shorter than the list, and only in an answer.
func TestWhichListIsADifference(t *testing.T) {
	was := []string{"a", "b", "c", "d"}
	for _, c := range []struct {
		kind       Kind
		is         []string
		difference bool
	}{
		{ReplyChildren, []string{"a", "b", "c", "d"}, true},
		{ReplyChildren, []string{"a", "b", "c", "d", "e"}, true},
		{ReplyChildren, []string{"a", "b", "c"}, true},
		{ReplyChildren, []string{"a", "b", "c", "e"}, false}, // one goes and one comes: as many as there are, twice
		{ReplyChildren, []string{"a", "b", "e", "f"}, false},
		{ReplyChildren, []string{"a", "b"}, false},
		{ReplyChildren, []string{"b", "a", "c", "d"}, false},
		{CommandStart, []string{"a", "b", "c", "d"}, false},
	} {
		var m memory
		m.listings.put("/p", listing{7, was})
		got := string(m.appendChildren(nil, &Event{Kind: c.kind, Path: "/p", Children: c.is}))
		if is := strings.Contains(got, `,"of":7`) || strings.Contains(got, `,"of":"7"`); is != c.difference {
			t.Errorf("%s with %q is written as %s", c.kind, c.is, got)
		}
	}
}

// A sentence that is cut keeps its end; what is shorter than a sentence does not.
func TestWhichTextKeepsItsEnd(t *testing.T) {
	long := strings.Repeat("x", MaxText) + "why"
	for most, ends := range map[int]bool{MaxName: false, MaxText - 1: false, MaxText: true, MaxText + 1: true} {
		got := Foreign(long, most)
		if strings.HasSuffix(got, "why") != ends || len(strings.ReplaceAll(got, "…", "")) > most {
			t.Errorf("of %d bytes at most: %d, the end is %q", most, len(got), got[len(got)-5:])
		}
	}
}

// A heartbeat is the session machine's timer or confirmation that changed nothing, and was said to nobody.
func TestWhatIsAHeartbeat(t *testing.T) {
	beat := Record{Machine: SessionMachine, From: "up", To: "up", Event: Event{Kind: TimerFired, Name: "heartbeat"}}
	with := func(change func(*Record)) Record {
		r := beat
		change(&r)
		return r
	}
	reply := func(kind Kind) Record { return with(func(r *Record) { r.Event = Event{Kind: kind} }) }
	for what, c := range map[string]struct {
		Record
		want bool
	}{
		"its timer":             {beat, true},
		"a stat":                {reply(ReplyStat), true},
		"a sync":                {reply(ReplySync), true},
		"a transaction":         {reply(ReplyMulti), true},
		"the connection":        {reply(ConnectionConfirmed), true},
		"a list":                {reply(ReplyChildren), false},
		"the deadline moved":    {with(func(r *Record) { r.Effects = Effects{Deadline{Until: 9}} }), true},
		"another timer":         {with(func(r *Record) { r.Event.Name = "retry" }), false},
		"another machine":       {with(func(r *Record) { r.Machine = "latch-1" }), false},
		"a move":                {with(func(r *Record) { r.To = "down" }), false},
		"an error":              {with(func(r *Record) { r.Event.Code = NoNode }), false},
		"a notice":              {with(func(r *Record) { r.Effects = Effects{Deadline{}, Notify{}} }), false},
		"an answer":             {with(func(r *Record) { r.Effects = Effects{Answer{}} }), false},
		"a word to another one": {with(func(r *Record) { r.Effects = Effects{Tell{}} }), false},
	} {
		if got := c.Heartbeat(); got != c.want {
			t.Errorf("%s: %t, want %t", what, got, c.want)
		}
	}
}

// A log of commands says in which line the damage is.
func TestWhereALogOfCommandsIsDamaged(t *testing.T) {
	good := string(CommandLine{}.Line())
	for before := range 3 {
		for _, bad := range []string{"{\n", `{"format":"another"}` + "\n", strings.Repeat("x", maxCommandLine+1)} {
			all, err := ReadCommandLines(strings.NewReader(strings.Repeat(good, before) + bad + good))
			var damaged *DamagedError
			if len(all) != before || !errors.As(err, &damaged) || damaged.Line != before+1 {
				t.Errorf("behind %d lines %.20q: %d lines, %v", before, bad, len(all), err)
			}
		}
	}
}

// The wall clock's time follows from what was said last, wherever the loop's clock is.
func TestTheWallClockFollowsFromWhatWasSaidLast(t *testing.T) {
	const second = int64(1e9)
	var c wallClock
	if got := c.appendWall(nil, second); len(got) != 0 {
		t.Errorf("before anything was said: %s", got)
	}
	for _, s := range []struct {
		at   int64
		wall string
		when int64
		want string
	}{
		{1000 * second, "2026-11-24T10:00:00Z", 1001*second + second/2, "2026-11-24T10:00:01.500Z"},
		{1000 * second, "2026-11-24T10:00:00Z", 999 * second, "2026-11-24T09:59:59.000Z"},
		{1002 * second, "2026-11-24T12:00:00.25Z", 1002 * second, "2026-11-24T12:00:00.250Z"},
		{2000 * second, "no time", 1003 * second, "2026-11-24T12:00:01.250Z"},
	} {
		c.set(s.at, s.wall)
		if got := string(c.appendWall(nil, s.when)); got != `,"wall":"`+s.want+`"` {
			t.Errorf("%s at %d: at %d it is %s, want %s", s.wall, s.at, s.when, got, s.want)
		}
	}
}

// The shortest line with a checksum has one byte before it.
func TestTheShortestLineWithAChecksum(t *testing.T) {
	const sum = sumKey + "0000002a\"}\n"
	for line, want := range map[string]string{
		"{" + sum: "{", sum: "", sum[1:]: "", "": "", `{"seq":"1"` + sum: `{"seq":"1"`,
	} {
		body, stated, ok := split([]byte(line))
		if string(body) != want || ok != (want != "") || ok && stated != 42 {
			t.Errorf("%q: %q, %d, %t", line, body, stated, ok)
		}
	}
}

// What is used stays remembered: writer and reader of all versions forget the same.
func TestARowThatIsUsedStaysRemembered(t *testing.T) {
	var m memory
	r := Record{Machine: "latch-1", From: "a", To: "a", Row: "row", Tried: []string{"guard"}}
	m.tried.old = map[rowKey][]string{rowOf(&r): r.Tried}
	m.meet(r.Machine)
	m.learn(&r, m.triedBefore(&r))
	if tried, young := m.tried.young[rowOf(&r)]; !young || !slices.Equal(tried, r.Tried) {
		t.Errorf("it is forgotten with the old ones: %q", m.tried.young)
	}
}
