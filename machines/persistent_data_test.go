package machines

import (
	"testing"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// A backup may bring back an earlier node of the same session, or an earlier state of the node. Its
// data are not those that the machine wrote last.
func TestAPersistentNodeOfABackupIsWrittenAgain(t *testing.T) {
	read := func(czxid int64, version int32) events.Event {
		return events.Event{Kind: events.ReplyStat, Code: events.OK,
			Stat: &events.Stat{Czxid: czxid, Version: version, EphemeralOwner: 7}}
	}
	known := persistent{owner: 7, made: 9, newest: 9, version: 2, payload: 5, asked: 5, written: 5}
	lost := known
	lost.made, lost.unknown, lost.written = 0, true, 4
	for _, c := range []struct {
		name  string
		model persistent
		read  events.Event
		stale bool
	}{
		{"the node as it was written", known, read(9, 2), false},
		{"an earlier state of the node", known, read(9, 1), true},
		{"the node of a create without an answer", lost, read(10, 0), false},
		{"an earlier node, in the place of that", lost, read(9, 2), true},
	} {
		if got := c.model.oursStale(c.read); got != c.stale {
			t.Errorf("%s: written again %v, want %v", c.name, got, c.stale)
		}
	}
}

// A write that had no answer when its session ended may arrive at the node that the next session made:
// that one has the version of the older node, and takes it. The newer data are written again, once.
func TestALateWriteOfAnOlderSessionIsWrittenOver(t *testing.T) {
	read := events.Event{Kind: events.ReplyStat, Code: events.OK,
		Stat: &events.Stat{Czxid: 12, Version: 1, EphemeralOwner: 8}}
	p := &persistent{owner: 7, made: 9, payload: 6, asked: 6, written: 5}
	effects(t, func(out *engine.Outbox) { p.lose(events.Event{}, out) })
	p.owner, p.made, p.newest, p.written = 8, 12, 12, 6 // the next session's create had the newest data
	if !p.oursStale(read) {
		t.Error("the older data stay")
	}
	p.written = 5
	effects(t, func(out *engine.Outbox) { p.noteWritten(events.Event{}, out) })
	if p.oursStale(read) {
		t.Error("what was written in that version is written again")
	}

	quiet := &persistent{owner: 7, made: 9, payload: 6, asked: 6, written: 6}
	effects(t, func(out *engine.Outbox) { quiet.lose(events.Event{}, out) })
	quiet.owner, quiet.made, quiet.newest = 8, 12, 12
	if quiet.oursStale(read) {
		t.Error("what an operator wrote is written over, although no write was pending")
	}
}

// Data that the ensemble refuses are given up: by the error of the call that set them, or to the handle
// if that call's context has ended.
func TestRefusedDataAreNeverGivenUpInSilence(t *testing.T) {
	refuse := func(p *persistent) []events.Effect {
		p.path = "/a"
		return effects(t, func(out *engine.Outbox) { p.giveUpWrite(events.Event{Code: events.NoAuth}, out) })
	}
	waited := refuse(&persistent{payload: 2, asked: 2, sets: []setCommand{{command: 4, payload: 2}}})
	if answers, notices := found[events.Answer](waited), found[events.Notify](waited); len(answers) != 1 ||
		answers[0].Code != events.NoAuth || len(notices) != 0 {
		t.Errorf("the call gets %v, the handle %v", answers, notices)
	}
	alone := refuse(&persistent{payload: 2, asked: 2})
	if notices := found[events.Notify](alone); len(notices) != 1 || notices[0].Code != events.NoAuth ||
		notices[0].Text != "/a" {
		t.Errorf("the handle gets %v", notices)
	}
}

// What the node has may be unknown when newer data are refused. Then it gets again the last data that are
// known, and if those are refused, too, the next attempt follows after a pause.
func TestRefusedDataLeaveDataForTheNextNode(t *testing.T) {
	p := &persistent{owner: 8, made: 12, newest: 12, version: 0, stray: 1, payload: 6, asked: 6, written: 6, before: 6}
	p.payload, p.asked = 7, 7
	p.note(events.Event{Stat: &events.Stat{Czxid: 12, Version: 1, EphemeralOwner: 8}},
		new(engine.Outbox)) // a late write has changed the node
	if p.written != 0 {
		t.Fatalf("the node has %d", p.written)
	}
	if p.noOtherData(events.Event{}) {
		t.Error("the newest data are not given up")
	}
	effects(t, func(out *engine.Outbox) { p.giveUpWrite(events.Event{Code: events.NoAuth}, out) })
	if p.payload != 6 {
		t.Errorf("after the refusal of 7 the next node gets %d, want 6", p.payload)
	}
	effects(t, func(out *engine.Outbox) { p.write(events.Event{}, out) })
	if !p.noOtherData(events.Event{}) {
		t.Error("the same data are written again at once")
	}
}
