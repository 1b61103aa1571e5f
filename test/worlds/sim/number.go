package sim

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/test/kit/mutate"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// numberDir is the directory of an atomic long and of a shared count.
const numberDir = "/app/numbers"

// numberRole is the role of the numbers. Its programs add, set, compare and set, and read. One
// that lost the race too often goes on, as under the lock of an atomic long. (The lock only
// makes room, and nothing here depends on it.) Each operation is carried out at most once, on
// the value that was there, and its answer was true.
var numberRole = &role{
	recipe:   "number",
	separate: true,
	dirs:     dirTraits{own: numberDir, public: true},
	handles:  handleTraits{most: 3},
	program:  numberProgram{},
	writes:   &writeChecks{isWrite: isNumberWrite, committed: numberCommitted, answered: numberAnswered},
	states: stateTraits{
		final: []engine.State{""},
		wakes: map[engine.State]waking{
			"reading": answered, "creating": answered, "writing": answered, "pausing": timed,
		},
	},
	plants: plantedNumbers,
}

type numberProgram struct{ callProgram }

func (numberProgram) options(u *user, d *rand.Rand) map[string]string {
	width := 4 << d.IntN(2)
	u.path = fmt.Sprintf("%s/%d", numberDir, width)
	u.c.w.checks.historyOf(u.path)
	return map[string]string{"width": fmt.Sprint(width)}
}

func (numberProgram) target(u *user) string { return u.path }

// numberValue is what an operation on a number tells.
type numberValue struct {
	value   int64
	version int32
}

func (numberProgram) act(u *user, n int) {
	d := u.dice()
	switch {
	case n < 8:
		u.operateNumber(d)
	case n == 8:
		u.giveUp()
	case n == 9 && world.OneIn(d, 3):
		u.c.w.numberFault(d, u.path)
	case n == 10:
		u.askAgain(events.CommandStart)
	case n == 11 && world.OneIn(d, 4):
		u.beginCall("", nil)
	}
}

// operateNumber asks for one operation on the number.
func (u *user) operateNumber(d *rand.Rand) {
	now := u.c.w.stateOf(u.path)
	task := []string{"get", "set", "add", "add", "add", "add", "swap", "replace"}[d.IntN(8)]
	expected := decode(now.data)
	if task == "replace" {
		expected = int64(now.number())
	}
	if world.OneIn(d, 4) {
		expected++
	}
	tries := []int{0, 1, 3, 1 << 20}[d.IntN(4)]
	u.beginCall(events.CommandStart,
		map[string]string{"task": task, "operand": fmt.Sprint(1 + d.IntN(99)), "expected": fmt.Sprint(expected),
			"seed": fmt.Sprint(d.IntN(3)), "tries": fmt.Sprint(tries)})
}

// numberFault has an operator write something that is no number, or another number, or
// delete the node.
func (w *harness) numberFault(d *rand.Rand, path string) {
	if w.healed {
		return
	}
	if world.OneIn(d, 3) {
		w.deleteTree(path)
		return
	}
	data := [][]byte{{1, 2, 3}, nil, make([]byte, len(w.stateOf(path).data))}[d.IntN(3)]
	w.ens.Operate(zkmem.Op{Code: zkmem.OpSetData, Path: path, Data: data, Version: zkmem.AnyVersion})
}

// noticed takes what the handle tells the caller in addition to the answer.
func (numberProgram) noticed(u *user, n events.Notify) {
	if d := u.c.w.checks.writeCallOf(u.c, u.id); d != nil && n.What == events.Value {
		d.value = &numberValue{n.Value, int32(n.Work)}
	}
}

// answered has an operation on an atomic long go on if it lost the race too often, as
// it does when it has the lock.
func (numberProgram) answered(u *user, a events.Answer) {
	k := u.c.w.checks
	k.writeAnswered(u, a)
	d := k.writeCallOf(u.c, u.id)
	if d == nil || a.Command != d.command || a.Code != events.BadVersion || d.value != nil {
		return
	}
	options := map[string]string{}
	for name, value := range d.call.options {
		options[name] = value
	}
	options["tries"] = fmt.Sprint(1 << 20)
	u.c.RunAfter(world.Between(u.dice(), 0, 100*time.Millisecond), func() { u.beginCall(events.CommandStart, options) })
}

func isNumberWrite(_ *writeCall, r events.Request) bool {
	m, multi := r.(events.Multi)
	return multi && m.Ops[0].Verb == "set"
}

func (d *writeCall) task() string { return cmp.Or(d.call.options["task"], "get") }

func (d *writeCall) number(option string) int64 {
	n, _ := strconv.ParseInt(d.call.options[option], 10, 64)
	return n
}

// newValue returns what an operation makes of a number.
func (d *writeCall) newValue(value int64) int64 {
	switch {
	case d.task() != "add":
		return d.number("operand")
	case d.u.options["width"] == "4":
		return int64(int32(value + d.number("operand")))
	}
	return value + d.number("operand")
}

// isUnexpected reports whether a number is not what an operation expects.
func (d *writeCall) isUnexpected(now numberValue) bool {
	switch d.task() {
	case "swap":
		return now.value != d.number("expected")
	case "replace":
		return int64(now.version) != d.number("expected")
	}
	return false
}

// numberCommitted checks that a write follows from the value that was there. A node
// that has replaced the one that was read, and has reached its version, cannot be told
// from it.
func numberCommitted(k *checks, d *writeCall, p *world.Proposal) {
	c := k.historyOf(d.path)
	was, is := c.states[len(c.states)-2], c.last()
	if c.replaced(d, was) {
		return
	}
	if d.task() == "get" || d.isUnexpected(was.numberValue()) || decode(is.data) != d.newValue(decode(was.data)) {
		k.fail("a write follows from the value before", "%s (%v) made %d of %d", d, d.call.options, decode(is.data),
			decode(was.data))
	}
}

// replaced reports whether another node existed since a call began.
func (c *nodeHistory) replaced(d *writeCall, by nodeState) bool {
	return slices.ContainsFunc(c.statesSince(d.at), func(v nodeState) bool {
		return v.stat != nil && by.stat != nil && v.stat.Czxid != by.stat.Czxid
	})
}

func (v nodeState) numberValue() numberValue { return numberValue{decode(v.data), v.number()} }

// wasValue reports whether the number was what an operation tells, at some moment
// since it began.
func (c *nodeHistory) wasValue(d *writeCall) bool {
	return slices.ContainsFunc(c.statesSince(d.at), func(v nodeState) bool {
		return v.stat != nil && v.numberValue() == *d.value
	})
}

func numberAnswered(k *checks, d *writeCall, a events.Answer) {
	c, task := k.historyOf(d.path), d.task()
	switch {
	case a.Code == events.OK && d.value == nil:
		k.fail("a number is told", "%s was answered, and not told the number", d)
	case a.Code == events.OK && task != "get" && len(d.committed) == 0:
		k.fail("a call answered as done is done", "%s was answered, and nothing was written", d)
	case a.Code == events.OK && task != "get":
		if made, found := c.wrote(d.committed[0].Txn.Zxid); found && made.numberValue() != *d.value {
			k.fail("a number is told as it is", "%s wrote %v, and tells %v", d, made.numberValue(), *d.value)
		}
	case a.Code == events.BadVersion && d.value == nil:
		k.checkRefusal(d, a.Code)
	case a.Code == events.BadVersion && !d.isUnexpected(*d.value):
		k.fail("a refusal has a reason", "%s tells %v, which is what it expects", d, *d.value)
	}
	if d.value != nil && task == "get" || a.Code == events.BadVersion && d.value != nil {
		if !c.wasValue(d) {
			k.fail("what is read was true since it was asked for", "%s tells %v, which it was not since", d, *d.value)
		}
	}
	if a.Code == events.BadArguments && !slices.ContainsFunc(c.statesSince(d.at), func(v nodeState) bool {
		return v.stat != nil && v.data != "" && fmt.Sprint(len(v.data)) != d.u.options["width"]
	}) {
		k.fail("what is read was true since it was asked for", "%s says that there is no number, and there was one", d)
	}
}

// decode returns a number as Curator's recipes write it; other data are zero.
func decode(data string) int64 {
	switch len(data) {
	case 4:
		return int64(int32(binary.BigEndian.Uint32([]byte(data))))
	case 8:
		return int64(binary.BigEndian.Uint64([]byte(data)))
	}
	return 0
}

func inNumber(name string, m func() mutate.Mutation) Plant {
	return Plant{Name: "number: " + name, Shape: inDir(numberDir), Mutations: inOne("number", m)}
}

var plantedNumbers = []Plant{
	syncForCheck("number", numberDir),
	inNumber("it is added to again when the answer was lost", func() mutate.Mutation {
		return withGuard("changedMeanwhile", never)
	}),
	inNumber("a lost race counts as done", func() mutate.Mutation { return withGuard("done", always) }),
	inNumber("a caller who leaves is told that nothing was written", func() mutate.Mutation {
		return withGuard("wasSent", never)
	}),
	inNumber("whatever it is, it is what was expected", func() mutate.Mutation { return withGuard("unequal", never) }),
	inNumber("a number of the same version is the same", func() mutate.Mutation {
		return withGuard("changedMeanwhile", func(model any, ev events.Event, holds func(events.Event) bool) bool {
			if ev.Stat != nil {
				stat := *ev.Stat
				stat.Czxid = *field[int64](model, "node")
				ev.Stat = &stat
			}
			return holds(ev)
		})
	}),
	{Name: "number: it is written whatever its version is", Shape: inDir(numberDir),
		Stepped: effectsOf("number", func(e events.Effect) events.Effect {
			if m, multi := e.(events.Multi); multi && m.Ops[0].Verb == "set" {
				m.Ops = slices.Clone(m.Ops)
				m.Ops[0].Version = -1
				return m
			}
			return e
		})},
	inNumber("a number that is read is one that was written next", func() mutate.Mutation {
		return mutate.Mutation{Actions: map[string]acting{
			"answerRead": func(model any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
				stat := *ev.Stat
				stat.Version++
				ev.Stat = &stat
				do(ev)
			}}}
	}),
}
