package machines

import (
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// States of requests, in addition to those in states.go.
const (
	preparing  engine.State = "preparing"  // missing parents are being created, before an unprotected create
	asking     engine.State = "asking"     // the request is pending
	tracing    engine.State = "tracing"    // a protected node is looked for by its GUID
	discarding engine.State = "discarding" // a protected node that the caller has given up is looked for and deleted
)

var (
	requestNotAsking = from{reading, listing, preparing, tracing, suspended, pausing, discarding}
	requestStates    = append(from{asking}, requestNotAsking...)
)

func requestChart() (c engine.Chart[request]) {
	c.Doc = "One read or write of a user. A write is sent at most once. A protected create finds its node by a GUID. " +
		"A write to a participant's node reads it first.\n" +
		"A removal lists a queue, and deletes its items of an id."
	c.States = described([]engine.StateDoc{
		{Name: latent, Doc: "There was no call yet."},
		{Name: reading, Doc: "The node of a participant is being read, behind a check through the quorum. It is " +
			"written if it is still that participant's, in the version that was read."},
		{Name: listing, Class: events.ClassBusy, Does: "no reply has come",
			Doc: "The queue whose items are to be deleted is being listed. They are deleted one after the other."},
		{Name: asking, Class: events.ClassBusy, Does: "no reply has come",
			Doc: "The request is pending; if the parents of a protected node did not exist, their creates are " +
				"pending before it. The end of the connection does not end this state: the answer says whether the " +
				"request was sent."},
		{Name: preparing, Class: events.ClassBusy, Does: "missing parents are being created",
			Doc: "The parents of an unprotected node did not exist. They are being created, as containers if the " +
				"server knows them. The node is created when they exist."},
		{Name: tracing, Class: events.ClassBusy, Does: "the node is being looked for by its GUID",
			Doc: "The protected node is being looked for by its GUID."},
		{Name: suspended, Doc: "There is no connection. What was not sent is sent on the next one, and a read is " +
			"sent again."},
		{Name: pausing, Doc: "The answer does not say whether a protected node was created, or the node could not be " +
			"looked for, or a read was not answered. The next attempt follows after a back-off with jitter."},
		{Name: discarding, Class: events.ClassLeaving, Does: "the node is being deleted",
			Doc: "The call has ended. The node that it may have created is being looked for and deleted."},
		{Name: closed, Doc: "The call was answered."},
	})
	c.Final = closed
	c.Happy = from{latent, asking, closed}
	c.Kinds = []events.Kind{
		events.CommandStart, events.CommandClose,
		events.ReplyCreate, events.ReplyDelete, events.ReplyStat, events.ReplyChildren, events.ReplyMulti,
		events.ReplySync,
		events.ConnectionAttached, events.ConnectionSuspended, events.ConnectionLost, events.TimerFired,
	}
	c.Rows = slices.Concat(requestConditionRows(), requestItemRows(), requestRows(), requestEndRows())
	c.Ignores = requestIgnores()
	return c
}

// requestRows are the rows of a request from the call to its answer.
func requestRows() []engine.Row[request] {
	return []engine.Row[request]{
		{From: from{latent}, On: on(events.CommandStart), When: (*request).attached,
			To: asking, Do: (*request).begin, Then: (*request).ask},
		{From: from{latent}, On: on(events.CommandStart), To: suspended, Do: (*request).begin},
		{From: requestStates, On: on(events.CommandStart), To: engine.Stay, Do: (*request).refuseStart},

		{From: from{asking}, On: on(events.ReplyStat, events.ReplyChildren, events.ReplySync),
			When: (*request).readUnanswered, To: suspended},
		{From: from{asking}, On: on(events.ReplyStat, events.ReplyChildren, events.ReplySync), When: (*request).unknown,
			To: pausing, Do: (*request).failAndBackOff},
		{From: from{asking}, On: on(events.ReplyStat, events.ReplyChildren, events.ReplySync),
			To: closed, Do: (*request).conclude},
		{From: from{asking}, On: on(events.ReplyMulti), When: (*request).unsent, To: suspended},
		{From: from{asking}, On: on(events.ReplyMulti), When: (*request).unknown,
			To: closed, Do: (*request).answerUnknown},
		{From: from{asking}, On: on(events.ReplyMulti), To: closed, Do: (*request).conclude},

		{From: from{asking}, On: on(events.ReplyCreate), When: (*request).ofParent,
			To: asking, Do: (*request).noteParent},
		{From: from{asking}, On: on(events.ReplyCreate), When: (*request).unsent, To: suspended},
		{From: from{asking}, On: on(events.ReplyCreate), When: (*request).protectedUnanswered,
			To: suspended, Do: (*request).noteMayExist},
		{From: from{asking}, On: on(events.ReplyCreate), When: (*request).protectedUnknown,
			To: pausing, Do: (*request).noteMayExist, Then: (*request).failAndBackOff},
		{From: from{asking, preparing}, On: on(events.ReplyCreate), When: (*request).parentsUnknown,
			To: pausing, Do: (*request).failByRootCause},
		{From: from{asking}, On: on(events.ReplyCreate), When: (*request).unknown,
			To: closed, Do: (*request).answerUnknown},
		{From: from{asking}, On: on(events.ReplyCreate), When: (*request).protectedWantsParents,
			To: asking, Do: (*request).createParents, Then: (*request).send},
		{From: from{asking}, On: on(events.ReplyCreate), When: (*request).wantsParents,
			To: preparing, Do: (*request).createParents},
		{From: from{asking}, On: on(events.ReplyCreate), To: closed, Do: (*request).conclude},
		{From: from{reading, listing, tracing, suspended, pausing, discarding}, On: on(events.ReplyCreate),
			To: engine.Stay, Do: (*request).noteAttempt},
		{From: from{preparing}, On: on(events.ReplyCreate), When: (*request).parentsMade,
			To: asking, Do: (*request).ask},
		{From: from{preparing}, On: on(events.ReplyCreate), When: (*request).parentsGone,
			To: preparing, Do: (*request).createParents},
		{From: from{preparing}, On: on(events.ReplyCreate), When: (*request).parentsRefused,
			To: closed, Do: (*request).conclude},
		{From: from{preparing}, On: on(events.ReplyCreate), To: preparing, Do: (*request).noteParentPreparing},

		{From: from{tracing, discarding}, On: on(events.ReplyMulti), When: (*request).transient,
			To: pausing, Do: (*request).failAndBackOff},
		{From: from{tracing, discarding}, On: on(events.ReplyMulti), To: engine.Stay},
		{From: from{tracing}, On: on(events.ReplyChildren), When: (*request).nodeListed,
			To: closed, Do: (*request).adopt},
		{From: from{tracing}, On: on(events.ReplyChildren), When: (*request).transient,
			To: pausing, Do: (*request).failAndBackOff},
		{From: from{tracing}, On: on(events.ReplyChildren), When: (*request).denied,
			To: closed, Do: (*request).answerUnknown},
		{From: from{tracing}, On: on(events.ReplyChildren), When: (*request).otherSession,
			To: closed, Do: (*request).expire},
		{From: from{tracing}, On: on(events.ReplyChildren), To: asking, Do: (*request).ask},
		{From: from{discarding}, On: on(events.ReplyChildren), When: (*request).nodeListed,
			To: discarding, Do: (*request).discard},
		{From: from{discarding}, On: on(events.ReplyChildren, events.ReplyDelete), When: (*request).denied,
			To: pausing, Do: (*request).failAndBackOff},
		{From: from{discarding}, On: on(events.ReplyChildren, events.ReplyDelete), To: closed, Do: (*request).end},
	}
}

// requestEndRows are the rows of a request when a connection, a session or the call ends, and of its next attempt.
func requestEndRows() []engine.Row[request] {
	return []engine.Row[request]{
		{From: from{reading, listing, preparing, tracing, discarding, pausing}, On: on(events.ConnectionSuspended),
			To: suspended},
		{From: from{asking}, On: on(events.ConnectionLost), When: (*request).reads, To: suspended},
		{From: from{asking}, On: on(events.ConnectionLost), When: (*request).outlivesSession,
			To: suspended, Do: (*request).noteMayExist},
		{From: from{asking}, On: on(events.ConnectionLost), When: (*request).isProtected,
			To: closed, Do: (*request).expire},
		{From: from{asking}, On: on(events.ConnectionLost), To: closed, Do: (*request).answerUnknown},
		{From: requestNotAsking, On: on(events.ConnectionLost), When: (*request).survivesSession, To: suspended},
		{From: requestNotAsking, On: on(events.ConnectionLost), To: closed, Do: (*request).expire},
		{From: from{suspended}, On: on(events.ConnectionAttached), When: (*request).isAbandoned,
			To: discarding, Do: (*request).listParent},
		{From: from{suspended}, On: on(events.ConnectionAttached), When: (*request).mustTrace,
			To: tracing, Do: (*request).listParent},
		{From: from{suspended}, On: on(events.ConnectionAttached), To: asking, Do: (*request).ask},
		{From: from{pausing}, On: on(events.TimerFired), When: (*request).isAbandoned,
			To: discarding, Do: (*request).listParent},
		{From: from{pausing}, On: on(events.TimerFired), When: (*request).mustTrace,
			To: tracing, Do: (*request).listParent},
		{From: from{pausing}, On: on(events.TimerFired), To: asking, Do: (*request).ask},

		{From: from{asking}, On: on(events.CommandClose), When: (*request).isProtected,
			To: discarding, Do: (*request).abandon, Then: (*request).listParent},
		{From: from{asking}, On: on(events.CommandClose), When: (*request).reads,
			To: closed, Do: (*request).noteClose, Then: (*request).withdraw},
		{From: from{asking}, On: on(events.CommandClose),
			To: closed, Do: (*request).noteClose, Then: (*request).answerUnknown},
		{From: from{tracing}, On: on(events.CommandClose),
			To: discarding, Do: (*request).abandon, Then: (*request).listParent},
		{From: from{suspended, pausing}, On: on(events.CommandClose), When: (*request).mustTrace,
			To: engine.Stay, Do: (*request).abandon},
		{From: from{latent, reading, listing, preparing, suspended, pausing}, On: on(events.CommandClose),
			To: closed, Do: (*request).noteClose, Then: (*request).withdraw},
		{From: from{discarding}, On: on(events.CommandClose), To: discarding, Do: (*request).noteClose},
	}
}

// requestIgnores say which kinds are not needed in which states, and why.
func requestIgnores() []engine.Ignore {
	return []engine.Ignore{
		{In: from{latent}, On: []events.Kind{events.ReplyCreate, events.ConnectionAttached, events.ConnectionSuspended,
			events.ConnectionLost},
			Why: "there was no call yet"},
		{In: from{asking}, On: []events.Kind{events.ConnectionSuspended, events.ConnectionAttached},
			Why: "the answer, which always comes, says whether the request was sent"},
		{In: from{reading, listing, preparing, tracing, discarding, pausing},
			On:  []events.Kind{events.ConnectionAttached},
			Why: "a connection ends, through suspended, before the next begins"},
		{In: from{suspended}, On: []events.Kind{events.ConnectionSuspended}, Why: "there is no connection to lose"},
	}
}
