package zkio

import (
	"encoding/binary"
	"slices"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/jute"
)

// A server whose watch events name their transaction is ZooKeeper 3.9 or later, and keeps
// watches of different modes apart: there a recursive watch and others on its path do not
// harm each other. Before such an event, and on the next connection, zkio does not know.
func TestServersThatKeepWatchesApart(t *testing.T) {
	var posted []events.Kind
	a := &Adapter{coding: coding{cfg: Config{Lag: func() time.Duration { return 0 },
		Post: func(e events.Envelope) { posted = append(posted, e.Event.Kind) }}}}
	s := &session{a: a, number: 1, lanes: lanes{window: 64}, pending: map[int32]*call{}, callers: callers{},
		watches: watches{trees: treeWatches{}}}
	event := func(w *wire, zxid int64) {
		b := binary.BigEndian.AppendUint32(nil, 3)
		b = frame(b).Int32(3).Text("/t")
		if _, err := s.process(w, answer{xid: xidWatchEvent, zxid: zxid, body: jute.Decoder{Rest: b}}); err != nil {
			t.Fatal(err)
		}
	}
	one := func(id events.ID, watch watchKind, r events.Request) *call {
		return &call{a: &a.coding, id: id, path: "/t", watch: watch, request: r}
	}
	for _, c := range []struct {
		name  string
		zxids []int64
		apart bool
	}{{"no event", nil, false}, {"events before 3.9", []int64{-1, 0}, false}, {"an event of 3.9", []int64{7}, true},
		{"then one without", []int64{7, -1}, true}} {
		w := &wire{}
		w.contacts.note(0, 0)
		for _, zxid := range c.zxids {
			event(w, zxid)
		}
		posted = nil
		s.watches = watches{trees: treeWatches{}}
		tree := one("treecache-1", treeWatch, events.AddWatch{Path: "/t"})
		s.watches.subscribe(tree)
		s.watches.settle(tree, events.OK)
		get := one("latch-1", dataWatch, events.Get{Path: "/t", Watch: true})
		s.noteSent(w, get, 1, 0)
		s.watches.settle(get, events.OK)
		if replaced := slices.Contains(posted, events.WatchReplaced); replaced == c.apart {
			t.Errorf("%s: a watch on the path replaces the recursive one: %t", c.name, replaced)
		}
		s.lanes.inFlight[normal]++
		if refused := s.withheld(w, one("treecache-2", treeWatch, events.AddWatch{Path: "/t"})); refused == c.apart {
			t.Errorf("%s: a recursive watch is refused because of another: %t", c.name, refused)
		}
	}
}
