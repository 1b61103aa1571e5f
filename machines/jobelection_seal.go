package machines

import (
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// seal is an ephemeral node beside the marker, made and deleted in one transaction
// with it. Its name is one term's alone. Whoever writes the next marker deletes
// every seal that a listing under the latch shows, in the same transaction: so a
// seal that stands says that no other of this library has led since. Elastic-Job
// does not know it, and writes markers of version 0; ours have 1.
type seal struct {
	sealName string
	sealed   bool // it stood when the directory was listed last, or was made by us since
}

// deleteSeal is release of a marker that somebody else has ended: its seal, which
// goes with the next marker or the session, is left to neither where that can be
// helped.
func (c *jobElection) deleteSeal(out *engine.Outbox) {
	if c.sealed {
		out.With(engine.Unawaited).Delete(c.sealPath())
	}
	c.release(out)
}

// forgetSeal has the seal looked for again: the marker was changed, or the heartbeat
// found that what guards the term is not what it was.
func (c *jobElection) forgetSeal(ev events.Event, out *engine.Outbox) { c.sealed = false }

// noteSeal looks for the own seal in a listing.
func (c *jobElection) noteSeal(ev events.Event, out *engine.Outbox) {
	c.sealed = slices.Contains(ev.Children, c.sealName)
}

func (c *jobElection) sealPath() string { return join(c.ownDir, c.sealName) }

// newSeal makes one under a name that none had before.
func (c *jobElection) newSeal() events.Op {
	c.count++
	c.sealName, c.sealed = sealPrefix+guid(c.seed, c.count), false
	return events.Op{Verb: "create", Path: c.sealPath(), Mode: events.Ephemeral, Data: c.data}
}

// termChecks are the checks that hold only under this term.
func (c *jobElection) termChecks() []events.Op {
	return []events.Op{
		{Verb: "check", Path: c.marker, Version: c.version},
		{Verb: "check", Path: c.sealPath(), Version: -1},
	}
}

// replaceSeal gives the marker that was read another seal. It may be another's by
// now: nothing rests on the seal before both were read again.
func (c *jobElection) replaceSeal(out *engine.Outbox) {
	out.Multi(events.Op{Verb: "check", Path: c.marker, Version: c.version}, c.newSeal())
}
