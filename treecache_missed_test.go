package incumbent

import (
	"testing"

	"github.com/incumbent-go/incumbent/events"
)

// Changes say that there was an outage from its beginning until all has been read after it,
// and no longer. A failure to read is no outage.
func TestChangesOfATreeNameTheOutageTheyFollow(t *testing.T) {
	p := newCacheWithoutMachine()
	f := newFeed[TreeChange](p.machine.client)
	fine(t, p.addReader(f))
	defer f.close()
	for i, step := range []struct {
		happens func()
		kind    TreeChangeKind
		outage  bool
	}{
		{func() { p.reads("/t", false) }, NodeAdded, false},
		{func() { p.onNotice(events.Notify{What: events.Settled}) }, TreeReady, false},
		{func() { p.reads("/t", false) }, NodeChanged, false},
		{func() { p.onNotice(events.Notify{What: events.Stale, Code: events.ConnectionLoss}) }, TreeStale, false},
		{func() { p.reads("/t", false) }, NodeChanged, true},
		{func() { p.reads("/t/a", false) }, NodeAdded, true},
		{func() { p.goes("/t/a") }, NodeRemoved, true},
		{func() { p.onNotice(events.Notify{What: events.Settled}) }, TreeReady, true},
		{func() { p.reads("/t", false) }, NodeChanged, false},
		{func() { p.reads("/t/b", false) }, NodeAdded, false},
		{func() { p.goes("/t/b") }, NodeRemoved, false},
		{func() { p.onNotice(events.Notify{What: events.Stale, Code: events.Throttled}) }, TreeStale, false},
		{func() { p.reads("/t", false) }, NodeChanged, false},
		{func() { p.onNotice(events.Notify{What: events.Settled}) }, TreeReady, false},
	} {
		step.happens()
		item, ok := f.next(t.Context())
		if got := item.value; !ok || got.Kind != step.kind || got.Missed.Outage != step.outage {
			t.Errorf("step %d: the change is %v, of an outage %t, want %v and %t", i, got.Kind, got.Missed.Outage, step.kind, step.outage)
		}
	}
}
