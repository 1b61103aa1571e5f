package why

import (
	"fmt"
	"slices"
	"testing"

	"github.com/incumbent-go/incumbent/events"
)

// lane returns the one lane of a log in a line, with its times in milliseconds since the first record.
func lane(t *testing.T, l *Log, line string) (nodes, inside []string) {
	t.Helper()
	pic := Explain([]*Log{l}, nil, Options{OwnClocks: true}).Picture()
	if len(pic.Machines) != 1 || pic.Machines[0].Line != line || !slices.Equal(pic.Lines, []string{line}) {
		t.Fatalf("%+v", pic)
	}
	first := pic.Logs[0].Clock[0][1]
	texts := func(all []Span) (out []string) {
		for _, s := range all {
			until := "open"
			if s.To != 0 {
				until = fmt.Sprint((s.To - first) / 1000)
			}
			out = append(out, fmt.Sprintf("%d to %s", (s.From-first)/1000, until))
		}
		return out
	}
	return texts(pic.Machines[0].Nodes), texts(pic.Machines[0].Inside)
}

// A member is inside until it begins to leave, also without a connection. What a gap hides is not shown.
func TestTimesInsideABarrier(t *testing.T) {
	const b = "doublebarrier-1"
	c := &crafted{}
	c.add(b, events.Event{Kind: events.CommandOpen, Recipe: "doublebarrier", Path: "/d"}, "", "outside")
	c.add(b, events.Event{Kind: events.ReplyMulti, At: 100}, "opening", "inside")
	c.add(b, events.Event{Kind: events.ConnectionSuspended, At: 200}, "inside", "suspended")
	c.add(b, events.Event{Kind: events.ConnectionAttached, At: 300}, "suspended", "inside")
	c.add(b, events.Event{Kind: events.CommandLeave, At: 400}, "inside", "parting")
	c.add(b, events.Event{Kind: events.ReplyDelete, At: 450}, "withdrawing", "outside")
	c.add(b, events.Event{Kind: events.ReplyMulti, At: 500}, "opening", "inside")
	c.add(b, events.Event{Kind: events.WatchDeleted, At: 550}, "inside", "inside")
	c.add(b, events.Event{Kind: events.ReplyDelete, At: 600}, "withdrawing", "outside")
	c.add(b, events.Event{Kind: events.WatchDeleted, At: 700}, "inside", "inside")
	c.add(b, events.Event{Kind: events.ConnectionSuspended, At: 800}, "inside", "suspended")
	l, err := Read("a", events.Header{}, &holed{each{c.records}, &events.Gap{From: 9, To: 9, Count: 1}})
	if err != nil {
		t.Fatal(err)
	}
	if _, inside := lane(t, l, "/d"); !slices.Equal(inside, []string{"100 to 400", "500 to 550", "700 to open"}) {
		t.Errorf("inside %q", inside)
	}
	c.add(b, events.Event{Kind: events.CommandLeave, At: 900}, "suspended", "suspended")
	c.add(b, events.Event{Kind: events.ConnectionAttached, At: 950}, "suspended", "parting")
	if l, err = Read("a", events.Header{}, &each{c.records}); err != nil {
		t.Fatal(err)
	}
	if _, inside := lane(t, l, "/d"); !slices.Equal(inside, []string{"100 to 400", "500 to 600", "700 to 900"}) {
		t.Errorf("a leave without a connection: inside %q", inside)
	}
}

// Permits are created and deleted by transactions: they stand from the answer to the one until the answer to the other.
// One that no answer named stands from the term that it gives.
func TestTimesOfPermits(t *testing.T) {
	const s, own = "semaphore-1", "/s/leases/_c_00000000-0000-0000-0000-000000000001-lease-"
	c := &crafted{}
	c.add(s,
		events.Event{Kind: events.CommandOpen, Recipe: "semaphore", Path: "/s",
			Options: map[string]string{"limit": "3", "permits": "2"}}, "", "latent")
	c.add(s, events.Event{Kind: events.ReplyStat, At: 100}, "looking", "taking",
		"#2 multi {delete /s/locks/x; create /s/leases persistent; create "+own+" ephemeral_sequential; create "+own+
			" ephemeral_sequential}")
	c.add(s,
		events.Event{Kind: events.ReplyMulti, At: 200, SentAt: 100, Request: 2, Zxid: 20, Code: events.OK,
			Children: []string{"/s/leases", own + "0000000000", own + "0000000001"}}, "taking", "confirming")
	c.add(s, events.Event{Kind: events.WorkReturned, At: 300}, "draining", "leaving",
		"#5! multi {delete "+own+"0000000000; delete "+own+"0000000001}")
	c.add(s, events.Event{Kind: events.ReplyMulti, At: 400, SentAt: 300, Request: 5, Zxid: 30, Code: events.OK},
		"leaving", "closed")
	c.add(s, events.Event{Kind: events.ReplyStat, At: 500, ValidUntil: 900}, "confirming", "leading",
		"notify elected "+own+"0000000002 token=40")
	l, err := Read("a", events.Header{}, &each{c.records})
	if err != nil {
		t.Fatal(err)
	}
	if nodes, _ := lane(t, l, "/s/leases"); !slices.Equal(nodes, []string{"200 to 400", "200 to 400", "500 to open"}) {
		t.Errorf("permits stand %q", nodes)
	}
	l.redact(&pseudonyms{known: map[string]string{}, count: map[string]int{}})
	for path, n := range l.leases {
		if path != n.path || dirOf(path) == "/s/leases" {
			t.Errorf("%s is %s when it is redacted", path, n.path)
		}
	}
}
