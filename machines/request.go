package machines

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// request is one operation of a user: a read, or a write that is carried out at most once. A machine
// handles one operation and ends.
type request struct {
	standalone
	parentMaker
	attempts
	ops       []events.Op
	isMulti   bool     // it is a multi, even of one operation
	parents   bool     // missing parents are created
	lasting   bool     // they are persistent, and no containers
	protected bool     // the node's name holds a GUID, by which it is found again
	token     int64    // of the participant whose node is meant: it is read first; 0: any node is
	orCreate  bool     // a set creates the node if there is none
	creates   bool     // the next write of orCreate is the create
	turns     int      // how often that create has begun
	locks     string   // of a queue's item: it is deleted under its lock in this directory; "": it is no item
	guid      string   // of a protected node
	command   uint64   // the call; 0 once it is answered
	closing   []uint64 // commands to answer at the end
	session   int64    // to which a write belongs; 0: none yet
	rounds    int      // how often missing parents were created
	mayExist  bool     // a protected create was sent and not answered, so the node is looked for
	abandoned bool     // the caller has given up the protected node
}

// RequestRecipe makes a user's requests. Path is the node's. Ops of command.open are the operations:
// one read, one create, or those of a multi. Options:
// "multi", "parents", "persistentParents", "protected", "retry"; for a write that belongs to no session: "orCreate" (of
// a set), "token" (of a set or a delete), "locks" (of a delete).
var RequestRecipe = &engine.RecipeOf[request]{Named: "request", Chart: requestChart, Open: newRequest}

func newRequest(open events.Event) (*request, error) {
	o := optionsOf(open)
	r := &request{standalone: newStandalone(open, &o), parentMaker: newParentMaker(parent(open.Path)), ops: open.Ops,
		isMulti: o.flag(OptionMulti), parents: o.flag(OptionParents), lasting: o.flag(OptionPersistentParents),
		protected: o.flag(OptionProtected), token: o.number(OptionToken), orCreate: o.flag(OptionOrCreate),
		locks: o.text(OptionLocks, "")}
	if r.locks != "" {
		r.parentMaker = newParentMaker(r.locks)
	}
	if len(r.ops) == 0 && o.err == nil {
		o.err = errors.New("a request without operations")
	}
	if r.protected {
		r.guid = guid(open.Seed, 1)
	}
	return r, o.check()
}

// States of requests, in addition to those in states.go.
const (
	preparing  engine.State = "preparing"  // missing parents are being created, before an unprotected create
	asking     engine.State = "asking"     // the request is pending
	tracing    engine.State = "tracing"    // a protected node is looked for by its GUID
	discarding engine.State = "discarding" // a protected node that the caller has given up is looked for and deleted
)

var (
	requestNotAsking = from{reading, preparing, tracing, suspended, pausing, discarding}
	requestStates    = append(from{asking}, requestNotAsking...)
)

func requestChart() (c engine.Chart[request]) {
	c.Doc = "One read or write of a user. A write is sent at most once. A protected create finds its node by a GUID. " +
		"A write to a participant's node reads it first."
	c.States = described([]engine.StateDoc{
		{Name: latent, Doc: "There was no call yet."},
		{Name: reading, Doc: "The node of a participant is being read, behind a check through the quorum. It is " +
			"written if it is still that participant's, in the version that was read."},
		{Name: asking, Class: events.ClassBusy, Does: "no reply has come",
			Doc: "The request is pending; if the parents of a protected node did not exist, their creates are " +
				"pending before it. The end of the connection does not end this state: the answer says whether the " +
				"request was sent."},
		{Name: preparing, Class: events.ClassBusy, Does: "missing parents are being created",
			Doc: "The parents of an unprotected node did not exist. They are being created, as containers if the " +
				"server knows them. The node is created when they exist."},
		{Name: tracing, Class: events.ClassBusy, Does: "the node is being looked for by its GUID",
			Doc: "The protected node is being looked for by its GUID."},
		{Name: suspended, Doc: "There is no connection. What was not sent is sent on the next one, and a read is sent again."},
		{Name: pausing, Doc: "The answer does not say whether a protected node was created, or the node could not be looked for, or a read was not answered. The next attempt follows after a back-off with jitter."},
		{Name: discarding, Class: events.ClassLeaving, Does: "the node is being deleted",
			Doc: "The call has ended. The node that it may have created is being looked for and deleted."},
		{Name: closed, Doc: "The call was answered."},
	})
	c.Final = closed
	c.Happy = from{latent, asking, closed}
	c.Kinds = []events.Kind{
		events.CommandStart, events.CommandClose,
		events.ReplyCreate, events.ReplyDelete, events.ReplyStat, events.ReplyChildren, events.ReplyMulti, events.ReplySync,
		events.ConnectionAttached, events.ConnectionSuspended, events.ConnectionLost, events.TimerFired,
	}
	c.Rows = slices.Concat(requestConditionRows(), requestRows(), requestEndRows())
	c.Ignores = requestIgnores()
	return c
}

// requestRows are the rows of a request from the call to its answer.
func requestRows() []engine.Row[request] {
	return []engine.Row[request]{
		{From: from{latent}, On: on(events.CommandStart), When: (*request).attached, To: asking, Do: (*request).begin, Then: (*request).ask},
		{From: from{latent}, On: on(events.CommandStart), To: suspended, Do: (*request).begin},
		{From: requestStates, On: on(events.CommandStart), To: engine.Stay, Do: (*request).refuseStart},

		{From: from{asking}, On: on(events.ReplyStat, events.ReplyChildren, events.ReplySync), When: (*request).readUnanswered, To: suspended},
		{From: from{asking}, On: on(events.ReplyStat, events.ReplyChildren, events.ReplySync), When: (*request).unknown, To: pausing, Do: (*request).failAndBackOff},
		{From: from{asking}, On: on(events.ReplyStat, events.ReplyChildren, events.ReplySync), To: closed, Do: (*request).conclude},
		{From: from{asking}, On: on(events.ReplyMulti), When: (*request).unsent, To: suspended},
		{From: from{asking}, On: on(events.ReplyMulti), When: (*request).unknown, To: closed, Do: (*request).answerUnknown},
		{From: from{asking}, On: on(events.ReplyMulti), To: closed, Do: (*request).conclude},

		{From: from{asking}, On: on(events.ReplyCreate), When: (*request).ofParent, To: asking, Do: (*request).noteParent},
		{From: from{asking}, On: on(events.ReplyCreate), When: (*request).unsent, To: suspended},
		{From: from{asking}, On: on(events.ReplyCreate), When: (*request).protectedUnanswered, To: suspended, Do: (*request).noteMayExist},
		{From: from{asking}, On: on(events.ReplyCreate), When: (*request).protectedUnknown, To: pausing, Do: (*request).noteMayExist, Then: (*request).failAndBackOff},
		{From: from{asking, preparing}, On: on(events.ReplyCreate), When: (*request).parentsUnknown, To: pausing,
			Do: (*request).failByRootCause},
		{From: from{asking}, On: on(events.ReplyCreate), When: (*request).unknown, To: closed, Do: (*request).answerUnknown},
		{From: from{asking}, On: on(events.ReplyCreate), When: (*request).protectedWantsParents, To: asking, Do: (*request).createParents, Then: (*request).send},
		{From: from{asking}, On: on(events.ReplyCreate), When: (*request).wantsParents, To: preparing, Do: (*request).createParents},
		{From: from{asking}, On: on(events.ReplyCreate), To: closed, Do: (*request).conclude},
		{From: from{reading, tracing, suspended, pausing, discarding}, On: on(events.ReplyCreate), To: engine.Stay,
			Do: (*request).noteAttempt},
		{From: from{preparing}, On: on(events.ReplyCreate), When: (*request).parentsMade, To: asking, Do: (*request).ask},
		{From: from{preparing}, On: on(events.ReplyCreate), When: (*request).parentsGone, To: preparing, Do: (*request).createParents},
		{From: from{preparing}, On: on(events.ReplyCreate), When: (*request).parentsRefused, To: closed, Do: (*request).conclude},
		{From: from{preparing}, On: on(events.ReplyCreate), To: preparing, Do: (*request).noteParentPreparing},

		{From: from{tracing, discarding}, On: on(events.ReplyMulti), When: (*request).transient, To: pausing, Do: (*request).failAndBackOff},
		{From: from{tracing, discarding}, On: on(events.ReplyMulti), To: engine.Stay},
		{From: from{tracing}, On: on(events.ReplyChildren), When: (*request).nodeListed, To: closed, Do: (*request).adopt},
		{From: from{tracing}, On: on(events.ReplyChildren), When: (*request).transient, To: pausing, Do: (*request).failAndBackOff},
		{From: from{tracing}, On: on(events.ReplyChildren), When: (*request).denied, To: closed, Do: (*request).answerUnknown},
		{From: from{tracing}, On: on(events.ReplyChildren), When: (*request).otherSession, To: closed, Do: (*request).expire},
		{From: from{tracing}, On: on(events.ReplyChildren), To: asking, Do: (*request).ask},
		{From: from{discarding}, On: on(events.ReplyChildren), When: (*request).nodeListed, To: discarding, Do: (*request).discard},
		{From: from{discarding}, On: on(events.ReplyChildren, events.ReplyDelete), When: (*request).denied, To: pausing, Do: (*request).failAndBackOff},
		{From: from{discarding}, On: on(events.ReplyChildren, events.ReplyDelete), To: closed, Do: (*request).end},
	}
}

// requestEndRows are the rows of a request when a connection, a session or the call ends, and of its next attempt.
func requestEndRows() []engine.Row[request] {
	return []engine.Row[request]{
		{From: from{reading, preparing, tracing, discarding, pausing}, On: on(events.ConnectionSuspended),
			To: suspended},
		{From: from{asking}, On: on(events.ConnectionLost), When: (*request).reads, To: suspended},
		{From: from{asking}, On: on(events.ConnectionLost), When: (*request).outlivesSession, To: suspended, Do: (*request).noteMayExist},
		{From: from{asking}, On: on(events.ConnectionLost), When: (*request).isProtected, To: closed, Do: (*request).expire},
		{From: from{asking}, On: on(events.ConnectionLost), To: closed, Do: (*request).answerUnknown},
		{From: requestNotAsking, On: on(events.ConnectionLost), When: (*request).survivesSession, To: suspended},
		{From: requestNotAsking, On: on(events.ConnectionLost), To: closed, Do: (*request).expire},
		{From: from{suspended}, On: on(events.ConnectionAttached), When: (*request).isAbandoned, To: discarding, Do: (*request).listParent},
		{From: from{suspended}, On: on(events.ConnectionAttached), When: (*request).mustTrace, To: tracing, Do: (*request).listParent},
		{From: from{suspended}, On: on(events.ConnectionAttached), To: asking, Do: (*request).ask},
		{From: from{pausing}, On: on(events.TimerFired), When: (*request).isAbandoned, To: discarding, Do: (*request).listParent},
		{From: from{pausing}, On: on(events.TimerFired), When: (*request).mustTrace, To: tracing, Do: (*request).listParent},
		{From: from{pausing}, On: on(events.TimerFired), To: asking, Do: (*request).ask},

		{From: from{asking}, On: on(events.CommandClose), When: (*request).isProtected, To: discarding, Do: (*request).abandon, Then: (*request).listParent},
		{From: from{asking}, On: on(events.CommandClose), When: (*request).reads, To: closed, Do: (*request).noteClose, Then: (*request).withdraw},
		{From: from{asking}, On: on(events.CommandClose), To: closed, Do: (*request).noteClose, Then: (*request).answerUnknown},
		{From: from{tracing}, On: on(events.CommandClose), To: discarding, Do: (*request).abandon, Then: (*request).listParent},
		{From: from{suspended, pausing}, On: on(events.CommandClose), When: (*request).mustTrace, To: engine.Stay, Do: (*request).abandon},
		{From: from{latent, reading, preparing, suspended, pausing}, On: on(events.CommandClose),
			To: closed, Do: (*request).noteClose, Then: (*request).withdraw},
		{From: from{discarding}, On: on(events.CommandClose), To: discarding, Do: (*request).noteClose},
	}
}

// requestIgnores say which kinds are not needed in which states, and why.
func requestIgnores() []engine.Ignore {
	return []engine.Ignore{
		{In: from{latent}, On: []events.Kind{events.ReplyCreate, events.ConnectionAttached, events.ConnectionSuspended, events.ConnectionLost},
			Why: "there was no call yet"},
		{In: from{asking}, On: []events.Kind{events.ConnectionSuspended, events.ConnectionAttached}, Why: "the answer, which always comes, says whether the request was sent"},
		{In: from{reading, preparing, tracing, discarding, pausing}, On: []events.Kind{events.ConnectionAttached},
			Why: "a connection ends, through suspended, before the next begins"},
		{In: from{suspended}, On: []events.Kind{events.ConnectionSuspended}, Why: "there is no connection to lose"},
	}
}

// begin notes the call. A write belongs to the present session.
func (r *request) begin(ev events.Event, out *engine.Outbox) {
	r.command = ev.Request
	if ev.SessionID != 0 {
		r.session = ev.Session
	}
}

// ask sends the request.
func (r *request) ask(ev events.Event, out *engine.Outbox) {
	r.resetParents()
	r.send(ev, out)
}

// send sends the request, in the session of the event.
func (r *request) send(ev events.Event, out *engine.Outbox) {
	r.session, r.mayExist = ev.Session, false
	op := r.ops[0]
	switch {
	case op.Verb == "get":
		out.With(engine.Data | engine.ForUser).Get(op.Path)
	case op.Verb == "exists":
		out.With(engine.ForUser).Exists(op.Path)
	case op.Verb == "children":
		out.With(engine.ForUser).Children(op.Path)
	case op.Verb == "sync":
		out.Sync(op.Path)
	case op.Verb == "create" && !r.isMulti:
		out.Create(events.Op{Path: r.name(), Mode: op.Mode, TTL: op.TTL, Payload: op.Payload})
	case r.locks != "":
		out.Multi(r.underLock()...)
	case r.creates:
		out.Create(events.Op{Path: r.path, Mode: events.Persistent, Payload: op.Payload})
	default:
		out.With(engine.ForUser).Multi(r.ops...)
	}
}

// name returns the path that a create asks for.
func (r *request) name() string {
	if r.guid == "" {
		return r.path
	}
	return join(parent(r.path), ownPrefix(r.guid, base(r.path)))
}

// noteMayExist notes that the node may have been created.
func (r *request) noteMayExist(ev events.Event, out *engine.Outbox) {
	r.mayExist = true
	r.noteCode(ev)
}

// failByRootCause reports why the parents are not known to exist, and pauses before the node is asked for again.
func (r *request) failByRootCause(ev events.Event, out *engine.Outbox) {
	r.rounds = 0
	r.failAndBackOff(r.rootCause(ev), out)
}

// noteAttempt notes what the answer to a create says, while its node is looked for.
func (r *request) noteAttempt(ev events.Event, out *engine.Outbox) { r.noteCode(ev) }

// searchDuplicates has nodes of earlier attempts at a protected create searched for, which the server may still
// create. The one that the caller gets, if any, is the caller's.
func (r *request) searchDuplicates(ours string, out *engine.Outbox) {
	options := map[string]string{OptionGUID: r.guid}
	if r.outlivesSession(events.Event{}) {
		options[OptionLasting] = "true"
	}
	if _, opened := r.search(r.id, parent(r.path), options, out); opened && ours != "" {
		tellKept(ours, out)
	}
}

// listParent lists the parent, behind a check through the quorum: so it sees whatever was carried out.
// A sync would not do, because a deposed leader keeps answering it.
func (r *request) listParent(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	dir := parent(r.path)
	out.Multi(events.Check(dir))
	out.Children(dir)
}

// discard deletes the node that was found.
func (r *request) discard(ev events.Event, out *engine.Outbox) {
	out.Delete(r.node(ev))
}

// adopt answers with the node that was found.
func (r *request) adopt(ev events.Event, out *engine.Outbox) {
	r.searchDuplicates(r.node(ev), out)
	r.answer(events.OK, r.node(ev), out)
}

// createParents creates the missing parents.
func (r *request) createParents(ev events.Event, out *engine.Outbox) {
	r.rounds++
	ev.NoContainers = ev.NoContainers || r.lasting
	r.makeParents(ev, out)
}

// noteParentPreparing notes why a parent was not created, while the node waits for its parents. If the
// server knows no containers and keeps answering, the parents are created as persistent nodes.
func (r *request) noteParentPreparing(ev events.Event, out *engine.Outbox) {
	r.noteParent(ev, out)
	if ev.Request == r.lowestCreate {
		ev.NoContainers = true
		r.makeParents(ev, out)
	}
}

// conclude answers with the ensemble's answer, and on which node if it was refused. A node's absence
// also answers whether it exists.
func (r *request) conclude(ev events.Event, out *engine.Outbox) {
	ev = r.rootCause(ev)
	if ev.Kind == events.ReplyCreate && ev.Code == events.NoNode && r.rounds > maxShortLived {
		ev.Code, ev.Path = events.ParentGone, r.dir
	}
	if ev.Kind == events.ReplyCreate && ev.Code == events.Unimplemented && ev.Request != r.lowestCreate {
		r.answerNodeType(ev, out)
		return
	}
	code, text := ev.Code, strings.TrimSpace(cmp.Or(ev.Path, r.path)+" "+ev.Text)
	if code == events.NoNode && r.ops[0].Verb == "exists" {
		code = events.OK
	}
	if code == events.OK && ev.Kind != events.ReplyCreate || r.isMulti {
		text = "" // of a multi, the results say which node it was
	}
	if ev.Kind == events.ReplyCreate {
		r.searchDuplicates(ev.Path, out)
	}
	r.answer(code, text, out)
}

// answerNodeType answers why the servers cannot create a node of this type.
func (r *request) answerNodeType(ev events.Event, out *engine.Outbox) {
	why := "ZooKeeper knows containers since 3.5.3"
	if r.ops[0].TTL != 0 {
		why = "nodes with a TTL need 3.5.3 or later, and zookeeper.extendedTypesEnabled=true on every server"
	}
	r.answer(events.NodeType, strings.TrimRight(r.path+": "+why+". "+ev.Text, ". "), out)
}

// answerUnknown answers that the outcome is not known.
func (r *request) answerUnknown(ev events.Event, out *engine.Outbox) {
	r.answer(events.OutcomeUnknown, r.path+r.lastAnswer(ev), out)
	r.end(ev, out)
}

// expire answers that the session has ended, and with it what could have been created.
func (r *request) expire(ev events.Event, out *engine.Outbox) {
	r.answer(events.SessionExpired, r.path, out)
	r.end(ev, out)
}

// noteClose notes a command that closes the request: the caller gives up, or the client closes.
func (r *request) noteClose(ev events.Event, out *engine.Outbox) {
	r.closing = append(r.closing, ev.Request)
}

// withdraw answers that nothing was done.
func (r *request) withdraw(ev events.Event, out *engine.Outbox) {
	r.answer(events.Closed, "", out)
	r.end(ev, out)
}

// abandon gives up a protected node that may have been created: it is to be deleted.
func (r *request) abandon(ev events.Event, out *engine.Outbox) {
	r.noteClose(ev, out)
	r.answer(events.Closed, "", out)
	r.mayExist, r.abandoned = true, true
}

// answer ends the call, once.
func (r *request) answer(code events.Code, text string, out *engine.Outbox) {
	if r.command != 0 {
		out.Answer(r.command, code, text)
		r.command = 0
	}
}

// end answers the commands that wait for the end. If the caller has given a protected node up, a late one is searched
// for.
func (r *request) end(ev events.Event, out *engine.Outbox) {
	if r.abandoned && ev.Kind != events.ConnectionLost {
		r.searchDuplicates("", out)
	}
	for _, c := range r.closing {
		out.Answer(c, events.OK, "")
	}
}
