package machines

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// number is one operation on a number that a node holds, in Curator's layout: four bytes, or eight, the
// highest first. A machine handles one operation and ends.
type number struct {
	paced
	parentMaker
	task     string
	width    int   // bytes
	operand  int64 // the value to set or add
	expected int64 // of swap: the value; of replace: the version
	seed     int64 // the first value of a number that does not exist
	tries    int   // how many further tries may follow conflicts
	command  uint64

	value   int64 // that was read last
	version int32
	sent    bool // a write was sent and not answered

	// unanswered says that the outcome of an earlier write was unknown, although the number had not changed then. If
	// another write comes first later, it may be that one.
	unanswered bool

	asked int32
	node  int64 // the czxid of the node that was to be written
	made  bool  // this call created the node
}

// The operations on a number.
const (
	NumberGet     = "get"
	NumberSet     = "set"
	NumberAdd     = "add"
	NumberSwap    = "swap"    // set, if it has this value
	NumberReplace = "replace" // set, if it has this version
)

// NumberRecipe makes operations on numbers. Options: "task", "width", "operand",
// "expected", "seed", "tries", "retry".
var NumberRecipe = &engine.RecipeOf[number]{Named: "number", Chart: numberChart, Open: newNumber}

func newNumber(open events.Event) (*number, error) {
	o := optionsOf(open)
	n := &number{paced: newPaced(open, &o), parentMaker: newParentMaker(parent(open.Path)), task: o.task(),
		width: o.integer(OptionWidth, 8), operand: o.number(OptionOperand), expected: o.number(OptionExpected),
		seed: o.number(OptionSeed), tries: o.integer(OptionTries, 0)}
	n.retry = o.retry(&numberRetry)
	return n, o.check()
}

// numberRetry is the retry policy of an operation that is opened without one: conflicts are short.
var numberRetry = BoundedExponential(-1, 20*time.Millisecond, time.Second)

// task reads the option of numbers.
func (o *options) task() string {
	return option(o, OptionTask, NumberGet, func(s string) (string, error) {
		switch s {
		case NumberGet, NumberSet, NumberAdd, NumberSwap, NumberReplace:
			return s, nil
		}
		return "", strconv.ErrSyntax
	})
}

var (
	numberStates    = from{reading, creating, writing, suspended, pausing}
	numberConnected = but(numberStates, suspended)
)

func numberChart() (c engine.Chart[number]) {
	c.Doc = "One operation on a number in a node: it is read, and written unless somebody has written it " +
		"meanwhile; then it is tried again."
	c.States = described([]engine.StateDoc{
		{Name: latent, Doc: "There was no call yet."},
		{Name: reading, Doc: "The number is being read, behind a check through the quorum, or behind a sync if a " +
			"write follows anyway."},
		{Name: creating, Doc: "There was no number. It is being created with its first value. If its directory did " +
			"not exist, that is created first, as a container if the server knows them."},
		{Name: writing, Doc: "The new value is being written, in the version that was read."},
		{Name: suspended, Doc: "There is no connection. On the next one the number is read again. That shows whether " +
			"an unanswered write was carried out, unless others have written, too."},
		{Name: pausing, Doc: "Another client was faster, or the number was deleted again and again, or the ensemble " +
			"could not carry out a request. The next attempt follows after a back-off with jitter."},
		{Name: closed, Doc: "The call was answered."},
	})
	c.Final = closed
	c.Happy = from{latent, reading, writing, closed}
	c.Kinds = []events.Kind{
		events.CommandStart, events.CommandClose, events.ReplyStat, events.ReplyCreate, events.ReplyMulti,
		events.ConnectionAttached, events.ConnectionSuspended, events.ConnectionLost, events.TimerFired,
	}
	c.Rows = numberRows()
	c.Ignores = []engine.Ignore{
		{In: from{latent}, On: []events.Kind{events.ReplyCreate, events.ConnectionAttached, events.ConnectionSuspended,
			events.ConnectionLost}, Why: "there was no call yet"},
		{In: numberConnected, On: []events.Kind{events.ConnectionAttached},
			Why: "a connection ends, through suspended, before the next begins"},
		{In: from{suspended}, On: []events.Kind{events.ConnectionSuspended}, Why: "there is no connection to lose"},
		{In: from{reading, writing, suspended, pausing}, On: []events.Kind{events.ReplyCreate},
			Why: "only the state that sent the request waits for it"},
	}
	return c
}

// numberRows are the rows of an operation on a number.
func numberRows() []engine.Row[number] {
	return []engine.Row[number]{
		{From: from{latent}, On: on(events.CommandStart), When: (*number).attached,
			To: reading, Do: (*number).begin, Then: (*number).look},
		{From: from{latent}, On: on(events.CommandStart), To: suspended, Do: (*number).begin},
		{From: numberStates, On: on(events.CommandStart), To: engine.Stay, Do: (*number).refuseStart},

		{From: from{reading}, On: on(events.ReplyMulti, events.ReplyStat), When: (*number).transient,
			To: pausing, Do: (*number).failAndBackOff},
		{From: from{reading}, On: on(events.ReplyMulti), To: reading},
		{From: from{reading}, On: on(events.ReplyStat), When: (*number).changedMeanwhile,
			To: closed, Do: (*number).answerUnknown},
		{From: from{reading}, On: on(events.ReplyStat), When: (*number).lostNodeAgain,
			To: pausing, Do: (*number).loseNode, Then: (*number).pauseCreate},
		{From: from{reading}, On: on(events.ReplyStat), When: (*number).noNode, To: creating, Do: (*number).create},
		{From: from{reading}, On: on(events.ReplyStat), When: (*number).refused, To: closed, Do: (*number).refuse},
		{From: from{reading}, On: on(events.ReplyStat), When: (*number).malformed, To: closed, Do: (*number).reject},
		{From: from{reading}, On: on(events.ReplyStat), When: (*number).read, To: closed, Do: (*number).answerRead},
		{From: from{reading}, On: on(events.ReplyStat), When: (*number).unequal, To: closed, Do: (*number).decline},
		{From: from{reading}, On: on(events.ReplyStat), To: writing, Do: (*number).write},

		{From: from{creating}, On: on(events.ReplyCreate), When: (*number).ofParent,
			To: creating, Do: (*number).noteParent},
		{From: from{creating}, On: on(events.ReplyCreate), When: (*number).parentMissing,
			To: creating, Do: (*number).createWithParents},
		{From: from{creating}, On: on(events.ReplyCreate), When: (*number).delayed,
			To: pausing, Do: (*number).failByRootCause},
		{From: from{creating}, On: on(events.ReplyCreate), When: (*number).createRefused,
			To: closed, Do: (*number).refuse},
		{From: from{creating}, On: on(events.ReplyCreate), To: reading, Do: (*number).noteMade, Then: (*number).look},

		{From: from{writing}, On: on(events.ReplyMulti), When: (*number).done, To: closed, Do: (*number).answerWritten},
		{From: from{writing}, On: on(events.ReplyMulti), When: (*number).lostRaceToItself,
			To: closed, Do: (*number).answerUnknown},
		{From: from{writing}, On: on(events.ReplyMulti), When: (*number).noNode,
			To: reading, Do: (*number).settle, Then: (*number).look},
		{From: from{writing}, On: on(events.ReplyMulti), When: (*number).lostRace,
			To: pausing, Do: (*number).retryLater},
		{From: from{writing}, On: on(events.ReplyMulti), When: (*number).transient,
			To: pausing, Do: (*number).settle, Then: (*number).failAndBackOff},
		{From: from{writing}, On: on(events.ReplyMulti), To: closed, Do: (*number).refuse},

		{From: numberConnected, On: on(events.ConnectionSuspended), To: suspended},
		{From: numberStates, On: on(events.ConnectionLost), To: suspended},
		{From: from{suspended}, On: on(events.ConnectionAttached), To: reading, Do: (*number).look},
		{From: from{pausing}, On: on(events.TimerFired), To: reading, Do: (*number).look},

		{From: from{latent}, On: on(events.CommandClose), To: closed, Do: (*number).finish},
		{From: numberStates, On: on(events.CommandClose), When: (*number).wasSent,
			To: closed, Do: (*number).answerUnknown, Then: (*number).finish},
		{From: numberStates, On: on(events.CommandClose), To: closed, Do: (*number).withdraw, Then: (*number).finish},
	}
}

// changedMeanwhile reports whether the number was written, or its node replaced, since the own write
// that was not answered. Which client did it is not known.
func (n *number) changedMeanwhile(ev events.Event) bool {
	return n.sent && (ev.Code != events.OK || ev.Stat.Version != n.asked || ev.Stat.Czxid != n.node)
}

// lostNodeAgain reports whether the node that this call created is gone, and the next one has to wait.
func (n *number) lostNodeAgain(ev events.Event) bool {
	return n.noNode(ev) && n.made && n.lostAgain(ev)
}

// malformed reports whether the node holds something else. A node without data holds zero, as for
// Curator.
func (n *number) malformed(ev events.Event) bool { return len(ev.Data) != 0 && len(ev.Data) != n.width }

// read reports whether the call only reads the number.
func (n *number) read(events.Event) bool { return n.task == NumberGet }

// unequal reports whether the number is not what the call expects.
func (n *number) unequal(ev events.Event) bool {
	switch n.task {
	case NumberSwap:
		return decode(ev.Data) != n.expected
	case NumberReplace:
		return int64(ev.Stat.Version) != n.expected
	}
	return false
}

// createRefused reports whether the ensemble refuses the create for good.
func (n *number) createRefused(ev events.Event) bool {
	return ev.Code != events.OK && ev.Code != events.NodeExists
}

// done reports whether the write was carried out.
func (n *number) done(ev events.Event) bool { return ev.Code == events.OK }

// lostRace reports whether the write came after another client's, and a try is left.
func (n *number) lostRace(ev events.Event) bool {
	return ev.Code == events.BadVersion && n.tries > 0
}

// lostRaceToItself reports whether the write came after another one that may be an earlier one of this call.
func (n *number) lostRaceToItself(ev events.Event) bool {
	return n.unanswered && (ev.Code == events.BadVersion || ev.Code == events.NoNode)
}

// wasSent reports whether the write may have been carried out.
func (n *number) wasSent(events.Event) bool { return n.sent || n.unanswered }

func (n *number) begin(ev events.Event, out *engine.Outbox) { n.command = ev.Request }

// look reads the number, behind a check through the quorum: so it sees whatever was written. A sync is
// enough if a write follows anyway, because the write fails on a version that is out of date: a
// deposed leader keeps answering a sync.
func (n *number) look(ev events.Event, out *engine.Outbox) {
	n.noteTimeout(ev)
	if n.sent || n.task != NumberSet && n.task != NumberAdd {
		out.Multi(events.Check(n.path))
	} else {
		out.With(engine.Unawaited).Sync(n.path)
	}
	out.With(engine.Data).Get(n.path)
}

// create creates the number. A get does, too: Curator's readers expect the node.
func (n *number) create(ev events.Event, out *engine.Outbox) {
	n.loseNode(ev, out)
	n.createdAt = ev.At
	n.resetParents()
	out.Create(events.Op{Path: n.path, Mode: events.Persistent, Data: encode(n.seed, n.width)})
}

// noteMade notes whether this call created the node.
func (n *number) noteMade(ev events.Event, out *engine.Outbox) { n.made = ev.Code == events.OK }

// loseNode counts the node that this call created, if there was one: somebody deleted it.
func (n *number) loseNode(ev events.Event, out *engine.Outbox) {
	if n.made {
		n.countDeletion(ev)
	}
	n.made = false
}

// createWithParents creates the missing parents, and the number behind them.
func (n *number) createWithParents(ev events.Event, out *engine.Outbox) {
	n.makeParents(ev, out)
	out.Create(events.Op{Path: n.path, Mode: events.Persistent, Data: encode(n.seed, n.width)})
}

// delayed reports whether the create of the node or of its parents may succeed later.
func (n *number) delayed(ev events.Event) bool { return n.transient(n.rootCause(ev)) }

// write writes the new value.
func (n *number) write(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	n.note(ev)
	n.sent, n.asked, n.node = true, n.version, ev.Stat.Czxid
	out.Multi(InVersion(events.Op{Verb: "set", Path: n.path, Data: encode(n.next(), n.width), Version: n.version})...)
}

// next returns the new value.
func (n *number) next() int64 {
	if n.task == NumberAdd {
		return n.value + n.operand
	}
	return n.operand
}

func (n *number) note(ev events.Event) { n.value, n.version = decode(ev.Data), ev.Stat.Version }

// settle notes whether the write may have been carried out.
func (n *number) settle(ev events.Event, out *engine.Outbox) {
	n.sent = ev.Code.Unknown()
	n.unanswered = n.unanswered || n.sent
}

// retryLater tries again after a pause.
func (n *number) retryLater(ev events.Event, out *engine.Outbox) {
	n.sent = false
	n.tries--
	wait, _ := n.policy().Next(int(n.series().failures), 0, n.jitter.next())
	n.noted().failures++
	out.Timer(backOffTimer, wait)
}

// answerRead answers with the number that was read.
func (n *number) answerRead(ev events.Event, out *engine.Outbox) {
	n.note(ev)
	n.succeed(ev, out)
}

// answerWritten answers with the number that was written.
func (n *number) answerWritten(ev events.Event, out *engine.Outbox) {
	n.value, n.version = n.next(), versionAfter(n.version)
	n.succeed(ev, out)
}

func (n *number) succeed(ev events.Event, out *engine.Outbox) {
	n.report(out)
	out.Answer(n.command, events.OK, "")
}

// decline answers that the number is another one than the caller expects.
func (n *number) decline(ev events.Event, out *engine.Outbox) {
	n.note(ev)
	n.report(out)
	out.Answer(n.command, events.BadVersion, n.path)
}

// report notifies the handle of the number and its version.
func (n *number) report(out *engine.Outbox) {
	out.Notify(events.Notify{What: events.Value, Path: n.path, Work: uint64(n.version), Value: n.value})
}

// refuse answers with the refusal.
func (n *number) refuse(ev events.Event, out *engine.Outbox) {
	ev = n.rootCause(ev)
	out.Answer(n.command, ev.Code, n.failureText(ev))
}

// reject answers that the node holds no such number.
func (n *number) reject(ev events.Event, out *engine.Outbox) {
	out.Answer(n.command, events.BadArguments,
		fmt.Sprintf("%s holds %d bytes: want %d, as a number has", n.path, len(ev.Data), n.width))
}

// answerUnknown answers that the write may have been carried out.
func (n *number) answerUnknown(ev events.Event, out *engine.Outbox) {
	out.Answer(n.command, events.OutcomeUnknown, n.path+n.lastAnswer(ev))
}

// withdraw answers that nothing was written.
func (n *number) withdraw(ev events.Event, out *engine.Outbox) {
	out.Answer(n.command, events.Closed, "")
}

// encode returns the bytes of a number, as Curator writes them.
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

// failByRootCause reports a failure with the refused parent as the reason, and pauses before the next
// attempt.
func (n *number) failByRootCause(ev events.Event, out *engine.Outbox) {
	n.failAndBackOff(n.rootCause(ev), out)
}
