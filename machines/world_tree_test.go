package machines

import (
	"slices"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/worlds/oneserver"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// others is the session of all other clients.
const others = 1000

// carryOut has the server deal with a request, and arms the watch that it asks for.
func (w *world) carryOut(r asked) events.Event {
	if !w.calm && w.dice.Intn(60) == 0 {
		return events.Event{Code: []events.Code{events.NoAuth, events.Throttled}[w.dice.Intn(2)]}
	}
	if w.writes != nil {
		w.writes(r.r)
	}
	ev, changes := w.server.Do(w.number, r.r)
	if w.wrote != nil && len(changes) > 0 {
		w.wrote(r.r)
	}
	w.tell(changes)
	switch e := r.r.(type) {
	case events.Get:
		w.arm(zkmem.DataWatch, e.Path, r.from, e.Watch && ev.Code == events.OK)
		if e.Data && ev.Code == events.OK && ev.Stat.EphemeralOwner != 0 && w.dice.Intn(3) == 0 {
			ev.Data = []byte(Revoke)
		}
	case events.Exists:
		w.arm(zkmem.DataWatch, e.Path, r.from, e.Watch)
	case events.Children:
		w.arm(zkmem.ChildWatch, e.Path, r.from, e.Watch && ev.Code == events.OK)
	}
	return ev
}

func (w *world) arm(kind zkmem.WatchKind, path string, id events.ID, watch bool) {
	if watch {
		w.watches.Add(kind, path, id)
	}
}

// tell tells those who watch, or will hear of it when they are connected again.
func (w *world) tell(all []zkmem.Event) {
	for _, e := range all {
		for _, id := range w.watches.Fire(e) {
			w.post(id, events.Event{Kind: oneserver.Kind(e.Type), Session: w.number, Path: e.Path})
		}
	}
}

// put has somebody make a node; owner is a session, or 0.
func (w *world) put(path string, owner int64) {
	_, told := w.server.Put(path, modeOf(owner, zkmem.Ephemeral, zkmem.Persistent), owner)
	w.tell(told)
}

// place has somebody stand in a line.
func (w *world) place(prefix string, owner int64) {
	_, told := w.server.Put(prefix, modeOf(owner, zkmem.EphemeralSequential, zkmem.PersistentSequential), owner)
	w.tell(told)
}

func modeOf(owner int64, owned, free zkmem.Mode) zkmem.Mode {
	if owner != 0 {
		return owned
	}
	return free
}

func (w *world) set(path string) { w.tell(w.server.Set(path)) }

func (w *world) remove(path string) { w.tell(w.server.Delete(path)) }

// removeAll has an operator delete everything.
func (w *world) removeAll() {
	for _, path := range slices.Backward(w.server.Paths()) {
		w.remove(path)
	}
}

func (w *world) stat(path string) *events.Stat { return w.server.Stat(path) }

// expire ends the session at the server; its nodes go at once or later.
func (w *world) expire() {
	w.alive = false
	w.watches = zkmem.NewWatches[events.ID](zkmem.Release38)
	if w.calm || w.dice.Intn(2) == 0 {
		w.reap()
	}
}

// reap removes the nodes of sessions that are over.
func (w *world) reap() {
	for _, session := range w.server.Sessions() {
		if session != others && (session != w.number || !w.alive) {
			w.tell(w.server.End(session))
		}
	}
}
