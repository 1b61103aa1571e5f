package sim

import (
	"math/rand/v2"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/test/kit/mutate"
)

// plainElectionDir is the directory of plain elections.
const plainElectionDir = "/app/plain"

// electionRole is the role of the plain election. Its programs do what those of the latch do,
// on names without a GUID. Each process has one candidate in a directory of its own. It writes
// nothing under its terms.
var electionRole = &role{
	recipe:   "election",
	separate: true,
	line:     lineTraits{label: "n_", noGUID: true},
	dirs:     dirTraits{own: plainElectionDir},
	program:  electionProgram{},
	states: stateTraits{
		final: lineFinal,
		wakes: lineWakes,
		faults: map[engine.State][]string{
			"enrolling": {"a lasting node ahead"},
			"leading":   {"a pause before an await"},
			"blocked":   {"close", "cancel"},
			"verifying": {"set the own node's data", "hide the own node, then delete it"},
			"leaving":   {"cut", "throttle"},
		},
	},
	plants: plantedElections,
}

type electionProgram struct{ latchProgram }

func (electionProgram) options(*user, *rand.Rand) map[string]string {
	return map[string]string{"prefix": "n_", "healthFailures": "1"}
}

// plainEvents is what a client knows about plain names.
type plainEvents struct {
	ours map[string]bool // nodes that belong to its session, as a reply on this connection said
	zxid int64           // the last transaction that an event was about
}

// note notes an event as the loop gets it.
func (n *plainEvents) note(ev events.Event, session int64) {
	n.zxid = max(n.zxid, ev.Zxid)
	created := ev.Kind == events.ReplyCreate && ev.Code == events.OK
	read := ev.Kind == events.ReplyStat && ev.Stat != nil && ev.Stat.EphemeralOwner == session
	switch {
	case ev.Kind == events.ConnectionAttached:
		n.ours = map[string]bool{}
	case (created || read) && isPlainName(ev.Path):
		n.ours[ev.Path] = true
	}
}

// plainDeletes holds the deletes by plain names, and the ends of nodes that have one.
type plainDeletes struct {
	known map[*world.Packet]int64 // delete → the last transaction that its client knew of
	ends  map[plainNode]int64     // node → the transaction that ended it
}

func newPlainDeletes() plainDeletes {
	return plainDeletes{known: map[*world.Packet]int64{}, ends: map[plainNode]int64{}}
}

// plainNode is a node with a plain name, and the session that created it.
type plainNode struct {
	path    string
	session int64
}

// deleteSent notes a delete by a plain name that belongs to the session, as a reply on the
// same connection said, with the last transaction that the client knows of.
func (k *checks) deleteSent(c *client, a *world.Packet) {
	path := ""
	switch d := a.Request.(type) {
	case events.Delete:
		path = d.Path
	case events.Multi:
		if len(d.Ops) == 1 && d.Ops[0].Verb == "delete" {
			path = d.Ops[0].Path
		}
	}
	if c.plain.ours[path] {
		k.plain.known[a] = c.plain.zxid
	}
}

// overtaken reports whether a delete by a plain name ended the node of another session
// that was given the same name: others had deleted the own node, and the event had not
// arrived when the delete was sent. ZooKeeper can compare only the version of the data; the
// doc comments of Election and NodeElection say so.
func (k *checks) overtaken(path string, p *world.Proposal) bool {
	known, sent := k.plain.known[p.Origin]
	return sent && k.owners[path] != p.Txn.Session && k.plain.ends[plainNode{path, p.Txn.Session}] > known
}

// ignoringOwner is an action that takes every node for the session's own.
func ignoringOwner(model any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
	anyOwner(model, ev, func(ev events.Event) bool { do(ev); return true })
}

var plantedElections = []Plant{
	{Name: "election: the heartbeat checks only the name", Shape: func(p *Plan) {
		inDir(plainElectionDir)(p)
		p.often(8, "ambush", "operator deletes the line")
	},
		Stepped: editEffects(func(_ *client, id events.ID, e events.Effect) events.Effect {
			if _, reads := e.(events.Exists); reads && id == events.SessionMachine {
				return nil
			}
			return e
		})},
	{Name: "election: a create whose answer was lost is asked for again", Shape: inDir(plainElectionDir),
		Mutations: inOne("election", func() mutate.Mutation {
			return withGuard("mayBeOurs", never)
		})},
	{Name: "election: every node is taken for its own", Shape: inDir(plainElectionDir),
		Mutations: inOne("election", func() mutate.Mutation {
			return mutate.Mutation{
				Guards:  map[string]guarding{"foundOurs": anyOwner, "foundNone": never},
				Actions: map[string]acting{"noteOwner": ignoringOwner, "takeLowest": ignoringOwner},
			}
		})},
	{Name: "election: a node is deleted by a name of another connection", Shape: func(p *Plan) {
		inDir(plainElectionDir)(p)
		p.often(6, "cut", "operator deletes the line")
	},
		Mutations: inOne("election", func() mutate.Mutation {
			return mutate.Mutation{Actions: map[string]acting{
				"deleteOwn": func(model any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
					*field[bool](model, "ownerKnown") = ownPath(model) != ""
					do(ev)
				}}}
		})},
}
