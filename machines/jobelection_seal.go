package machines

import (
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// seal is an ephemeral node in the marker's directory, created and deleted in one transaction with the
// marker. Its name belongs to one term. The transaction that writes the next marker deletes every seal
// that a listing under the latch shows. So while a seal exists, no other instance with this library
// has led since. Elastic-Job does not know seals, and writes markers of version 0; ours have 1.
type seal struct {
	sealName string
	sealed   bool // the seal was in the last listing, or was created since
}

// deleteSeal forgets a marker that somebody else has deleted, and deletes its seal. Otherwise the seal
// would remain until the next marker is written or the session ends.
func (c *jobElection) deleteSeal(out *engine.Outbox) {
	if c.sealed {
		out.With(engine.Unawaited).Delete(c.sealPath())
	}
	c.release(out)
}

// forgetSeal makes the machine look for the seal again: the marker was changed, or the heartbeat found
// that the guards of the term do not hold.
func (c *jobElection) forgetSeal(ev events.Event, out *engine.Outbox) { c.sealed = false }

// noteSeal notes whether a listing shows the own seal.
func (c *jobElection) noteSeal(ev events.Event, out *engine.Outbox) {
	c.sealed = slices.Contains(ev.Children, c.sealName)
}

// sealPath returns the path of the own seal.
func (c *jobElection) sealPath() string { return join(c.ownDir, c.sealName) }

// newSeal returns the create of a seal under a new name.
func (c *jobElection) newSeal() events.Op {
	c.count++
	c.sealName, c.sealed = sealPrefix+guid(c.seed, uint64(c.count)), false
	return events.Op{Verb: "create", Path: c.sealPath(), Mode: events.Ephemeral, Data: c.data}
}

// termChecks returns the checks that succeed only during this term.
func (c *jobElection) termChecks() []events.Op {
	return []events.Op{
		{Verb: "check", Path: c.marker, Version: c.version},
		{Verb: "check", Path: c.sealPath(), Version: -1},
	}
}

// replaceSeal gives the marker that was read another seal. The marker may be another instance's by
// now, so nothing depends on the seal before both were read again.
func (c *jobElection) replaceSeal(out *engine.Outbox) {
	out.Multi(events.Op{Verb: "check", Path: c.marker, Version: c.version}, c.newSeal())
}
