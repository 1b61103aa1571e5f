package machines

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// A member that ends releases each shard when the work on it has returned. The node is deleted after the last one.

// mustRelease reports whether a member that ends, and whose work has not returned, has to write its node.
func (w *shards) mustRelease(ev events.Event) bool {
	return w.ending && w.works > 0 && !w.foreign && ev.Attached && w.exists && w.write == noShardWrite &&
		(w.doubt || w.remaining().encode() != w.data)
}

// release writes the shards that a member that ends still owns. Nothing is read before it.
func (w *shards) release(ev events.Event, out *engine.Outbox) {
	w.drop(ev, out)
	w.write, w.sent = claimingShards, w.remaining().encode()
	out.Multi(events.Op{Verb: "set", Path: w.own, Data: []byte(w.sent), Version: w.version})
}

// noteReleased notes that a member that ends has written its node.
func (w *shards) noteReleased(ev events.Event, out *engine.Outbox) {
	w.noteWritten(ev, out)
	w.doubt = false
	if !w.unhealthy() {
		w.clearFailure(out)
	}
}

// noteDoubted notes that the write whose outcome was unknown was carried out.
func (w *shards) noteDoubted(ev events.Event, out *engine.Outbox) {
	w.doubt, w.version, w.write = false, versionAfter(w.version), noShardWrite
}

// failRelease reports that shards cannot be released for now, and pauses. The write is tried again after that.
func (w *shards) failRelease(ev events.Event, out *engine.Outbox) {
	w.doubt = w.doubt || ev.Code.Unknown()
	w.fail(ev, out)
}

// retryRelease ends the pause.
func (w *shards) retryRelease(ev events.Event, out *engine.Outbox) { w.write = noShardWrite }
