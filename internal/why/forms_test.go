package why

import (
	"fmt"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/events"
)

// odd are names of nodes and ids of participants that a reader of texts might take for something else.
var odd = []string{`a"b`, "a b", "a token=7 b", "a; delete ", "{a}", `\"`, "é", "日本", "a\u202eb", "@38", "+1", "'",
	"<b>", `" token=9 "`, "x=y", "#1"}

// A term is seen whatever its line and its participant are called: from values, and from what a log has of them.
func TestTermsOfAnyName(t *testing.T) {
	for _, name := range odd {
		for _, written := range []bool{false, true} {
			dir := "/jobs/" + name
			own := dir + "/_c_00000000-0000-0000-0000-000000000005-latch-0000000005"
			elected, stopped := events.Notify{What: events.Elected, Path: own, Token: 5},
				events.Notify{What: events.Stopped, Path: own, Token: 5, Text: ` token=3 "`}
			gone := events.Multi{Call: events.Call{Request: 3}, Ops: []events.Op{{Verb: "create", Path: dir + "/x",
				Mode: events.Persistent, Data: []byte(`"; delete /y`)}, {Verb: "delete", Path: own, Version: -1}}}
			c := newCrafted(1, 100)
			c.records = c.records[:1]
			for i, e := range []events.Effects{{elected}, {stopped, gone}} {
				if written {
					e = events.WrittenEffects(e.Strings()...)
				}
				c.add("latch-1", events.Event{Kind: events.ReplyChildren, At: int64(110 + i), Session: 1,
					ValidUntil: 900 * ms}, "listing", "leading")
				c.records[len(c.records)-1].Effects = e
			}
			c.add("latch-1", events.Event{Kind: events.ReplyMulti, At: 120, Session: 1, Request: 3, Zxid: 9},
				"leaving", "latent")
			l := c.read(t, "a")
			term := l.terms[0]
			if term.Node != own || term.Token != 5 || term.Dir != dir || term.Open() || len(l.unread) > 0 ||
				!l.tried[dir+"/x"] {
				t.Errorf("%q, written %t: %+v, unread %v", name, written, term, l.unread)
			}
			if d := term.deleted(term.Stopped); d == nil || d.path != own || d.zxid != 9 {
				t.Errorf("%q, written %t: the deletes are %+v", name, written, l.deletes)
			}
			if r := Explain([]*Log{l}, nil, Options{Path: dir}); len(r.Moves) != 2 || r.Verdict != NeverProven {
				t.Errorf("%q: %s", name, strings.Join(r.Lines(true), "\n"))
			}
		}
	}
}

// An effect that cannot be read is counted and named, and takes the proof away.
func TestEffectsThatCannotBeRead(t *testing.T) {
	for _, text := range []string{"notify elected token=5", "notify crowned /l/a token=5", "grow /l/a",
		"#x delete /l/a", "#4 remove /l/a", "#4 multi delete /l/a", "#4 multi {delete ", "valid until tea",
		"stop timer #x"} {
		c := newCrafted(1, 100)
		c.add("latch-1", events.Event{Kind: events.TimerFired, At: 200}, "leading", "leading", text)
		c.stop(1, 600, events.CommandClose)
		l := c.read(t, "a")
		r := Explain([]*Log{l}, nil, Options{})
		if want := fmt.Sprintf("1 record of a could not be read, the first is a:%d", 3); r.Verdict != CannotTell ||
			r.Why != want {
			t.Errorf("%q: %s: %s", text, r.Verdict, r.Why)
		}
	}
}
