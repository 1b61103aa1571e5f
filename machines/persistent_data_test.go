package machines

import (
	"testing"

	"github.com/incumbent-go/incumbent/events"
)

// A backup may bring back an earlier node of the same session, or an earlier state of the node. Its
// data are not those that the machine wrote last.
func TestAPersistentNodeOfABackupIsWrittenAgain(t *testing.T) {
	read := func(czxid int64, version int32) events.Event {
		return events.Event{Kind: events.ReplyStat, Code: events.OK, Stat: &events.Stat{Czxid: czxid, Version: version, EphemeralOwner: 7}}
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
