package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/test/kit/mutate"
)

// requestDir is the directory of the nodes that users' requests are about.
const requestDir = "/app/requests"

// requestRole is the role of the requests. Its programs send what users ask for: reads, writes of nodes that others
// write too, creates with a GUID and without, multis, sets that create their node, writes to the node of a participant,
// and deletes of items. The answers have to agree with the history. A create with a GUID leaves one node, or none.
var requestRole = &role{
	recipe:   "request",
	separate: true,
	dirs:     dirTraits{own: requestDir, public: true},
	handles:  handleTraits{most: 3},
	program:  requestProgram{},
	writes: &writeChecks{isWrite: isRequestWrite, committed: requestCommitted, answered: requestAnswered,
		undoes:  func(d *writeCall) bool { return d.call.options["protected"] == "true" },
		several: isRemoval},
	states: stateTraits{
		final: []engine.State{""},
		wakes: map[engine.State]waking{
			"reading": answered, "listing": answered, "asking": answered, "preparing": answered, "tracing": answered,
			"discarding": answered, "pausing": timed,
		},
		faults: map[engine.State][]string{"reading": {"end the session"}, "asking": {"end the session"},
			"discarding": {"close"}},
	},
	plants: plantedRequests,
}

type requestProgram struct{ callProgram }

// payload returns data that name the call that wrote them.
func (requestProgram) payload(u *user, n uint64) []byte {
	return fmt.Appendf(nil, "%d of %d-%s", n, u.c.ID(), u.id)
}

// keepReply keeps the user's part of a reply.
func (requestProgram) keepReply(u *user, ev events.Event) {
	u.reply = nodeState{stat: ev.Stat, data: string(ev.Data)}
}

func (requestProgram) target(u *user) string {
	if d := u.c.w.checks.writeCallOf(u.c, u.id); d != nil && len(d.committed) > 0 && d.ops[0].Verb == "create" {
		return d.committed[0].Txn.Path
	}
	return u.path
}

func (requestProgram) act(u *user, n int) {
	switch {
	case u.call.running && n < 9 && world.OneIn(u.dice(), 3):
		u.giveUp()
	case u.call.running && n == 10:
		u.askAgain(events.CommandStart)
	case !u.call.running && n < 11:
		u.operateRequest(u.dice())
	case n == 11 && u.ops != nil && world.OneIn(u.dice(), 4):
		u.beginCall("", nil)
	}
}

// noticed takes how many items a removal has deleted, and gives some calls up that have met a failure.
func (requestProgram) noticed(u *user, n events.Notify) {
	if d := u.c.w.checks.writeCallOf(u.c, u.id); d != nil && n.What == events.Value {
		d.value = &numberValue{value: n.Value}
	}
	if n.What == events.Failed && world.OneIn(u.dice(), 3) {
		u.c.RunAfter(shortly(u.dice()), func() { u.giveUp() })
	}
}

// isSearching reports whether a machine searches for a node that nobody wants any more, in a
// client that was closed while it had no session. The search ends with the process.
func (k *checks) isSearching(c *client, id events.ID) bool {
	d := k.writeCalls[machineKey{c.ID(), id}]
	return c.leaving && d != nil && d.undoes() && c.Engine().State(id) == "suspended"
}

// operateRequest asks for one of the operations.
func (u *user) operateRequest(d *rand.Rand) {
	options := map[string]string{}
	u.path = requestDir + "/" + string("abc"[d.IntN(3)])
	if world.OneIn(d, 6) {
		u.path = requestDir + "/deep/er/node"
	}
	u.c.w.checks.historyOf(u.path)
	op := events.Op{Path: u.path, Version: -1}
	if world.OneIn(d, 2) {
		op.Version = u.c.w.stateOf(u.path).number()
	}
	switch n := d.IntN(20); {
	case n < 4:
		op.Verb = []string{"get", "exists", "children", "sync"}[n]
	case n < 6:
		op.Verb, op.Payload = "set", 1
	case n == 6:
		op.Verb = "delete"
	case n == 7:
		op = u.operateItems(d, options)
	case n < 16:
		modes := []events.Mode{events.Persistent, events.PersistentSequential, events.Ephemeral,
			events.EphemeralSequential, events.Container}
		op.Verb, op.Payload, op.Mode = "create", 1, modes[d.IntN(len(modes))]
		options["parents"], options["protected"] = fmt.Sprint(world.OneIn(d, 2)), fmt.Sprint(n > 8)
	case n == 18: // of the participant that has the node, or of another one
		if op.Verb = "delete"; world.OneIn(d, 2) {
			op.Verb, op.Payload = "set", 1
		}
		token := int64(1)
		if stat := u.c.w.stateOf(u.path).stat; stat != nil && !world.OneIn(d, 4) {
			token = stat.Czxid
		}
		options["token"] = fmt.Sprint(token)
	case n == 19:
		op.Verb, op.Payload, op.Version = "set", 1, -1
		options["orCreate"], options["parents"] = "true", "true"
	default:
		options["multi"] = "true"
		u.ops = multiOf(d, op)
		u.beginCall(events.CommandStart, options)
		return
	}
	u.ops = []events.Op{op}
	u.beginCall(events.CommandStart, options)
}

// operateItems returns the create of an item with an id, or what deletes the items of an id.
func (u *user) operateItems(d *rand.Rand, options map[string]string) events.Op {
	options["parents"] = "true"
	id := string("ab"[d.IntN(2)])
	if world.OneIn(d, 2) {
		u.path = requestDir + "/" + machines.NamePrefixOf(id)
		return events.Op{Path: u.path, Verb: "create", Payload: 1, Mode: events.PersistentSequential}
	}
	u.path = requestDir
	if world.OneIn(d, 2) {
		u.c.w.After(world.Between(d, 0, 100*time.Millisecond), func() { u.c.w.takeItem(id) })
	}
	options["locks"], options["id"] = requestDir+"/deep/er", id
	return events.Op{Path: u.path, Verb: "delete", Version: -1}
}

// takeItem deletes the last item of an id, as a consumer does.
func (w *harness) takeItem(id string) {
	items, _ := machines.ByID.Backlog(w.ens.Children(requestDir))
	for _, i := range slices.Backward(items) {
		if i.ID == id && !w.healed {
			w.deleteTree(requestDir + "/" + i.Name)
			return
		}
	}
}

// multiOf returns some operations on one node.
func multiOf(d *rand.Rand, op events.Op) (ops []events.Op) {
	verbs := [][]string{{"check", "set"}, {"set", "create"}, {"create"}, {"delete", "create"}, {"set", "delete"}}
	for i, verb := range verbs[d.IntN(len(verbs))] {
		one := op
		if one.Verb = verb; verb == "set" || verb == "create" {
			one.Payload = uint64(i + 1)
		}
		if i > 0 {
			one.Version = -1
		}
		ops = append(ops, one)
	}
	return ops
}

func (d *writeCall) is(option string) bool { return d.call.options[option] == "true" }

// isRequestWrite reports whether a request is the write. Creates of parents, and the
// search for a node, are not.
func isRequestWrite(d *writeCall, r events.Request) bool {
	switch r := r.(type) {
	case events.Create:
		dir, _ := split(r.Path)
		home, _ := split(d.path)
		return dir == home && !isRemoval(d) // of items, they are parents of the locks
	case events.Multi:
		return d.is("multi") || d.ops[0].Verb != "create" && r.Ops[len(r.Ops)-1].Verb != "check"
	}
	return false
}

// requestCommitted checks that a write is carried out in the session in which it was asked for. A set that creates its
// node belongs to no session, nor do the deletes of items, nor a write to a participant's node: that was the
// participant's, in this version, at some time since the process knew it last.
func requestCommitted(k *checks, d *writeCall, p *world.Proposal) {
	if isRemoval(d) {
		k.removed(d, p)
		return
	}
	token := d.call.options["token"]
	if token != "" {
		c, version := k.historyOf(d.path), p.Origin.Request.(events.Multi).Ops[0].Version
		if c.findWhere(c.indexAt(d.lastZxid), func(v nodeState) bool {
			return v.stat != nil && fmt.Sprint(v.stat.Czxid) == token && v.stat.Version == version
		}) < 0 {
			k.fail("a participant's node is written as it was", "%s was carried out in version %d, as that of %s", d,
				version, token)
		}
	}
	bound := d.session != 0 && token == "" && !d.is("orCreate")
	if bound && p.Txn.Session != d.session {
		k.fail("a write belongs to its session", "%s was asked for in session %x, and carried out in %x", d,
			d.session, p.Txn.Session)
	}
}

func requestAnswered(k *checks, d *writeCall, a events.Answer) {
	verb := d.ops[0].Verb
	switch {
	case isRemoval(d):
		k.removalAnswered(d, a)
	case !d.is("multi") && slices.Contains([]string{"get", "exists", "children", "sync"}, verb):
		k.readBy(d, a)
	case a.Code != events.OK:
		k.checkRefusal(d, a.Code)
	case len(d.committed) == 0:
		k.fail("a call answered as done is done", "%s was answered %q, and nothing was carried out", d, a.Code)
	case verb == "create" && !d.is("multi"):
		if made := d.committed[len(d.committed)-1].Txn.Path; a.Text != made {
			k.fail("a create says where its node is", "%s made %s, and is told %q", d, made, a.Text)
		}
	case d.call.options["token"] != "": // what was read before the write is no reply to the caller
	case verb == "set" && d.u.reply.stat != nil && len(d.ops) == 1 && d.u.reply.stat.Mzxid != d.committed[0].Txn.Zxid:
		k.fail("a write tells the stat that it left", "%s was carried out as %x, and is told of %x", d,
			d.committed[0].Txn.Zxid, d.u.reply.stat.Mzxid)
	}
}

// isRemoval reports whether a call deletes the items of an id.
func isRemoval(d *writeCall) bool { return d.call.options["locks"] != "" }

// removed checks one delete of a removal.
func (k *checks) removed(d *writeCall, p *world.Proposal) {
	item := p.Origin.Request.(events.Multi).Ops[1].Path
	if !strings.HasPrefix(item, requestDir+"/"+machines.NamePrefixOf(d.call.options["id"])) {
		k.fail("a removal deletes items of its id", "%s, of %q, deleted %s", d, d.call.options["id"], item)
	}
	if d.answered && d.code != events.OutcomeUnknown {
		k.fail("a removal that was answered has ended", "%s was answered %q, and then deleted %s", d, d.code, item)
	}
}

// removalAnswered checks that the caller gets the number of items that were deleted.
func (k *checks) removalAnswered(d *writeCall, a events.Answer) {
	switch count, done := d.value, int64(len(d.committed)); {
	case count == nil:
		k.fail("a removal counts the items that it deleted", "%s was answered %q, without a number", d, a.Code)
	case a.Code == events.OutcomeUnknown && (count.value == done || count.value == done-1):
	case count.value != done:
		k.fail("a removal counts the items that it deleted", "%s deleted %d, and counts %d", d, done, count.value)
	case d.sent && a.Code != events.OK:
		k.checkRefusal(d, a.Code)
	}
}

// readBy checks that what was read was true, and not before what the session had seen
// when the read was asked for.
func (k *checks) readBy(d *writeCall, a events.Answer) {
	verb := d.ops[0].Verb
	if verb == "children" || verb == "sync" || a.Code != events.OK && a.Code != events.NoNode {
		return
	}
	c, from, told := k.historyOf(d.path), 0, d.u.reply
	if d.session != 0 && d.session == d.u.c.SessionID() {
		from = c.indexAt(d.lastZxid)
	}
	if a.Code == events.NoNode {
		told = nodeState{}
	}
	i := c.find(from, told.stat)
	if i < 0 || verb == "get" && c.states[i].data != told.data {
		k.fail("what is read was true", "%s was told %+v with %q, which it never was since %x", d, told.stat,
			told.data, d.lastZxid)
	}
}

// inRequest returns a plant in the machine of requests.
func inRequest(name string, m func() mutate.Mutation) Plant {
	return Plant{Name: "request: " + name, Shape: inDir(requestDir), Mutations: inOne("request", m)}
}

var plantedRequests = []Plant{
	inRequest("a removal counts what others have taken", func() mutate.Mutation {
		return mutate.Mutation{Actions: map[string]acting{
			"noteRemoved": func(_ any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
				ev.Code = events.OK
				do(ev)
			}}}
	}),
	inRequest("a removal deletes items of every id", func() mutate.Mutation {
		return mutate.Mutation{Actions: map[string]acting{
			"noteItems": func(model any, ev events.Event, _ *engine.Outbox, _ func(events.Event)) {
				items, _ := machines.ByID.Backlog(ev.Children)
				for _, i := range items {
					names := field[[]string](model, "items")
					*names = append(*names, i.Name)
				}
			}}}
	}),
	inRequest("a write whose answer was lost is sent again", func() mutate.Mutation {
		return withGuard("unsent", func(_ any, ev events.Event, holds func(events.Event) bool) bool {
			return holds(ev) || ev.Code.Unknown()
		})
	}),
	inRequest("a create whose reply was lost is sent again", func() mutate.Mutation {
		return withGuard("mustTrace", never)
	}),
	inRequest("another participant's node is written", func() mutate.Mutation {
		return withGuard("notInLine", never)
	}),
	inRequest("the search for a node that nobody wants ends when it is refused", func() mutate.Mutation {
		return withGuard("denied", func(model any, ev events.Event, holds func(events.Event) bool) bool {
			return holds(ev) && !*field[bool](model, "abandoned")
		})
	}),
	inRequest("a protected node that nobody wants stays", func() mutate.Mutation {
		return withGuard("nodeListed", func(model any, ev events.Event, holds func(events.Event) bool) bool {
			return holds(ev) && !*field[bool](model, "abandoned")
		})
	}),
	inRequest("a protected create is sent again in the next session", func() mutate.Mutation {
		return withGuard("otherSession", never)
	}),
	inRequest("a caller who leaves is told that nothing was written", func() mutate.Mutation {
		return withGuard("reads", always)
	}),
	inRequest("what was lost was done", func() mutate.Mutation {
		return mutate.Mutation{Actions: map[string]acting{
			"answerUnknown": func(model any, ev events.Event, out *engine.Outbox, do func(events.Event)) {
				if command := field[uint64](model, "command"); *command != 0 && ev.Kind == events.ReplyMulti {
					out.Answer(*command, events.OK, "")
					*command = 0
				}
				do(ev)
			}}}
	}),
	inRequest("a create answers with the name that it asked for", func() mutate.Mutation {
		return mutate.Mutation{Actions: map[string]acting{
			"conclude": func(model any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
				if ev.Kind == events.ReplyCreate {
					ev.Path = strings.TrimRight(ev.Path, "0123456789")
				}
				do(ev)
			}}}
	}),
}
