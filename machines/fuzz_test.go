package machines

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	sealing "github.com/incumbent-go/incumbent/test/kit/seal"
)

// FuzzReplay feeds logs of any content to the machines. They must not panic: a replay ends at the end
// of the log, with a divergence, or with a refusal. The charts' digests are not compared.
func FuzzReplay(f *testing.F) {
	for _, recipe := range Recipes() {
		f.Add(logOfOneMachine(f, recipe.Name()))
	}
	f.Fuzz(func(t *testing.T, log []byte) {
		reader, err := events.NewReader(bytes.NewReader(sealing.Again(log)))
		if err != nil {
			return
		}
		e := engine.New(true, Recipes()...)
		for range 200 {
			r, err := reader.Next()
			var damaged *events.DamagedError
			var gap *events.Gap
			if errors.As(err, &gap) {
				continue
			}
			if err != nil {
				if !errors.Is(err, io.EOF) && !errors.As(err, &damaged) {
					t.Fatalf("neither the end nor damage: %v", err)
				}
				return
			}
			e.Step(events.Envelope{To: r.Machine, Event: r.Event})
		}
	})
}

// FuzzEvents feeds any events in any order, with or without what their kind needs. Four bytes are one
// event.
func FuzzEvents(f *testing.F) {
	f.Add("latch", []byte("\x01\x01\x00\x0f\x09\x01\x00\x0f\x0b\x02\x00\x0f\x0c\x03\x00\x0f"))
	for _, recipe := range Recipes() {
		f.Add(recipe.Name(), []byte("\x01\x01\x00\x00\x02\x02\x00\x00\x09\x01\x00\xff\x0b\x02\x00\x02\x0c\x03\x00\x12"))
	}
	codes := []events.Code{events.OK, events.NoNode, events.NodeExists, events.NoAuth, events.ConnectionLoss,
		events.NotSent, events.SessionExpired, events.Unimplemented, "MADE_UP"}
	f.Fuzz(func(t *testing.T, recipe string, script []byte) {
		e := engine.New(true, Recipes()...)
		at := int64(time.Second)
		feed := func(to events.ID, ev events.Event) {
			at += int64(time.Millisecond)
			ev.At = at
			e.Step(events.Envelope{To: to, Event: ev})
		}
		feed(events.SessionMachine, events.Event{Kind: events.CommandOpen, Recipe: "session"})
		feed(events.SessionMachine, events.Event{Kind: events.CommandStart, Request: 1})
		feed(events.SessionMachine,
			events.Event{Kind: events.ConnectionAttached, Session: 1, SessionID: 1, Timeout: int64(15 * time.Second)})
		feed("one", events.Event{Kind: events.CommandOpen, Recipe: recipe, Path: "/l", Seed: "5eed"})
		for ; len(script) >= 4; script = script[4:] {
			feed(odd(codes, script, at))
		}
	})
}

// odd returns the event of four bytes: its kind, request, code, and what it contains.
func odd(codes []events.Code, b []byte, at int64) (events.ID, events.Event) {
	kinds := events.Kinds()
	ev := events.Event{Kind: kinds[int(b[0])%len(kinds)], Request: uint64(b[1] & 0x3f),
		Code: codes[int(b[2])%len(codes)], Session: 1, SentAt: at, Work: uint64(b[1] & 7)}
	own := "_c_" + guid("5eed", uint64(b[1]>>6)+1) + "-latch-000000000" + string('0'+b[2]%10)
	if b[3]&1 != 0 {
		ev.Path = "/l/" + own
	}
	if b[3]&2 != 0 {
		ev.Stat = &events.Stat{Czxid: int64(b[2]), EphemeralOwner: int64(b[3] >> 7)}
	}
	if b[3]&4 != 0 {
		ev.Children = []string{own, "latch-0000000005", "latch-5", own}
	}
	if b[3]&8 != 0 {
		ev.Path = "/l/latch-0000000005"
	}
	if b[3]&16 != 0 {
		ev.Session, ev.SessionID, ev.Timeout = int64(b[2]%3), 1, int64(15*time.Second)
	}
	if b[3]&32 != 0 {
		ev.Text = "words"
	}
	if b[3]&64 != 0 {
		return events.SessionMachine, ev
	}
	return "one", ev
}

// logOfOneMachine returns the log of one machine of a recipe that queues in a line and leads.
func logOfOneMachine(f *testing.F, recipe string) []byte {
	var log bytes.Buffer
	w, err := events.NewWriter(&log, events.Header{})
	if err != nil {
		f.Fatal(err)
	}
	e := engine.New(true, Recipes()...)
	at := int64(time.Second)
	feed := func(to events.ID, ev events.Event) {
		at += int64(time.Millisecond)
		ev.At = at
		e.Step(events.Envelope{To: to, Event: ev})
		for _, r := range e.Records() {
			if err := w.Write(r); err != nil {
				f.Fatal(err)
			}
		}
	}
	const id = "one"
	own := &events.Stat{Czxid: 7, EphemeralOwner: 1}
	feed(events.SessionMachine, events.Event{Kind: events.CommandOpen, Recipe: "session"})
	feed(events.SessionMachine, events.Event{Kind: events.CommandStart, Request: 1})
	feed(events.SessionMachine,
		events.Event{Kind: events.ConnectionAttached, Session: 1, SessionID: 1, Timeout: int64(15 * time.Second)})
	feed(id, events.Event{Kind: events.CommandOpen, Recipe: recipe, Path: "/l", Seed: "5eed"})
	feed(id, events.Event{Kind: events.CommandStart, Request: 1})
	feed(id, events.Event{Kind: events.CommandAwait, Request: 2})
	for _, answer := range []events.Event{
		{Kind: events.ReplyCreate, Path: "/l/_c_" + someGUID + "-latch-0000000001", Zxid: 7},
		{Kind: events.ReplyStat, Path: "/l/_c_" + someGUID + "-latch-0000000001", Stat: own},
		{Kind: events.ReplyChildren, Children: []string{"_c_" + someGUID + "-latch-0000000001", "latch-0000000000"}},
		{Kind: events.ReplyStat, Path: "/l/latch-0000000000", Stat: &events.Stat{Czxid: 3, EphemeralOwner: 2}},
		{Kind: events.WatchDeleted, Path: "/l/latch-0000000000"},
	} {
		answer.Session, answer.SentAt = 1, at
		for _, a := range e.Awaits(id) {
			if a.Kind == answer.Kind {
				answer.Request = a.Request
				break
			}
		}
		feed(id, answer)
	}
	feed(events.SessionMachine, events.Event{Kind: events.ConnectionSuspended, Session: 1})
	feed(id, events.Event{Kind: events.CommandClose, Request: 3})
	feed(events.SessionMachine, events.Event{Kind: events.ConnectionLost, Session: 1})
	if err := w.Flush(); err != nil {
		f.Fatal(err)
	}
	return log.Bytes()
}
