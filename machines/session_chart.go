package machines

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

type from = []engine.State

// on returns the kinds on which a row fires. It is a variable, because engine.On notes the line that
// calls it.
var on = engine.On

func sessionChart() (c engine.Chart[session]) {
	c.Doc = "The connection: ZooKeeper sessions one after another, the heartbeats, and the deadline of belief."
	c.States = described([]engine.StateDoc{
		{Name: offline, Class: events.ClassLatent, Does: "nothing was asked yet", Doc: "Not asked to connect yet."},
		{Name: connecting, Class: events.ClassBusy, Does: "no server has confirmed the session",
			Doc: "No server has confirmed this session yet."},
		{Name: connected, Class: events.ClassActive, Does: "a server has confirmed the session",
			Doc: "A server has confirmed the session; requests go out. Heartbeats are sent while a machine leads " +
				"or is next in line."},
		{Name: suspended, Doc: "The connection has ended; the session and its nodes may still exist."},
		{Name: lost, Class: events.ClassBlocked, Does: "the connection was lost for a session timeout",
			Doc: "No server for the whole session timeout: users were notified of LOST. The session may turn out " +
				"to exist still."},
		{Name: resting, Class: events.ClassIdle, Does: "the session has ended, and the next one follows",
			Doc: "The session has ended. The next one, with the next number, begins after a pause."},
		{Name: ending, Class: events.ClassLeaving, Does: "the session is being closed",
			Doc: "closeSession is pending."},
		{Name: closed, Doc: "The machine has ended."},
	})
	c.Final = closed
	c.Composites = []engine.Composite{
		{Name: "CONNECTED", States: from{connected}},
		{Name: "SUSPENDED", States: from{suspended}},
		{Name: "LOST", States: from{lost, resting}},
	}
	c.Happy = from{offline, connecting, connected, ending, closed}
	c.Kinds = []events.Kind{
		events.CommandStart, events.CommandClose, events.CommandEndSession,
		events.ConnectionAttached, events.ConnectionRefused, events.ConnectionSuspended, events.ConnectionLost,
		events.ConnectionClosed, events.ConnectionConfirmed, events.HeartbeatWanted, events.HeartbeatUnneeded,
		events.ConfirmationWanted, events.NotServed, events.BeliefLapsed, events.ContainersUnknown, events.NodeReadBack,
		events.ReplySync, events.ReplyMulti, events.ReplyStat, events.TimerFired,
	}
	c.Rows = sessionRows()
	c.Ignores = sessionIgnores()
	return c
}

// sessionRows are the rows of the session machine.
func sessionRows() []engine.Row[session] {
	return []engine.Row[session]{
		{From: from{offline}, On: on(events.CommandStart), To: connecting, Do: (*session).connect},
		{From: from{connecting}, On: on(events.ConnectionAttached), To: connected, Do: (*session).attach},
		{From: from{connecting, suspended, lost}, On: on(events.ConnectionRefused),
			To: engine.Stay, Do: (*session).report},

		{From: from{connected}, On: on(events.ConnectionSuspended), To: suspended, Do: (*session).suspend},
		{From: from{suspended, lost}, On: on(events.ConnectionAttached), To: connected, Do: (*session).attach},
		{From: from{suspended}, On: on(events.TimerFired), When: (*session).timedOut, To: lost, Do: (*session).giveUp},

		{From: from{connecting, connected, suspended, lost}, On: on(events.ConnectionLost),
			To: resting, Do: (*session).lose},
		{From: from{connected}, On: on(events.CommandEndSession), To: ending, Do: (*session).endSession},
		{From: from{ending}, On: on(events.ConnectionClosed, events.ConnectionLost), When: (*session).beginsAnother,
			To: resting, Do: (*session).lose},
		{From: from{resting}, On: on(events.TimerFired), To: connecting, Do: (*session).connect},

		{From: from{connected}, On: on(events.ReplySync), When: (*session).idleUncounted,
			To: connected, Do: (*session).settleIdle},
		{From: from{connected}, On: on(events.ReplySync), When: (*session).answersIdle,
			To: connected, Do: (*session).hearLeader},
		{From: from{connected}, On: on(events.ConnectionConfirmed, events.ReplySync, events.ReplyMulti),
			When: (*session).uncounted, To: connected, Do: (*session).settle},
		{From: from{connected}, On: on(events.ConnectionConfirmed, events.ReplySync, events.ReplyMulti),
			When: (*session).late, To: connected, Do: (*session).renew},
		{From: from{connected}, On: on(events.ConnectionConfirmed), To: connected, Do: (*session).extendBelief},
		{From: from{connected}, On: on(events.ReplySync, events.ReplyMulti), When: (*session).confirming,
			To: connected, Do: (*session).extendBelief},
		{From: from{connected}, On: on(events.ReplySync, events.ReplyMulti),
			To: connected, Do: (*session).noteMissedHeartbeat},
		{From: from{connected}, On: on(events.ReplyStat), When: (*session).nodeReplaced,
			To: connected, Do: (*session).endVerifying, Then: (*session).tellNodeGone},
		{From: from{connected}, On: on(events.ReplyStat), To: connected, Do: (*session).endVerifying},
		{From: from{connected}, On: on(events.TimerFired), When: (*session).idleDue,
			To: connected, Do: (*session).askIdle},
		{From: from{connected}, On: on(events.TimerFired), When: (*session).confirmedByWrite,
			To: connected, Do: (*session).postponeHeartbeat},
		{From: from{connected}, On: on(events.TimerFired), When: (*session).heartbeatDue,
			To: connected, Do: (*session).sendHeartbeat},
		{From: from{connected, suspended}, On: on(events.TimerFired), When: (*session).deadlinePassed,
			To: engine.Stay, Do: (*session).expire},
		{From: from{connected, suspended}, On: on(events.TimerFired), To: engine.Stay, Do: (*session).rearmDeadline},

		{From: from{connected, suspended}, On: on(events.BeliefLapsed), To: engine.Stay, Do: (*session).expire},
		{From: from{connected, suspended, lost}, On: on(events.HeartbeatWanted),
			To: engine.Stay, Do: (*session).addHeartbeat},
		{From: from{connected, suspended, lost, resting, ending}, On: on(events.HeartbeatUnneeded),
			To: engine.Stay, Do: (*session).removeHeartbeat},
		{From: from{connecting, connected, suspended, lost, resting, ending}, On: on(events.ConfirmationWanted),
			To: engine.Stay, Do: (*session).wantConfirmation},
		{From: from{connected}, On: on(events.NotServed),
			To: connected, Do: (*session).noteUnserved, Then: (*session).noteShortGrant},
		{From: from{offline, connecting, connected, suspended, lost, resting, ending}, On: on(events.NodeReadBack),
			To: engine.Stay, Do: (*session).noteReadBack},
		{From: from{connected}, On: on(events.ContainersUnknown), To: connected, Do: (*session).noteContainersUnknown},

		{From: from{connecting, connected, suspended, lost}, On: on(events.CommandClose),
			To: ending, Do: (*session).finish},
		{From: from{offline, resting}, On: on(events.CommandClose), To: closed, Do: (*session).answerClosed},
		{From: from{ending}, On: on(events.CommandClose), When: (*session).beginsAnother,
			To: ending, Do: (*session).closeAfterwards},
		{From: from{ending}, On: on(events.CommandClose), To: ending, Do: (*session).refuseClose},
		{From: from{ending}, On: on(events.ConnectionClosed, events.ConnectionLost),
			To: closed, Do: (*session).answerClosed},
		{From: from{connecting, connected, suspended, lost, resting, ending}, On: on(events.CommandStart),
			To: engine.Stay, Do: (*session).refuseStart},
	}
}

// sessionIgnores say which kinds are not needed in which states, and why.
func sessionIgnores() []engine.Ignore {
	return []engine.Ignore{
		{In: from{offline, resting},
			On: []events.Kind{events.ConnectionAttached, events.ConnectionRefused, events.ConnectionSuspended,
				events.ConnectionLost, events.ConnectionClosed, events.ConnectionConfirmed},
			Why: "there is no session to which it could belong"},
		{In: from{connecting, connected, suspended, lost}, On: []events.Kind{events.ConnectionClosed},
			Why: "no close was requested"},
		{In: from{connecting, suspended, lost}, On: []events.Kind{events.ConnectionSuspended},
			Why: "there is no connection to lose"},
		{In: from{connecting, suspended, lost, ending}, On: []events.Kind{events.ConnectionConfirmed},
			Why: "a confirmation counts only on a present connection"},
		{In: from{connected, ending}, On: []events.Kind{events.ConnectionAttached, events.ConnectionRefused},
			Why: "there is a connection already, or none is wanted any more"},
		{In: from{ending}, On: []events.Kind{events.ConnectionSuspended},
			Why: "the machine waits for the outcome of the close request"},
		{In: from{offline, connecting, suspended, lost, resting, ending}, On: []events.Kind{events.CommandEndSession},
			Why: "without a connection the ensemble cannot be asked; the machine that needs it asks again"},
		{In: from{offline, connecting, resting, ending}, On: []events.Kind{events.HeartbeatWanted},
			Why: "no machine leads without a session"},
		{In: from{offline, connecting, lost, resting, ending}, On: []events.Kind{events.BeliefLapsed},
			Why: "nothing is believed"},
		{In: from{offline, connecting, suspended, lost, resting, ending}, On: []events.Kind{events.ContainersUnknown},
			Why: "a machine leaves the state in which it sent this when the connection ends"},
		{In: from{offline, connecting, suspended, lost, resting, ending}, On: []events.Kind{events.NotServed},
			Why: "the server is left already"},
		{In: from{offline}, On: []events.Kind{events.ConfirmationWanted},
			Why: "no machine has failed before the first session"},
		{In: from{offline, connecting}, On: []events.Kind{events.HeartbeatUnneeded},
			Why: "no machine leads without a session"},
	}
}
