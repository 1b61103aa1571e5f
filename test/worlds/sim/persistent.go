package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/test/kit/mutate"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// persistentDir is the directory of persistent nodes, which are the members of a group too.
const persistentDir = "/app/kept"

// persistentRole is the role of the persistent node. Its programs keep a node at one of three
// paths, so that some are in each other's way, and set its data.
var persistentRole = &role{
	recipe:  "persistent",
	dirs:    dirTraits{own: persistentDir, public: true},
	handles: handleTraits{most: 2},
	program: persistentProgram{},
	states: stateTraits{
		final: []engine.State{"present", "occupied", "closed", ""},
		wakes: map[engine.State]waking{
			"creating": answered, "reading": answered, "writing": answered, "clearing": answered, "leaving": answered,
			"present": needs(1), "occupied": needs(1), "pausing": timed,
		},
		faults: map[engine.State][]string{
			"leaving":  {"set the own node's data", "hide the own node", "throttle"},
			"clearing": {"delete the own node", "set the own node's data"},
		},
	},
	plants: plantedPersistents,
}

type persistentProgram struct{ handleProgram }

func (persistentProgram) options(u *user, d *rand.Rand) map[string]string {
	u.path, u.payload = u.c.freePath(d), 1
	u.sets = map[uint64]uint64{}
	return nil
}

func (persistentProgram) payload(u *user, number uint64) []byte { return u.data(number) }
func (persistentProgram) target(u *user) string                 { return u.path }

func (persistentProgram) owns(u *user, _ string) bool {
	return u.c.w.checks.persistentOwners[u.path] == u
}

// nodeView is what the program of a persistent node knows.
type nodeView struct {
	payload         uint64            // the number of the data that it set last; 0 if it keeps no node
	sets            map[uint64]uint64 // the commands, and the numbers of their data
	present         bool              // as it was told
	wrote           uint64            // the last number that was committed
	refused         bool              // some data were refused
	deletedByOthers bool              // others, or a later session of its own, deleted the node that it created last
	changedByOthers bool              // others wrote to its node
	session         int64             // the session that created the node
	version         int32             // of the node, as the machine read it last
	readOwn         bool              // and whether this handle had created that node
}

// freePath returns one of three paths, a different one for each handle of a process:
// after a lost reply two handles at one path could not be told apart.
func (c *client) freePath(d *rand.Rand) string {
	for {
		path := persistentDir + "/" + string("abc"[d.IntN(3)])
		if !slices.ContainsFunc(c.users, func(u *user) bool { return u.path == path }) {
			return path
		}
	}
}

func (p persistentProgram) act(u *user, n int) {
	switch {
	case n < 3 && len(u.awaits) < 3:
		u.awaits[u.c.Ask(u.id, events.CommandAwait, events.Event{})] = true
	case n < 6 && len(u.sets) < 3 && !u.c.w.healed:
		u.payload++
		u.sets[u.c.Ask(u.id, events.CommandSet, events.Event{Work: u.payload})] = u.payload
	case n == 7:
		p.cancel(u)
	}
}

// cancel ends the context of the wait that began last.
func (persistentProgram) cancel(u *user) bool {
	number := uint64(0)
	for n := range u.awaits {
		number = max(number, n)
	}
	for n := range u.sets {
		number = max(number, n)
	}
	u.c.Post(u.id, events.Event{Kind: events.CommandCancel, Work: max(number, 1)}) // 1 belongs to another handle
	return number > 0
}

// data returns what the handle's data of this number are: they have its name.
func (u *user) data(payload uint64) []byte {
	return fmt.Appendf(nil, "%d of %s", payload, strings.Replace(u.name(), "/", " ", 1))
}

// nameInData returns the name of the handle in a node's data.
func nameInData(data string) string {
	_, name, _ := strings.Cut(data, " of ")
	return strings.Replace(name, " ", "/", 1)
}

func (persistentProgram) noticed(u *user, n events.Notify) {
	k := u.c.w.checks
	switch n.What {
	case events.Present:
		if u.present {
			k.fail("present and absent alternate", "%s was told twice that its node exists", u.name())
		}
		u.present = true
		if by, known := k.createdBy[n.Token]; k.w.ens.Generation() == 0 && (!known || by != u.name()) {
			k.fail("present means that the handle created the node",
				"%s was told that its node exists; czxid %x is of %q", u.name(), n.Token, by)
		}
	case events.Absent:
		u.present = false
	case events.Failed:
		u.refused = u.refused || n.Code == events.NoAuth // of data too, if no call waits for them any more
	}
}

func (persistentProgram) answered(u *user, a events.Answer) {
	payload, set := u.sets[a.Command]
	if !set {
		return
	}
	delete(u.sets, a.Command)
	switch a.Code {
	case events.OK:
		if u.wrote < payload {
			u.c.w.checks.fail("acknowledged data were written",
				"%s was told that payload %d is written; the last that was is %d", u.name(), payload, u.wrote)
		}
	case events.Cancelled, events.Closed:
	default:
		u.refused = true // it depends on what was refused whether the handle gives up
	}
}

// unsettled returns what a program was told of its node and is not true.
func (persistentProgram) unsettled(u *user) string {
	data, stat, err := u.c.w.ens.Committed().Get(u.path)
	life := u.c.w.ens.Generation()
	ours := err == nil && u.c.w.checks.createdBy[stat.Czxid] == u.name() && stat.EphemeralOwner == u.c.SessionID()
	switch {
	case u.closing || u.c.leaving:
		return ""
	case err != nil:
		return "keeps no node, and nobody else does"
	case life > 0 && u.c.Engine().State(u.id) == "occupied":
		// by a node of its own that a backup brought back: an operator has to delete it
		return ""
	case ours != u.present:
		return fmt.Sprintf("was told present %t, and it is %t", u.present, ours)
	case ours && !u.refused && !u.changedByOthers && string(data) != string(u.data(u.payload)):
		return fmt.Sprintf("has %q at its node, and set payload %d", data, u.payload)
	}
	return ""
}

// persistentCommitted checks that only the handle that created a persistent node
// writes and deletes it. If the node that a handle has read ends before its request comes,
// the request may hit the next one: ZooKeeper compares versions, not owners.
func (k *checks) persistentCommitted(t zkmem.Txn, p *world.Proposal) {
	for _, sub := range t.Ops {
		k.persistentCommitted(sub, p)
	}
	for _, path := range t.Ephemerals {
		delete(k.persistentOwners, path)
	}
	if !strings.HasPrefix(t.Path, persistentDir+"/") {
		return
	}
	by, owner := k.w.handleAt(t.Path, p.Txn.Session), k.persistentOwners[t.Path]
	foreign := !p.Operator && owner != nil && owner != by && (by == nil || !by.deletedByOthers) &&
		k.w.ens.Generation() == 0
	switch t.Code {
	case zkmem.OpCreate:
		k.persistentOwners[t.Path], k.createdBy[p.Txn.Zxid] = by, nameInData(string(t.Data))
		if by != nil {
			by.deletedByOthers, by.wrote, by.session = false, max(by.wrote, payloadOf(t.Data)), p.Txn.Session
		}
	case zkmem.OpSetData:
		if foreign {
			k.fail("only its creator changes a node", "session %x wrote %q to the node of %s", p.Txn.Session,
				t.Data, owner.name())
		}
		if owner != nil && owner != by {
			owner.changedByOthers = true
		}
		if by != nil && !p.Operator && t.Version != by.version+1 {
			k.fail("a set has the version that was read", "%s read version %d, and sets the node of version %d",
				by.name(), by.version, t.Version-1)
		}
		if by != nil {
			by.wrote = max(by.wrote, payloadOf(t.Data))
		}
	case zkmem.OpDelete:
		if foreign && (by == nil || !by.readOwn) {
			k.fail("only its creator changes a node", "session %x deleted the node of %s", p.Txn.Session, owner.name())
		}
		if owner != nil {
			owner.deletedByOthers = owner.deletedByOthers || owner != by || owner.session != p.Txn.Session
		}
		delete(k.persistentOwners, t.Path)
	}
}

// versionRead notes the version of its node that a persistent node's machine has read.
func (u *user) versionRead(r events.Record) {
	switch {
	case r.Row == events.RowLate:
	case r.Event.Kind == events.ReplyCreate && r.Event.Code == events.OK:
		u.version = 0
	case r.Event.Kind == events.ReplyStat && r.Event.Stat != nil:
		u.version = r.Event.Stat.Version
		u.readOwn = u.c.w.checks.createdBy[r.Event.Stat.Czxid] == u.name()
	}
}

// handleAt returns the handle at a path in the process that has, or had, a session.
func (w *harness) handleAt(path string, session int64) *user {
	if c := w.clientOf(session); c != nil {
		for _, u := range c.users {
			if u.payload != 0 && u.path == path {
				return u
			}
		}
	}
	return nil
}

// clientOf returns the process that has, or had, a session.
func (w *harness) clientOf(session int64) *client {
	for _, c := range w.clients {
		if slices.Contains(c.SessionIDs(), session) {
			return c
		}
	}
	return nil
}

// payloadOf returns the number in data.
func payloadOf(data []byte) (n uint64) {
	number, _, _ := strings.Cut(string(data), " of ")
	n, _ = strconv.ParseUint(number, 10, 64)
	return n
}

var plantedPersistents = []Plant{
	{Name: "persistent: it deletes any node at its path", Shape: inDir(persistentDir),
		Mutations: inOne("persistent", func() mutate.Mutation {
			return withGuard("isOldNode", func(_ any, ev events.Event, _ func(events.Event) bool) bool {
				return ev.Code == events.OK
			})
		})},
	{Name: "persistent: any node at its path is its own", Shape: inDir(persistentDir),
		Mutations: inOne("persistent", func() mutate.Mutation {
			return withGuard("ours", func(_ any, ev events.Event, _ func(events.Event) bool) bool {
				return ev.Code == events.OK
			})
		})},
	{Name: "persistent: a node that was deleted is not made again", Shape: inDir(persistentDir),
		Mutations: inOne("persistent", func() mutate.Mutation {
			return mutate.Mutation{Actions: map[string]acting{"create": ignoring(events.WatchDeleted)}}
		})},
	{Name: "persistent: data that changed on the way are forgotten", Shape: inDir(persistentDir),
		Mutations: inOne("persistent", func() mutate.Mutation {
			return withGuard("oursStale", never)
		})},
	{Name: "persistent: the end of the connection is not told", Shape: inDir(persistentDir),
		Stepped: effectsOf("persistent", func(e events.Effect) events.Effect {
			if n, ok := e.(events.Notify); ok && n.What == events.Absent {
				return nil
			}
			return e
		})},
	{Name: "persistent: it sets any version", Shape: inDir(persistentDir),
		Stepped: effectsOf("persistent", func(e events.Effect) events.Effect {
			if m, ok := e.(events.Multi); ok && m.Ops[0].Verb == "set" {
				m.Ops = slices.Clone(m.Ops)
				m.Ops[0].Version = -1
				return m
			}
			return e
		})},
	{Name: "persistent: closing, it leaves its node", Shape: inDir(persistentDir),
		Mutations: inOne("persistent", func() mutate.Mutation { return withGuard("mayGetNode", never) })},
}
