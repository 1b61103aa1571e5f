package machines

import (
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// States of producers, in addition to those in states.go.
const (
	measuring engine.State = "measuring" // the number of items in the queue is being read
	putting   engine.State = "putting"   // items are being put
)

// producer puts items into a queue, in the order of the commands. Every put is one multi that also
// sets the producer's own node, the marker, at the version that it had. So a put whose reply was lost
// is sent again, and is carried out once.
type producer struct {
	standalone // path is the queue
	directories
	kind       ItemKind
	seed       string
	markersDir string // the directory of the markers
	bound      int    // maximum of items in the queue; 0: none
	waits      bool   // it waits for room, and does not refuse

	marker       string // the path of the own node
	markerExists bool   // it exists, as far as is known
	markers      uint64 // names that were derived for it
	version      int32  // of its data
	number       int64  // of the last multi; the marker's data are the number

	queue          []batch // batches that are not pending
	sending        []batch // batches that are pending, or may have been carried out
	outcomeUnknown bool    // whether they were is unknown
	singly         int     // how many batches are still to be sent one by one
	looks          int     // reads of a full queue, in a row
	clock          clock
	closing        []uint64
}

// batch is one command: items whose payloads have consecutive numbers.
type batch struct {
	command, payload uint64
	items, bytes     int
	delay            time.Duration
	later            bool   // it is due after delay, by the leader's clock
	namePrefix       string // what the names begin with; "" while that clock is not known
}

// ProducerRecipe makes producers. Path is the queue's. Options: "kind" (of
// ItemKind), "producers" (the directory of the markers), "bound" and "waits",
// "retry". Options of command.put: "items", "bytes", and "priority", "id", "due"
// (milliseconds since 1970) or "delay" (from now, by the leader's clock).
var ProducerRecipe = &engine.RecipeOf[producer]{Named: "producer", Chart: producerChart, Open: newProducer}

var (
	busyPutting = from{marking, measuring, putting, verifying}
	producing   = append(from{idle, full, suspended, pausing}, busyPutting...)
)

func producerChart() (c engine.Chart[producer]) {
	c.Doc = "Puts items into a queue. Each put is one multi, which is carried out once even if it is sent again."
	c.States = described([]engine.StateDoc{
		{Name: idle, Does: "nothing is pending", Doc: "There is nothing to put."},
		{Name: marking, Does: "the producer's own node is being created",
			Doc: "The producer's own node, the marker, is being created, once. If a directory did not exist, all " +
				"that are needed are created first."},
		{Name: measuring, Class: events.ClassBusy, Does: "the items are being counted",
			Doc: "The queue is bounded, so the number of its items is being read."},
		{Name: full, Does: "the queue is full", Doc: "The queue is full. It is read again after a pause."},
		{Name: putting, Class: events.ClassBusy, Does: "the ensemble has not confirmed the put",
			Doc: "A multi is pending that creates items and writes a new version of the marker."},
		{Name: verifying, Does: "the outcome of the put is being read",
			Doc: "A multi that was sent again was refused, mostly because the first had written the marker. The " +
				"marker's data say so. If the marker is gone, the outcome stays unknown."},
		{Name: suspended, Doc: "There is no connection. What was pending is sent again on the next one."},
		{Name: pausing, Doc: "The ensemble could not carry out a request. The next attempt follows after a back-off " +
			"with jitter."},
		{Name: leaving, Doc: "The marker is being deleted."},
		{Name: closed, Doc: "The machine has ended."},
	})
	c.Final = closed
	c.Happy = from{idle, putting}
	c.Kinds = []events.Kind{
		events.CommandPut, events.CommandCancel, events.CommandClose, events.QueueNext,
		events.ReplyCreate, events.ReplyStat, events.ReplyMulti, events.ReplyDelete,
		events.ConnectionAttached, events.ConnectionSuspended, events.ConnectionLost, events.TimerFired,
	}
	c.Rows = slices.Concat(producerRows(), producerPutRows(), producerEndRows())
	c.Ignores = producerIgnores()
	return c
}

// producerRows are the rows of commands, of the marker, and of a queue that may be full.
func producerRows() []engine.Row[producer] {
	return []engine.Row[producer]{
		{From: from{idle}, On: on(events.CommandPut), To: idle, Do: (*producer).enqueue, Then: (*producer).tellNext},
		{From: but(producing, idle), On: on(events.CommandPut), To: engine.Stay, Do: (*producer).enqueue},
		{From: from{leaving}, On: on(events.CommandPut), To: leaving, Do: (*producer).refuseClosed},
		{From: append(from{leaving}, producing...), On: on(events.CommandCancel),
			To: engine.Stay, Do: (*producer).cancel},

		{From: from{idle}, On: on(events.QueueNext), When: (*producer).closedWithoutMarker,
			To: closed, Do: (*producer).end},
		{From: from{idle}, On: on(events.QueueNext), When: (*producer).isClosing,
			To: leaving, Do: (*producer).deleteMarker},
		{From: from{idle}, On: on(events.QueueNext), When: (*producer).nothingToPut, To: idle},
		{From: from{idle}, On: on(events.QueueNext), When: (*producer).detached, To: suspended},
		{From: from{idle}, On: on(events.QueueNext), When: (*producer).markerMissing,
			To: marking, Do: (*producer).createMarker},
		{From: from{idle}, On: on(events.QueueNext), When: (*producer).bounded, To: measuring, Do: (*producer).measure},
		{From: from{idle}, On: on(events.QueueNext), To: putting, Do: (*producer).gather, Then: (*producer).send},

		{From: from{marking}, On: on(events.ReplyCreate), When: (*producer).ofDirectory,
			To: marking, Do: (*producer).noteDirectory},
		{From: from{marking}, On: on(events.ReplyCreate), When: (*producer).markerReady,
			To: idle, Do: (*producer).noteMarker, Then: (*producer).tellNext},
		{From: from{marking}, On: on(events.ReplyCreate), When: (*producer).dirMissing,
			To: marking, Do: (*producer).createWithParents},
		{From: from{marking}, On: on(events.ReplyCreate), When: (*producer).delayed,
			To: pausing, Do: (*producer).failByRootCause},
		{From: from{marking}, On: on(events.ReplyCreate),
			To: idle, Do: (*producer).refuseAll, Then: (*producer).tellNext},

		{From: from{measuring}, On: on(events.ReplyStat), When: (*producer).transient,
			To: pausing, Do: (*producer).failAndBackOff},
		{From: from{measuring}, On: on(events.ReplyStat), When: (*producer).hasRoom,
			To: putting, Do: (*producer).gather, Then: (*producer).send},
		{From: from{measuring}, On: on(events.ReplyStat), When: (*producer).waitsForRoom,
			To: full, Do: (*producer).waitForRoom},
		{From: from{measuring}, On: on(events.ReplyStat),
			To: idle, Do: (*producer).refuseFirst, Then: (*producer).tellNext},
		{From: from{full}, On: on(events.TimerFired), To: measuring, Do: (*producer).measure},
	}
}

// producerPutRows are the rows of a transaction that puts items.
func producerPutRows() []engine.Row[producer] {
	return []engine.Row[producer]{
		{From: from{putting}, On: on(events.ReplyMulti), When: (*producer).carriedOut,
			To: idle, Do: (*producer).succeed, Then: (*producer).tellNext},
		{From: from{putting}, On: on(events.ReplyMulti), When: (*producer).transient,
			To: pausing, Do: (*producer).noteOutcomeUnknown, Then: (*producer).failAndBackOff},
		{From: from{putting}, On: on(events.ReplyMulti), When: (*producer).mayBeCommitted,
			To: verifying, Do: (*producer).verify},
		{From: from{putting}, On: on(events.ReplyMulti), When: (*producer).dirMissing,
			To: marking, Do: (*producer).requeueSending, Then: (*producer).createWithParents},
		{From: from{putting}, On: on(events.ReplyMulti), When: (*producer).markerRewritten,
			To: marking, Do: (*producer).replaceMarker, Then: (*producer).createMarker},
		{From: from{putting}, On: on(events.ReplyMulti), When: (*producer).severalSent,
			To: idle, Do: (*producer).separate, Then: (*producer).tellNext},
		{From: from{putting}, On: on(events.ReplyMulti),
			To: idle, Do: (*producer).refuseSending, Then: (*producer).tellNext},

		{From: from{verifying}, On: on(events.ReplyStat), When: (*producer).markerSaysCommitted,
			To: idle, Do: (*producer).succeed, Then: (*producer).tellNext},
		{From: from{verifying}, On: on(events.ReplyStat), When: (*producer).markerUnchanged,
			To: idle, Do: (*producer).resend, Then: (*producer).tellNext},
		{From: from{verifying}, On: on(events.ReplyStat), When: (*producer).transient,
			To: pausing, Do: (*producer).failAndBackOff},
		{From: from{verifying}, On: on(events.ReplyStat), To: idle, Do: (*producer).giveUp, Then: (*producer).tellNext},
	}
}

// producerEndRows are the rows of the connection, of pauses, and of the end.
func producerEndRows() []engine.Row[producer] {
	return []engine.Row[producer]{
		{From: but(busyPutting, putting), On: on(events.ConnectionSuspended, events.ConnectionLost), To: suspended},
		{From: from{full}, On: on(events.ConnectionSuspended, events.ConnectionLost), To: suspended},
		{From: from{putting}, On: on(events.ConnectionSuspended, events.ConnectionLost),
			To: suspended, Do: (*producer).noteOutcomeUnknown},
		{From: from{leaving}, On: on(events.ConnectionSuspended, events.ConnectionLost),
			To: leaving, Do: (*producer).dropPending},
		{From: from{suspended}, On: on(events.ConnectionAttached), When: (*producer).mayBeCommitted,
			To: putting, Do: (*producer).send},
		{From: from{suspended}, On: on(events.ConnectionAttached), To: idle, Do: (*producer).tellNext},
		{From: from{leaving}, On: on(events.ConnectionAttached, events.TimerFired),
			To: leaving, Do: (*producer).deleteMarker},
		{From: from{pausing}, On: on(events.TimerFired), When: (*producer).detached, To: suspended},
		{From: from{pausing}, On: on(events.TimerFired), When: (*producer).mayBeCommitted,
			To: putting, Do: (*producer).send},
		{From: from{pausing}, On: on(events.TimerFired), To: idle, Do: (*producer).tellNext},

		{From: from{idle}, On: on(events.CommandClose), To: idle, Do: (*producer).close, Then: (*producer).tellNext},
		{From: busyPutting, On: on(events.CommandClose), To: engine.Stay, Do: (*producer).close},
		{From: from{full, suspended, pausing}, On: on(events.CommandClose), When: (*producer).mayHaveMarker,
			To: leaving, Do: (*producer).close, Then: (*producer).deleteMarker},
		{From: from{full, suspended, pausing}, On: on(events.CommandClose),
			To: closed, Do: (*producer).close, Then: (*producer).end},
		{From: from{leaving}, On: on(events.CommandClose), To: leaving, Do: (*producer).close},
		{From: from{leaving}, On: on(events.ReplyDelete), When: (*producer).transient,
			To: leaving, Do: (*producer).failAndBackOff},
		{From: from{leaving}, On: on(events.ReplyDelete), To: closed, Do: (*producer).end},
	}
}

// producerIgnores say which kinds are not needed in which states, and why.
func producerIgnores() []engine.Ignore {
	return []engine.Ignore{
		{In: but(producing, idle), On: []events.Kind{events.QueueNext},
			Why: "a busy producer looks at what is next when it has finished"},
		{In: from{leaving}, On: []events.Kind{events.QueueNext}, Why: "all waiting commands were answered"},
		{In: append(from{leaving}, but(producing, marking)...), On: []events.Kind{events.ReplyCreate},
			Why: "only the state that sent the request waits for it"},
		{In: append(from{idle, full, pausing}, busyPutting...), On: []events.Kind{events.ConnectionAttached},
			Why: "the machine does not wait for a connection"},
		{In: from{idle, suspended, pausing}, On: []events.Kind{events.ConnectionSuspended, events.ConnectionLost},
			Why: "no request is pending on the connection"},
	}
}
