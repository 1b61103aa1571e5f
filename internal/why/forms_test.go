package why

import (
	"bytes"
	"errors"
	"fmt"
	"io"
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
		for _, written := range []bool{false, true} { // in a log, and read from it
			dir := "/jobs/" + name
			own := dir + "/_c_00000000-0000-0000-0000-000000000005-latch-0000000005"
			elected, stopped := events.Notify{What: events.Elected, Path: own, Token: 5},
				events.Notify{What: events.Stopped, Path: own, Token: 5, Reason: events.ReasonNodeGone,
					Text: ` token=3 "`}
			gone := events.Multi{Call: events.Call{Request: 3}, Ops: []events.Op{{Verb: "create", Path: dir + "/x",
				Mode: events.Persistent, Data: []byte(`"; delete /y`)}, {Verb: "delete", Path: own, Version: -1}}}
			c := newCrafted(1, 100)
			c.records = c.records[:1]
			for i, e := range []events.Effects{{elected}, {stopped, gone}} {
				c.add("latch-1", events.Event{Kind: events.ReplyChildren, At: int64(110 + i), Session: 1,
					ValidUntil: 900 * ms}, "listing", "leading")
				c.records[len(c.records)-1].Effects = e
			}
			c.add("latch-1", events.Event{Kind: events.ReplyMulti, At: 120, Session: 1, Request: 3, Zxid: 9},
				"leaving", "latent")
			if written {
				c.records = reread(t, c.records)
			}
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

// reread writes records into a log, and reads them.
func reread(t *testing.T, records []events.Record) (all []events.Record) {
	t.Helper()
	var b bytes.Buffer
	w, err := events.NewWriter(&b, events.Header{})
	for _, r := range records {
		err = errors.Join(err, w.Write(r))
	}
	if err = errors.Join(err, w.Flush()); err != nil {
		t.Fatal(err)
	}
	r, err := events.NewReader(&b)
	for err == nil {
		var one events.Record
		if one, err = r.Next(); err == nil {
			all = append(all, one)
		}
	}
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	return all
}

// An effect that cannot be read is counted and named, and takes the proof away.
func TestEffectsThatCannotBeRead(t *testing.T) {
	for _, text := range []string{"notify elected token=5", "notify elected /l/a", "notify crowned /l/a token=5",
		"notify stopped token=5"} {
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
