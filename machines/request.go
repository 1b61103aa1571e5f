package machines

import (
	"cmp"
	"errors"
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
	removal
	ops       []events.Op
	isMulti   bool     // it is a multi, even of one operation
	parents   bool     // missing parents are created
	lasting   bool     // they are persistent, and no containers
	protected bool     // the node's name holds a GUID, by which it is found again
	token     int64    // of the participant whose node is meant: it is read first; 0: any node is
	orCreate  bool     // a set creates the node if there is none
	creates   bool     // the next write of orCreate is the create
	turns     int      // how often that create has begun
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
// a set), "token" (of a set or a delete), "locks" and "id" (of a delete: of the items in a queue that have the id).
var RequestRecipe = &engine.RecipeOf[request]{Named: "request", Chart: requestChart, Open: newRequest}

func newRequest(open events.Event) (*request, error) {
	o := optionsOf(open)
	r := &request{standalone: newStandalone(open, &o), parentMaker: newParentMaker(parent(open.Path)), ops: open.Ops,
		isMulti: o.flag(OptionMulti), parents: o.flag(OptionParents), lasting: o.flag(OptionPersistentParents),
		protected: o.flag(OptionProtected), token: o.number(OptionToken), orCreate: o.flag(OptionOrCreate),
		removal: newRemoval(open.Path, &o)}
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

// subject returns the path of the node that is being asked for.
func (r *request) subject() string {
	if len(r.items) > 0 {
		return r.item()
	}
	return r.path
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
	if ev.Request == r.last().lowestCreate {
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
	if ev.Kind == events.ReplyCreate && ev.Code == events.Unimplemented && ev.Request != r.last().lowestCreate {
		r.answerNodeType(ev, out)
		return
	}
	code, text := ev.Code, strings.TrimSpace(cmp.Or(ev.Path, r.subject())+" "+ev.Text)
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
	r.answer(events.OutcomeUnknown, r.subject()+r.lastAnswer(ev), out)
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
		r.reportRemoved(out)
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
