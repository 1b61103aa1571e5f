package machines

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// The maximum of items and bytes in one multi, unless one command has more.
const (
	maxItems = 100
	maxBytes = 512 << 10
)

// roomPolicy sets the pauses between reads of a full queue.
var roomPolicy = BoundedExponential(-1, 50*time.Millisecond, time.Second)

func newProducer(open events.Event) (*producer, error) {
	o := optionsOf(open)
	p := &producer{standalone: newStandalone(open, &o), kind: o.kind(), seed: open.Seed,
		bound: o.integer(OptionBound, 0), waits: o.flag(OptionWaits),
		markersDir: o.text(OptionProducers, ProducersOf(open.Path))}
	p.dirs = []string{p.path, p.markersDir}
	return p, o.check()
}

// batch returns the batch of a command.
func (p *producer) batch(ev events.Event) (batch, error) {
	o := optionsOf(ev)
	o.recipe = "put"
	b := batch{command: ev.Request, payload: ev.Work, items: o.integer(OptionItems, 1),
		bytes: o.integer(OptionBytes, 0)}
	var rank int64
	var id string
	switch p.kind {
	case ByPriority:
		rank = o.number(OptionPriority)
	case ByDue:
		b.delay, b.later, rank = o.duration(OptionDelay, 0), ev.Options[OptionDelay] != "", o.number(OptionDue)
	case ByID:
		id = o.text(OptionID, "")
	}
	if !b.later {
		b.namePrefix = p.kind.namePrefix(rank, id)
	}
	if b.items < 1 || rank < 0 && p.kind == ByDue {
		return b, fmt.Errorf("a put of %d items, due at %d: want at least 1 item, due at 0 or later", b.items, rank)
	}
	return b, o.check()
}

// enqueue adds the batch of a command to those that wait.
func (p *producer) enqueue(ev events.Event, out *engine.Outbox) {
	b, err := p.batch(ev)
	if err != nil {
		out.Answer(ev.Request, events.BadArguments, err.Error())
		return
	}
	p.queue = append(p.queue, b)
}

// tellNext makes the machine look at what is next.
func (p *producer) tellNext(ev events.Event, out *engine.Outbox) {
	out.Tell(events.ID(p.id), events.Event{Kind: events.QueueNext})
}

func (p *producer) refuseClosed(ev events.Event, out *engine.Outbox) {
	out.Answer(ev.Request, events.Closed, "")
}

// cancel cancels a put that is not pending. One that is pending goes on. The cancel's own answer comes
// behind that of the put, if the put has been answered.
func (p *producer) cancel(ev events.Event, out *engine.Outbox) {
	p.queue = slices.DeleteFunc(p.queue, func(b batch) bool {
		if b.command == ev.Work {
			out.Answer(b.command, events.Cancelled, "")
		}
		return b.command == ev.Work
	})
	if ev.Request != 0 {
		out.Answer(ev.Request, events.OK, "")
	}
}

// Guards that decide what is next.

func (p *producer) closedWithoutMarker(events.Event) bool {
	return len(p.closing) > 0 && p.marker == ""
}
func (p *producer) isClosing(events.Event) bool      { return len(p.closing) > 0 }
func (p *producer) nothingToPut(events.Event) bool   { return len(p.queue)+len(p.sending) == 0 }
func (p *producer) markerMissing(events.Event) bool  { return !p.markerExists }
func (p *producer) bounded(events.Event) bool        { return p.bound > 0 && len(p.sending) == 0 }
func (p *producer) mayHaveMarker(events.Event) bool  { return p.marker != "" }
func (p *producer) mayBeCommitted(events.Event) bool { return p.outcomeUnknown }

// markerReady reports whether the marker was created, now or before. Items also need all directories.
func (p *producer) markerReady(ev events.Event) bool { return createdOrThere(p.rootCause(ev)) }

// delayed reports whether the create of the marker or a directory may succeed later.
func (p *producer) delayed(ev events.Event) bool { return p.transient(p.rootCause(ev)) }

// failByRootCause reports a failure with the refused directory as the reason, and pauses before the
// next attempt.
func (p *producer) failByRootCause(ev events.Event, out *engine.Outbox) {
	p.failAndBackOff(p.rootCause(ev), out)
}

// createMarker creates the own node. Its name has a GUID, so no other client creates it.
func (p *producer) createMarker(ev events.Event, out *engine.Outbox) {
	p.resetDirectories()
	p.sendCreate(out)
}

// createWithParents creates all directories, and the own node behind them.
func (p *producer) createWithParents(ev events.Event, out *engine.Outbox) {
	p.makeAll(ev, out)
	p.sendCreate(out)
}

// sendCreate sends the create of the marker.
func (p *producer) sendCreate(out *engine.Outbox) {
	if p.marker == "" {
		p.markers++
		p.marker, p.version = join(p.markersDir, guid(p.seed, p.markers)), 0
	}
	out.Create(events.Op{Path: p.marker, Mode: events.Persistent})
}

// noteMarker notes that the marker exists. If it existed before, its version is known.
func (p *producer) noteMarker(ev events.Event, out *engine.Outbox) {
	p.markerExists = true
	if ev.Code == events.OK {
		p.version = 0
	}
	p.clearFailure(out)
}

// measure reads how many items there are.
func (p *producer) measure(ev events.Event, out *engine.Outbox) { out.Exists(p.path) }

// room returns how many items the queue may take, according to the last read.
func (p *producer) room(ev events.Event) int {
	switch {
	case ev.Kind != events.ReplyStat:
		return maxItems
	case ev.Stat == nil:
		return p.bound
	}
	return p.bound - int(ev.Stat.NumChildren)
}

// hasRoom reports whether the next items fit into the queue.
func (p *producer) hasRoom(ev events.Event) bool {
	return len(p.queue) == 0 || (ev.Code == events.OK || ev.Code == events.NoNode) && p.room(ev) >= p.queue[0].items
}

// waitsForRoom reports whether the producer waits for room.
func (p *producer) waitsForRoom(ev events.Event) bool { return ev.Code == events.OK && p.waits }

// waitForRoom starts a pause, which is longer each time.
func (p *producer) waitForRoom(ev events.Event, out *engine.Outbox) {
	wait, _ := roomPolicy.Next(p.looks, 0, p.jitter.next())
	p.looks++
	out.Timer(roomTimer, wait)
}

// gather takes the batches of the next multi. If a delay is to be counted from a time that is not
// known yet, there are none: that multi asks for the time.
func (p *producer) gather(ev events.Event, out *engine.Outbox) {
	if len(p.sending) > 0 {
		return
	}
	items, bytes, most := 0, 0, min(p.room(ev), maxItems)
	for len(p.queue) > 0 {
		b := p.queue[0]
		if b.later && !p.clock.fresh(ev.At) {
			return
		}
		items, bytes = items+b.items, bytes+b.bytes
		if len(p.sending) > 0 && (p.singly > 0 || items > most || bytes > maxBytes) {
			return
		}
		if b.later {
			b.namePrefix = p.kind.namePrefix(p.clock.most(ev.At)+b.delay.Milliseconds(), "")
		}
		p.sending, p.queue = append(p.sending, b), p.queue[1:]
	}
}

// severalSent reports whether several puts are in the multi: which of them was refused is not known.
func (p *producer) severalSent(ev events.Event) bool { return len(p.sending) > 1 }

// separate queues the pending puts again, to be sent one by one.
func (p *producer) separate(ev events.Event, out *engine.Outbox) {
	p.singly = len(p.sending)
	p.queue, p.sending = append(p.sending, p.queue...), nil
}

// send sends the multi, with the marker's next version: when the same multi is sent again, it finds
// that version taken.
func (p *producer) send(ev events.Event, out *engine.Outbox) {
	if !p.outcomeUnknown {
		p.number++
		p.singly = max(0, p.singly-len(p.sending))
	}
	ops := []events.Op{{Verb: "set", Path: p.marker, Version: p.version, Data: strconv.AppendInt(nil, p.number, 10)}}
	for _, b := range p.sending {
		for i := range b.items {
			ops = append(ops, events.Op{Verb: "create", Path: join(p.path, b.namePrefix),
				Mode: events.PersistentSequential, Payload: b.payload + uint64(i)})
		}
	}
	out.Multi(ops...)
}

// carriedOut reports whether the multi was committed.
func (p *producer) carriedOut(ev events.Event) bool { return ev.Code == events.OK }

// verify reads the marker, to see which multi wrote it last.
func (p *producer) verify(ev events.Event, out *engine.Outbox) {
	out.With(engine.Unawaited).Sync(p.marker)
	out.With(engine.Data).Get(p.marker)
}

// markerSaysCommitted reports whether the marker shows that the last multi was carried out, and
// nothing since.
func (p *producer) markerSaysCommitted(ev events.Event) bool {
	return ev.Code == events.OK && string(ev.Data) == strconv.FormatInt(p.number, 10) && ev.Stat != nil &&
		ev.Stat.Version == p.version+1
}

// markerUnchanged reports whether the marker has not been written since: nothing was carried out.
func (p *producer) markerUnchanged(ev events.Event) bool {
	return ev.Code == events.OK && ev.Stat != nil && ev.Stat.Version == p.version
}

// resend sends what was pending once more: it was not carried out.
func (p *producer) resend(ev events.Event, out *engine.Outbox) { p.outcomeUnknown = false }

// markerRewritten reports whether another client has written the marker.
func (p *producer) markerRewritten(ev events.Event) bool { return ev.Code == events.BadVersion }

// succeed answers the puts that were carried out.
func (p *producer) succeed(ev events.Event, out *engine.Outbox) {
	p.version++
	if ev.Kind == events.ReplyMulti {
		p.clock.note(ev)
	}
	p.resetDirectories()
	p.looks = 0
	p.answer(events.OK, "", out)
	p.clearFailure(out)
}

// answer answers the pending puts.
func (p *producer) answer(code events.Code, text string, out *engine.Outbox) {
	for _, b := range p.sending {
		out.Answer(b.command, code, text)
	}
	p.sending, p.outcomeUnknown = nil, false
}

// noteOutcomeUnknown notes that the outcome of the pending multi is unknown.
func (p *producer) noteOutcomeUnknown(ev events.Event, out *engine.Outbox) {
	p.outcomeUnknown = p.outcomeUnknown || ev.Code.Unknown() || ev.Kind != events.ReplyMulti
	p.clock = clock{}
}

// giveUp answers that the outcome is unknown, because the marker cannot say it. The next put has
// another marker.
func (p *producer) giveUp(ev events.Event, out *engine.Outbox) {
	p.answer(events.OutcomeUnknown, p.path, out)
	p.replaceMarker(ev, out)
}

// requeueSending queues the pending puts again: nothing of the multi was carried out.
func (p *producer) requeueSending(ev events.Event, out *engine.Outbox) {
	p.queue, p.sending, p.markerExists = append(p.sending, p.queue...), nil, false
}

// replaceMarker queues the pending puts again, to be sent with another marker, and deletes the old
// one.
func (p *producer) replaceMarker(ev events.Event, out *engine.Outbox) {
	p.requeueSending(ev, out)
	out.With(engine.Unawaited).Delete(p.marker)
	p.marker = ""
}

// refuseSending answers the pending puts with the ensemble's code. If a name with a new number exists
// already, the counter has passed its end.
func (p *producer) refuseSending(ev events.Event, out *engine.Outbox) {
	p.resetDirectories()
	code := ev.Code
	if code == events.NodeExists {
		code = events.CounterEnd
	}
	p.answer(code, strings.TrimSpace(p.path+" "+ev.Text), out)
}

// refuseFirst refuses the put that does not fit, or whose room cannot be read.
func (p *producer) refuseFirst(ev events.Event, out *engine.Outbox) {
	code := ev.Code
	if code == events.OK {
		code = events.QueueFull
	}
	out.Answer(p.queue[0].command, code, p.path)
	p.queue = p.queue[1:]
}

// refuseAll answers all waiting puts with the failure.
func (p *producer) refuseAll(ev events.Event, out *engine.Outbox) {
	ev = p.rootCause(ev)
	p.resetDirectories()
	p.refuseQueued(ev.Code, ev.Path, out)
}

func (p *producer) refuseQueued(code events.Code, text string, out *engine.Outbox) {
	for _, b := range p.queue {
		out.Answer(b.command, code, text)
	}
	p.queue = nil
}

// close refuses all puts that are not pending. Pending ones are answered when their outcome is known.
func (p *producer) close(ev events.Event, out *engine.Outbox) {
	p.closing = append(p.closing, ev.Request)
	p.refuseQueued(events.Closed, "", out)
}

// deleteMarker deletes the marker. From here on, nothing can say whether a put with an unknown outcome
// was carried out.
func (p *producer) deleteMarker(ev events.Event, out *engine.Outbox) {
	p.answer(events.OutcomeUnknown, p.path, out)
	if ev.Attached {
		out.DropPending()
		out.Delete(p.marker)
	}
}

func (p *producer) dropPending(ev events.Event, out *engine.Outbox) { out.DropPending() }

// end answers the commands that closed the producer, and a put that was queued again after the close.
func (p *producer) end(ev events.Event, out *engine.Outbox) {
	p.refuseQueued(events.Closed, "", out)
	for _, c := range p.closing {
		out.Answer(c, events.OK, "")
	}
}

// kind reads the option of producers and consumers.
func (o *options) kind() ItemKind {
	return option(o, OptionKind, FIFO, func(s string) (ItemKind, error) {
		switch k := ItemKind(s); k {
		case FIFO, ByPriority, ByDue, ByID:
			return k, nil
		}
		return "", strconv.ErrSyntax
	})
}
