package machines

import (
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// jobWrites is an instance of a job that has one write pending at most, of which it may have to read what became of it.
// It registers the instance, and takes away what asks it to run.
type jobWrites struct {
	instanceView
	doubtedWrite // of what this session has: marks, items that were taken over, and the own node

	write   jobWrite
	deletes int // that are pending
	unsent  int // deletes that follow those that are pending
	outruns int // writes in a row that came too late
}

// jobWrite is the write that is pending.
type jobWrite uint8

const (
	noWrite jobWrite = iota
	registering
	unregistering
	markingItems
	confirmingRun
	unmarking
	takingOver
	offering        // of an item that this instance had taken over in an earlier session
	clearingFlag    // deletes the node trigger/<id>
	clearingTrigger // sets the own node's data back
)

// maxOutruns is how many writes in a row may come too late before the next attempt follows after a pause.
const maxOutruns = 3

// settle drops what is pending.
func (p *jobWrites) settle(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	p.view.dropPending()
	p.deletes = 0
}

// begins notes which write is sent.
func (p *jobWrites) begins(write jobWrite, ev events.Event, out *engine.Outbox) {
	p.settle(ev, out)
	p.write = write
}

// delete sends deletes, of which all have to be answered. Of many marks, some are deleted later.
func (p *jobWrites) delete(paths []string, out *engine.Outbox) {
	p.unsent = max(len(paths)-viewWindow, 0)
	paths = paths[:len(paths)-p.unsent]
	p.deletes = len(paths)
	for _, path := range paths {
		out.Delete(path)
	}
}

// countDeleted counts the answer to a delete.
func (p *jobWrites) countDeleted(ev events.Event, out *engine.Outbox) { p.deletes-- }

// isLast reports whether an answer is to the last delete that is pending.
func (p *jobWrites) isLast(events.Event) bool { return p.deletes == 1 }

// wrote reports whether a write was carried out.
func (p *jobWrites) wrote(ev events.Event) bool { return ev.Code == events.OK }

// refusedNode reports whether a read or a delete was refused. That a node is missing is an answer.
func (p *jobWrites) refusedNode(ev events.Event) bool {
	return ev.Code != events.OK && ev.Code != events.NoNode
}

// outrun reports whether a write came too late: a node has appeared, has gone or was set. Again and again, that is a
// failure.
func (p *jobWrites) outrun(ev events.Event) bool {
	return nodesChanged(ev.Code) && p.outruns < maxOutruns
}

// registerNodes creates the nodes by which others know the instance: its server's, unless there is one, and its own.
// The answer to the last one decides.
func (p *jobWrites) registerNodes(ev events.Event, out *engine.Outbox) {
	p.begins(registering, ev, out)
	server := p.server()
	if !p.view.at(server, jobData).exists {
		state := ServerEnabled
		switch {
		case p.config.Disabled:
			state = ServerDisabled
		case p.config.Legacy:
			state = ""
		}
		out.Create(events.Op{Path: parent(server), Mode: events.Persistent, Data: []byte{}})
		out.Create(events.Op{Path: server, Mode: events.Persistent, Data: []byte(state)})
	}
	out.Create(events.Op{Path: parent(p.own()), Mode: events.Persistent, Data: []byte{}})
	out.Multi(events.Op{Verb: "create", Path: p.own(), Mode: events.Ephemeral, Data: p.record()})
}

// confirm asks for a confirmation through the quorum.
func (p *jobWrites) confirm(ev events.Event, out *engine.Outbox) {
	p.begins(confirmingRun, ev, out)
	out.Multi(events.Check(p.own()))
}

// awaitConfirmation waits until a confirmation would count.
func (p *jobWrites) awaitConfirmation(ev events.Event, out *engine.Outbox) {
	p.settle(ev, out)
	out.Timer(confirmTimer, time.Duration(ev.AskAt-ev.At))
}

// takeTrigger takes away what asks this instance to run its items once. Then they run.
func (p *jobWrites) takeTrigger(ev events.Event, out *engine.Outbox) {
	if own := p.view.at(p.own(), jobData); p.legacyTrigger() {
		p.begins(clearingTrigger, ev, out)
		out.Multi(events.Op{Verb: "set", Path: p.own(), Data: p.record(), Version: own.version})
		return
	}
	p.begins(clearingFlag, ev, out)
	p.delete([]string{JobTrigger(p.job, p.instance)}, out)
}
