package machines

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// number is one operation on a number that a node holds, in Curator's layout: four
// bytes, or eight, the highest first. A machine deals with one and is over.
type number struct {
	standalone
	parentMaker
	task     string
	width    int   // bytes
	operand  int64 // what is set or added
	expected int64 // of swap: the value; of replace: the version
	seed     int64 // what a number that is not there begins with
	tries    int   // conflicts that may still be met with another try
	command  uint64

	value   int64 // read last
	version int32
	sent    bool // a write was not answered
	asked   int32
	node    int64 // the czxid of what was to be written
}

// What can be done with a number.
const (
	numberGet     = "get"
	numberSet     = "set"
	numberAdd     = "add"
	numberSwap    = "swap"    // if it has this value
	numberReplace = "replace" // if it has this version
)

// NumberRecipe makes operations on numbers. Options: "task", "width", "operand",
// "expected", "seed", "tries", "retry".
var NumberRecipe = engine.NewRecipe(numberChart, func(open events.Event) (*number, error) {
	o := options{values: open.Options}
	n := &number{standalone: newStandalone(open, &o), parentMaker: newParentMaker(parent(open.Path)), task: o.text("task", numberGet), width: o.integer("width", 8),
		operand: o.number("operand"), expected: o.number("expected"), seed: o.number("seed"), tries: o.integer("tries", 0)}
	n.retry = o.policy("retry", BoundedExponential(-1, 20*time.Millisecond, time.Second)) // conflicts are short
	return n, o.err
})

var (
	numberStates    = from{reading, creating, writing, suspended, pausing}
	numberConnected = but(numberStates, suspended)
)

var numberChart = engine.MustCompile(engine.Chart[number]{
	Name: "number",
	Doc:  "One operation on a number in a node: it is read, and written if nobody has written meanwhile; else it is tried again.",
	States: []engine.StateDoc{
		{Name: latent, Doc: "Nothing was asked yet."},
		{Name: reading, Doc: "The number is being read, behind a check through the quorum, or a sync where a write follows anyway."},
		{Name: creating, Doc: "There was none; it is being made with its first value; before it, where its directory did not exist, that, as a container where the server can."},
		{Name: writing, Doc: "The new value is being written, in the version that was read."},
		{Name: suspended, Doc: "No connection. After the next one the number is read again: that tells whether an unanswered write was carried out, unless others have written, too."},
		{Name: pausing, Doc: "Somebody else was faster, or the ensemble could not do it for now. The next attempt waits for a back-off with jitter."},
		{Name: closed, Doc: "The call was answered."},
	},
	Final: closed,
	Happy: from{latent, reading, writing, closed},
	Kinds: []events.Kind{
		events.CommandStart, events.CommandClose, events.ReplyStat, events.ReplyCreate, events.ReplyMulti,
		events.ConnectionAttached, events.ConnectionSuspended, events.ConnectionLost, events.TimerFired,
	},
	Rows: []engine.Row[number]{
		{From: from{latent}, On: on(events.CommandStart), When: (*number).attached, To: reading, Do: (*number).begin, Then: (*number).look},
		{From: from{latent}, On: on(events.CommandStart), To: suspended, Do: (*number).begin},
		{From: numberStates, On: on(events.CommandStart), To: engine.Stay, Do: (*number).refuseStart},

		{From: from{reading}, On: on(events.ReplyMulti, events.ReplyStat), When: (*number).transient, To: pausing, Do: (*number).failAndBackOff},
		{From: from{reading}, On: on(events.ReplyMulti), To: reading},
		{From: from{reading}, On: on(events.ReplyStat), When: (*number).changedMeanwhile, To: closed, Do: (*number).answerUnknown},
		{From: from{reading}, On: on(events.ReplyStat), When: (*number).noNode, To: creating, Do: (*number).create},
		{From: from{reading}, On: on(events.ReplyStat), When: (*number).refused, To: closed, Do: (*number).refuse},
		{From: from{reading}, On: on(events.ReplyStat), When: (*number).malformed, To: closed, Do: (*number).reject},
		{From: from{reading}, On: on(events.ReplyStat), When: (*number).read, To: closed, Do: (*number).answerRead},
		{From: from{reading}, On: on(events.ReplyStat), When: (*number).unequal, To: closed, Do: (*number).decline},
		{From: from{reading}, On: on(events.ReplyStat), To: writing, Do: (*number).write},

		{From: from{creating}, On: on(events.ReplyCreate), When: (*number).ofParent, To: creating, Do: (*number).noteParent},
		{From: from{creating}, On: on(events.ReplyCreate), When: (*number).parentMissing, To: creating, Do: (*number).createWithParents},
		{From: from{creating}, On: on(events.ReplyCreate), When: (*number).delayed, To: pausing, Do: (*number).failByRootCause},
		{From: from{creating}, On: on(events.ReplyCreate), When: (*number).createRefused, To: closed, Do: (*number).refuse},
		{From: from{creating}, On: on(events.ReplyCreate), To: reading, Do: (*number).look},

		{From: from{writing}, On: on(events.ReplyMulti), When: (*number).done, To: closed, Do: (*number).answerWritten},
		{From: from{writing}, On: on(events.ReplyMulti), When: (*number).noNode, To: reading, Do: (*number).settle, Then: (*number).look},
		{From: from{writing}, On: on(events.ReplyMulti), When: (*number).lostRace, To: pausing, Do: (*number).retryLater},
		{From: from{writing}, On: on(events.ReplyMulti), When: (*number).transient, To: pausing, Do: (*number).settle, Then: (*number).failAndBackOff},
		{From: from{writing}, On: on(events.ReplyMulti), To: closed, Do: (*number).refuse},

		{From: numberConnected, On: on(events.ConnectionSuspended), To: suspended},
		{From: numberStates, On: on(events.ConnectionLost), To: suspended},
		{From: from{suspended}, On: on(events.ConnectionAttached), To: reading, Do: (*number).look},
		{From: from{pausing}, On: on(events.TimerFired), To: reading, Do: (*number).look},

		{From: from{latent}, On: on(events.CommandClose), To: closed, Do: (*number).finish},
		{From: numberStates, On: on(events.CommandClose), When: (*number).wasSent, To: closed, Do: (*number).answerUnknown, Then: (*number).finish},
		{From: numberStates, On: on(events.CommandClose), To: closed, Do: (*number).withdraw, Then: (*number).finish},
	},
	Ignores: []engine.Ignore{
		{In: from{latent}, On: []events.Kind{events.ReplyCreate, events.ConnectionAttached, events.ConnectionSuspended, events.ConnectionLost}, Why: "nothing was asked yet"},
		{In: numberConnected, On: []events.Kind{events.ConnectionAttached}, Why: "a connection ends, through suspended, before the next begins"},
		{In: from{suspended}, On: []events.Kind{events.ConnectionSuspended}, Why: "there is no connection to lose"},
		{In: from{reading, writing, suspended, pausing}, On: []events.Kind{events.ReplyCreate}, Why: "only the state that asked awaits it"},
	},
})

// changedMeanwhile is a number that somebody has written since a write of ours that was not
// answered, or another node in its place: who it was cannot be told.
func (n *number) changedMeanwhile(ev events.Event) bool {
	return n.sent && (ev.Code != events.OK || ev.Stat.Version != n.asked || ev.Stat.Czxid != n.node)
}

// malformed is a node that holds something else. One that holds nothing is zero,
// as for Curator.
func (n *number) malformed(ev events.Event) bool { return len(ev.Data) != 0 && len(ev.Data) != n.width }

// read is a call that only wants to know.
func (n *number) read(events.Event) bool { return n.task == numberGet }

// unequal is a number that is not what the call expects.
func (n *number) unequal(ev events.Event) bool {
	switch n.task {
	case numberSwap:
		return decode(ev.Data) != n.expected
	case numberReplace:
		return int64(ev.Stat.Version) != n.expected
	}
	return false
}

// createRefused is a create that the ensemble refuses for good.
func (n *number) createRefused(ev events.Event) bool {
	return ev.Code != events.OK && ev.Code != events.NodeExists
}

// done is a write that was carried out.
func (n *number) done(ev events.Event) bool { return ev.Code == events.OK }

// lostRace is a write that came after somebody else's, with a try left.
func (n *number) lostRace(ev events.Event) bool {
	return ev.Code == events.BadVersion && n.tries > 0
}

// wasSent is a write that may have been carried out.
func (n *number) wasSent(events.Event) bool { return n.sent }

func (n *number) begin(ev events.Event, out *engine.Outbox) { n.command = ev.Request }

// look reads the number, behind a check that goes through the quorum: whatever was
// written is seen. Where a write follows anyway, which fails on what is out of date,
// a sync will do: a leader that was deposed goes on answering it.
func (n *number) look(ev events.Event, out *engine.Outbox) {
	if n.sent || n.task != numberSet && n.task != numberAdd {
		out.Multi(events.Check(n.path))
	} else {
		out.With(engine.Unawaited).Sync(n.path)
	}
	out.With(engine.Data).Get(n.path)
}

// create makes the number. A get, too: Curator's readers expect the node.
func (n *number) create(ev events.Event, out *engine.Outbox) {
	n.resetParents()
	out.Create(events.Op{Path: n.path, Mode: events.Persistent, Data: encode(n.seed, n.width)})
}

// createWithParents makes the missing parents, and the number behind them.
func (n *number) createWithParents(ev events.Event, out *engine.Outbox) {
	n.makeParents(ev, out)
	out.Create(events.Op{Path: n.path, Mode: events.Persistent, Data: encode(n.seed, n.width)})
}

// delayed is a create that may do better later, as its parents' may.
func (n *number) delayed(ev events.Event) bool { return n.transient(n.rootCause(ev)) }

// write writes what comes of what was read.
func (n *number) write(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	n.note(ev)
	n.sent, n.asked, n.node = true, n.version, ev.Stat.Czxid
	out.Multi(events.Op{Verb: "set", Path: n.path, Data: encode(n.next(), n.width), Version: n.version})
}

func (n *number) next() int64 {
	if n.task == numberAdd {
		return n.value + n.operand
	}
	return n.operand
}

func (n *number) note(ev events.Event) { n.value, n.version = decode(ev.Data), ev.Stat.Version }

// settle notes that nothing was written.
func (n *number) settle(ev events.Event, out *engine.Outbox) { n.sent = false }

// retryLater tries again after a while.
func (n *number) retryLater(ev events.Event, out *engine.Outbox) {
	n.sent = false
	n.tries--
	wait, _ := n.retry.Next(n.failures, 0, n.dice.next())
	n.failures++
	out.Timer(backOffTimer, wait)
}

// answerRead answers with the number as it was read.
func (n *number) answerRead(ev events.Event, out *engine.Outbox) {
	n.note(ev)
	n.succeed(ev, out)
}

// answerWritten answers with the number as it was written.
func (n *number) answerWritten(ev events.Event, out *engine.Outbox) {
	n.value, n.version = n.next(), n.version+1
	n.succeed(ev, out)
}

func (n *number) succeed(ev events.Event, out *engine.Outbox) {
	n.report(out)
	out.Answer(n.command, events.OK, "")
}

// decline answers that the number is another one.
func (n *number) decline(ev events.Event, out *engine.Outbox) {
	n.note(ev)
	n.report(out)
	out.Answer(n.command, events.BadVersion, n.path)
}

func (n *number) report(out *engine.Outbox) {
	out.Notify(events.Notify{What: events.Value, Path: n.path, Work: uint64(n.version), Value: n.value})
}

// refuse answers with what the ensemble refuses.
func (n *number) refuse(ev events.Event, out *engine.Outbox) {
	ev = n.rootCause(ev)
	out.Answer(n.command, ev.Code, n.failureText(ev))
}

// reject answers that the node holds no such number.
func (n *number) reject(ev events.Event, out *engine.Outbox) {
	out.Answer(n.command, events.BadArguments, fmt.Sprintf("%s holds %d bytes, which are no number of %d", n.path, len(ev.Data), n.width))
}

// answerUnknown answers that the write may have been carried out.
func (n *number) answerUnknown(ev events.Event, out *engine.Outbox) {
	out.Answer(n.command, events.OutcomeUnknown, n.path)
}

// withdraw answers that nothing was written.
func (n *number) withdraw(ev events.Event, out *engine.Outbox) {
	out.Answer(n.command, events.Closed, "")
}

// encode writes a number as Curator does.
func encode(value int64, width int) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(value))[8-width:]
}

func decode(data []byte) int64 {
	switch len(data) {
	case 4:
		return int64(int32(binary.BigEndian.Uint32(data)))
	case 8:
		return int64(binary.BigEndian.Uint64(data))
	}
	return 0
}

// failByRootCause is complain, of the parent that is to blame.
func (n *number) failByRootCause(ev events.Event, out *engine.Outbox) {
	n.failAndBackOff(n.rootCause(ev), out)
}
