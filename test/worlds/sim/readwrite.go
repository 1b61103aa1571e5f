package sim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/test/kit/mutate"
)

// readWriteRole is the role of the read-write lock. Its programs read and write, try, give up,
// and go on as a reader in a writer's place.
var readWriteRole = &role{
	recipe:   "readwrite",
	separate: true,
	line:     lineTraits{label: machines.WriteLabel, readers: machines.ReadLabel},
	dirs:     dirTraits{own: readWriteDir},
	handles:  handleTraits{most: 3},
	program:  readWriteProgram{},
	states: stateTraits{
		final: []engine.State{""},
		wakes: with(holdWakes, map[engine.State]waking{"downgrading": timed}), // replies come, or their loss
		faults: map[engine.State][]string{
			"verifying":   {"hide the own node, then delete it"},
			"downgrading": {"cut", "pause", "end the session"},
		},
	},
	plants: plantedReadWrite,
}

type readWriteProgram struct{ callProgram }

const readWriteDir = "/app/readwrite"

func (readWriteProgram) act(u *user, n int) {
	switch {
	case n < 7:
		d := u.dice()
		u.beginCall(events.CommandAwait,
			map[string]string{"try": fmt.Sprint(world.OneIn(d, 4)), "revocable": fmt.Sprint(world.OneIn(d, 4)),
				"reads": fmt.Sprint(world.OneIn(d, 2))})
	case n == 7 && world.OneIn(u.dice(), 3):
		u.askAgain(events.CommandAwait)
	case n == 8:
		u.giveUp()
	case n == 9 || n == 10:
		u.write()
	case n == 11 && world.OneIn(u.dice(), 4):
		u.beginCall("", nil)
	}
}

// workReturned has every other writer ask to go on as a reader.
func (readWriteProgram) workReturned(u *user, _ uint64, ev *events.Event) {
	if u.call.options["reads"] == "false" && u.leads && !isReader(u.term.path) && !u.call.downgrades &&
		world.OneIn(u.dice(), 2) {
		u.call.downgrades = true
		ev.Request = u.c.ExpectAnswer(u.id)
	}
}

func (readWriteProgram) noticed(u *user, n events.Notify) {
	k := u.c.w.checks
	most := 1
	if u.call.downgrades {
		most = 2
	}
	switch n.What {
	case events.Granted:
		if u.call.grants++; u.call.grants > most {
			k.fail("a hold is granted once", "%s was granted %d times", u.name(), u.call.grants)
		}
		u.beginWork()
	case events.Elected:
		if u.call.terms++; u.call.terms > most {
			k.fail("a hold is over after its end", "%s holds again", u.name())
		}
		if isReader(n.Path) {
			u.made = append(u.made, n.Path)
		}
	case events.Stopped:
		u.stopWork()
	}
}

// isReader reports whether a node belongs to a reader.
func isReader(path string) bool { return strings.Contains(path, machines.ReadLabel) }

// holdsWithReaders checks that a reader holds behind no writer, a writer behind nobody,
// and that writers' tokens grow. A reader that was a writer has its token and place.
func (k *checks) holdsWithReaders(b *belief) {
	dir, name := split(b.path)
	_, stat, err := k.w.ens.Committed().Get(b.path)
	if err != nil {
		b.deletedAt, b.excused, b.unreadable = k.w.Now(), true, k.unreadable[b.path]
		if !k.othersChanged && b.u.c.believes(b) {
			k.fail("belief within the life of the own node", "%s begins to hold %s, which is not there",
				b.u.name(), b.path)
		}
		return
	}
	if stat.EphemeralOwner != b.u.c.SessionID() && b.u.c.believes(b) {
		k.fail("the owner is this session", "%s holds %s, which session %x owns; its own is %x", b.u.name(), b.path,
			stat.EphemeralOwner, b.u.c.SessionID())
	}
	line, _ := machines.Line(k.w.ens.Children(dir), b.u.role.labels()...)
	for _, p := range line {
		if p.Name == name {
			break
		}
		if !(isReader(name) && isReader(p.Name)) && b.u.c.believes(b) && !k.othersChanged {
			k.fail("nobody that excludes a holder is before it", "%s holds %s, and %s is before it",
				b.u.name(), name, p.Name)
		}
	}
	if !isReader(name) {
		k.tokensGrow(b)
	}
}

// outside reports whether a reader's node is before nodes that were created earlier:
// it was a writer's.
func (w *harness) outside(dir, name string, than int64) bool {
	_, stat, err := w.ens.Committed().Get(dir + "/" + name)
	return err == nil && isReader(name) && stat.Czxid > than
}

// hidingNodes plants a listing that does not show some nodes to some holds.
func hidingNodes(hides func(c *client, u *user,
	name string) bool) func(c *client, id events.ID, ev *events.Event) bool {
	return func(c *client, id events.ID, ev *events.Event) bool {
		if u := c.user(id); u != nil && u.role.recipe == "readwrite" && ev.Kind == events.ReplyChildren {
			ev.Children = without(ev.Children, func(name string) bool {
				return !slices.Contains(u.made, u.dir+"/"+name) && hides(c, u, name)
			})
		}
		return true
	}
}

var plantedReadWrite = []Plant{
	{Name: "readwrite: a reader does not see writers", Shape: inDir(readWriteDir),
		Posted: hidingNodes(func(c *client, u *user, name string) bool {
			return u.call.options["reads"] == "true" && strings.Contains(name, machines.WriteLabel)
		})},
	{Name: "readwrite: a writer does not see readers", Shape: inDir(readWriteDir),
		Posted: hidingNodes(func(c *client, u *user, name string) bool {
			return u.call.options["reads"] == "false" && isReader(name)
		})},
	{Name: "readwrite: names outside the sequence are not looked for", Shape: inDir(readWriteDir),
		Posted: hidingNodes(func(c *client, u *user, name string) bool {
			if u.call.options["reads"] == "true" || len(u.made) == 0 {
				return false
			}
			_, own, err := c.w.ens.Committed().Get(u.made[0])
			return err == nil && c.w.outside(u.dir, name, own.Czxid)
		})},
	{Name: "readwrite: a writer reads on before its term as a writer is over", Shape: inDir(readWriteDir),
		Mutations: inOne("readwrite", func() mutate.Mutation {
			return mutate.Mutation{Actions: map[string]acting{
				"endTerm": func(_ any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
					if ev.Request == 0 || ev.Kind != events.WorkReturned {
						do(ev)
					}
				}}}
		})},
	{Name: "readwrite: a writer that goes on as a reader gets a node at the end of the line",
		Shape: inDir(readWriteDir), Stepped: editEffects(func(c *client, id events.ID, e events.Effect) events.Effect {
			multi, ok := e.(events.Multi)
			if u := c.user(id); ok && u != nil && u.role.recipe == "readwrite" && len(multi.Ops) == 2 &&
				multi.Ops[0].Verb == "create" {
				i := strings.LastIndex(multi.Ops[0].Path, machines.ReadLabel) + len(machines.ReadLabel)
				ops := slices.Clone(multi.Ops)
				ops[0].Path = ops[0].Path[:i] + "0000009999"
				multi.Ops = ops
				return multi
			}
			return e
		})},
	{Name: "readwrite: a transaction with an unknown outcome leaves its node", Shape: inDir(readWriteDir),
		Mutations: inOne("readwrite", func() mutate.Mutation {
			return mutate.Mutation{Actions: map[string]acting{
				"giveUpDowngrade": func(model any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
					do(ev)
					*field[bool](model, "unknown") = false
				}}}
		})},
}
