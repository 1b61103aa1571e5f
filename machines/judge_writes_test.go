package machines

import (
	"maps"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

const (
	writtenOnce rule = "what may have been written is not written again"
	writeProven rule = "a call is answered as what was shown of its writes"
	numberTold  rule = "the number of a notice was written, or read"
	deletesSeen rule = "only the node that was seen first is deleted"
	writesRead  rule = "a participant's node is written in the version that was read, if it is that participant's"
)

var (
	requestRules = map[rule]bugs{
		writtenOnce: {"a lost reply says that nothing was sent": guarded(always, "unsent")},
		writeProven: {
			"a lost reply is taken for a refusal": guarded(never, "unknown"),
			"what was not in line was written": doing("answerNotInLine",
				func(model any, _ events.Event, out *engine.Outbox, _ func(events.Event)) {
					model.(*request).answer(events.OK, "", out)
				}),
		},
		writesRead: {
			"another participant's node is written": guarded(never, "notInLine"),
			"a participant's node is not read":      guarded(never, "looksAtOnce", "looksFirst"),
			"it is written in any version": doingFirst("writeRead", func(_ *request, ev *events.Event) {
				stat := *ev.Stat
				stat.Version = anyVersion
				ev.Stat = &stat
			}),
		},
	}
	numberRules = map[rule]bugs{
		writtenOnce: {"a change is taken for that of others": guarded(never, "changedMeanwhile")},
		writeProven: {
			"a refusal is taken for success":   guarded(always, "done"),
			"nothing was sent before a cancel": guarded(never, "wasSent"),
		},
		numberTold: {"the notice has the number before the write": doing("answerWritten",
			func(model any, ev events.Event, out *engine.Outbox, _ func(events.Event)) {
				model.(*number).succeed(ev, out)
			})},
	}
	deletionRules = map[rule]bugs{
		writeProven: {
			"a refusal is taken for success":   guarded(always, "gone"),
			"nothing was sent before a cancel": guarded(never, "wasSent"),
		},
		deletesSeen: {"any node at the path is deleted": guarded(
			func(_ any, ev events.Event, _ func(events.Event) bool) bool { return ev.Code == events.NoNode },
			"vanished")},
	}
)

func init() {
	hasRules("number", newWriteChecker, numberRules)
	maps.Copy(requestRules, removalRules)
	hasRules("request", newWriteChecker, requestRules)
	hasRules("deletion", newWriteChecker, deletionRules)
}

// writeChecker knows the writes of one call to a number, of one deletion, or of one request.
type writeChecker struct {
	atAnyRest
	recipe, path string
	protected    bool // its node is found again
	command      uint64
	writes       map[uint64]*callWrite
	first        int64 // the czxid of the node that was read first
	node         int64 // and of that read last
	version      int32 // of the data that were read last
	read         bool  // the node was read, and not written since
	participant  int64 // the token of the participant whose node may be written; 0: any may be
	gone         bool  // the last read shows that the first one is gone
	value        int64 // that was read, or written
}

// callWrite is one write. Of those of the same version of the same node at most one is carried out.
type callWrite struct {
	node     int64
	version  int32
	value    int64
	answered bool
	code     events.Code
}

func (w *callWrite) done() bool    { return w.answered && w.code == events.OK }
func (w *callWrite) refused() bool { return w.answered && w.code != events.OK && !w.code.Unknown() }

func newWriteChecker(open events.Event) checker {
	if open.Recipe == "request" && open.Options[OptionLocks] != "" {
		return newRemovalChecker(open)
	}
	return &writeChecker{recipe: open.Recipe, path: open.Path, protected: open.Options["protected"] == "true",
		participant: optionNumber(open.Options, OptionToken), writes: map[uint64]*callWrite{}}
}

func (c *writeChecker) record(j *judge, r events.Record) {
	ev := r.Event
	if ev.Kind == events.CommandStart && c.command == 0 {
		c.command = ev.Request
	}
	c.learn(j.asked[r.Machine][ev.Request], ev)
	for _, e := range r.Effects {
		switch e := e.(type) {
		case events.Multi:
			if op := e.Ops[len(e.Ops)-1]; op.Verb != "check" {
				c.write(j, r.Machine, e, op)
				c.writeRead(j, r.Machine, e)
			}
		case events.Create:
			if c.recipe == "request" && e.Path == c.path {
				c.write(j, r.Machine, e, events.Op{Version: -1})
			}
		case events.Notify:
			if e.What == events.Value && e.Value != c.value {
				j.breaks(numberTold, r.Machine, "%s, and it is %d", e, c.value)
			}
		case events.Answer:
			c.answered(j, r.Machine, e)
		}
	}
}

// learn notes what an answer shows.
func (c *writeChecker) learn(asked events.Request, ev events.Event) {
	if w := c.writes[ev.Request]; w != nil && (ev.Kind == events.ReplyMulti || ev.Kind == events.ReplyCreate) {
		w.answered, w.code = true, ev.Code
		c.gone = c.gone || c.recipe == "deletion" && ev.Code == events.NoNode
		if w.done() {
			c.value = w.value
		}
	}
	if ev.Kind == events.ReplyStat && c.participant != 0 && ev.Stat != nil {
		c.node, c.version, c.read = ev.Stat.Czxid, ev.Stat.Version, true
	}
	if _, reads := pathOf(asked); ev.Kind != events.ReplyStat || c.recipe == "request" || !reads && asked == nil {
		return
	}
	c.gone = ev.Code == events.NoNode
	if ev.Stat != nil && ev.Code == events.OK {
		c.node, c.value = ev.Stat.Czxid, decode(ev.Data)
		if c.first == 0 {
			c.first = c.node
		}
		c.gone = c.node != c.first
	}
}

// write checks a write.
func (c *writeChecker) write(j *judge, id events.ID, request events.Request, op events.Op) {
	w := &callWrite{node: c.node, version: op.Version, value: decode(op.Data)}
	for _, before := range c.writes {
		same := before.node == w.node && before.version == w.version
		harmless := before.refused() || c.protected || c.recipe == "deletion" || c.recipe == "number" && same
		if !harmless {
			j.breaks(writtenOnce, id, "%s", request)
		}
	}
	if c.recipe == "deletion" && c.node != c.first {
		j.breaks(deletesSeen, id, "%s", request)
	}
	c.writes[request.Header().Request] = w
}

// writeRead checks a write to a participant's node. No version is the number that the server takes for any: a set in
// version -1 comes first then.
func (c *writeChecker) writeRead(j *judge, id events.ID, write events.Multi) {
	first := write.Ops[0].Version
	if c.participant != 0 && (!c.read || c.node != c.participant || first != c.version) {
		j.breaks(writesRead, id, "%s, and the node %d was read in version %d", write, c.node, c.version)
	}
	c.read = false
}

// answered checks the answer to the call.
func (c *writeChecker) answered(j *judge, id events.ID, a events.Answer) {
	if a.Command != c.command || c.protected {
		return
	}
	c.command = 0
	done, unknown := c.gone && c.recipe == "deletion", false
	for _, w := range c.writes {
		done, unknown = done || w.done(), unknown || !w.done() && !w.refused()
	}
	writes := len(c.writes) > 0 || c.participant != 0
	switch {
	case a.Code == events.OK && writes && !done,
		a.Code == events.OutcomeUnknown && (done || !unknown),
		a.Code != events.OK && a.Code != events.OutcomeUnknown && (done || unknown):
		j.breaks(writeProven, id, "%s; done: %t, unknown: %t", a, done, unknown)
	}
}
