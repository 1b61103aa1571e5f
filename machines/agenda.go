package machines

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// intent is what a contender does when its node is gone or its work has returned.
type intent uint8

const (
	keepPlace     intent = iota // keep or win back the place
	requeue                     // queue again at the tail
	backOff                     // wait out a back-off, then queue again
	letOthersPass               // wait as after a node that did not last, or until a check succeeds, then queue again
	stayOut                     // stay out of the line until asked
	closeNext                   // close
)

// agenda is what commands have asked of a contender, and what it does next.
type agenda struct {
	after      intent       // what follows a term: keep the place, queue again, stay out of the line, or close
	nextIntent intent       // what follows now
	silent     bool         // Curator's CloseMode.SILENT
	outOfLine  bool         // the pause lasts until a health check succeeds
	gaveUp     bool         // the retry policy gave up
	workBroke  bool         // work has returned an error, or its grace is over, since the own node was created
	open       *openCommand // the last of the commands that wait for their answers; nil: none does
	end        *failure     // why the one term of a selector that does not queue again has ended; nil: it has not
}

// openCommand is a command that waits for its answer.
type openCommand struct {
	number uint64
	wants  wanted
	next   *openCommand // an earlier one
}

// wanted is what an open command waits for.
type wanted uint8

const (
	leadership wanted = iota + 1 // an await
	noOldPlace                   // a resign or requeue, of which there is one at a time: the node is gone
	theEnd                       // a close
)

// isClosing reports whether the contender is closing.
func (a *agenda) isClosing(events.Event) bool { return a.nextIntent == closeNext }

// answerMove answers the resign or requeue whose node is gone.
func (a *agenda) answerMove(out *engine.Outbox) {
	if move := a.takeMove(); move != 0 {
		out.Answer(move, events.OK, "")
	}
}

// refuseStart refuses a start of a machine that was started before.
func (a *agenda) refuseStart(ev events.Event, out *engine.Outbox) {
	out.Answer(ev.Request, events.AlreadyStarted, "")
}

// refuseResign refuses a resign while the machine does not lead.
func (a *agenda) refuseResign(ev events.Event, out *engine.Outbox) {
	out.Answer(ev.Request, events.NotLeading, "")
}

// refuseLatent refuses a command that needs a start first.
func (a *agenda) refuseLatent(ev events.Event, out *engine.Outbox) {
	out.Answer(ev.Request, events.NotStarted, "")
}

// callsFunction reports whether a term is one call of the user's function.
func (a *agenda) callsFunction() bool { return a.after == requeue || a.after == stayOut }

// once reports whether the contender holds once and then closes.
func (a *agenda) once() bool { return a.after == closeNext }

// setIntent sets what comes next. After a hold, that is always the close.
func (a *agenda) setIntent(next intent) {
	a.nextIntent = next
	if a.once() {
		a.nextIntent = closeNext
	}
}

// addCommand adds a command that waits.
func (a *agenda) addCommand(command uint64, wants wanted) {
	a.open = &openCommand{command, wants, a.open}
}

// takeCommands removes the commands that wait for something, and returns the first of them. Their next is a later one.
func (a *agenda) takeCommands(wants wanted) (first *openCommand) {
	for at := &a.open; *at != nil; {
		c := *at
		if c.wants != wants {
			at = &c.next
			continue
		}
		*at, c.next, first = c.next, first, c
	}
	return first
}

// move returns the resign or requeue that waits, 0 if there is none.
func (a *agenda) move() uint64 {
	for c := a.open; c != nil; c = c.next {
		if c.wants == noOldPlace {
			return c.number
		}
	}
	return 0
}

// takeMove is move, and that one does not wait any more.
func (a *agenda) takeMove() uint64 {
	if c := a.takeCommands(noOldPlace); c != nil {
		return c.number
	}
	return 0
}

// cancel cancels an await. One that was granted already does not wait any more.
func (a *agenda) cancel(ev events.Event, out *engine.Outbox) {
	for at := &a.open; *at != nil; at = &(*at).next {
		if c := *at; c.number == ev.Work && c.wants == leadership {
			*at = c.next
			out.Answer(ev.Work, events.Cancelled, "")
			return
		}
	}
}

// refuseWaiters answers all awaits with an error.
func (a *agenda) refuseWaiters(code events.Code, text string, out *engine.Outbox) {
	for c := a.takeCommands(leadership); c != nil; c = c.next {
		out.Answer(c.number, code, text)
	}
}

// tellEnd notifies the handle of that end.
func (a *agenda) tellEnd(out *engine.Outbox) {
	end := failure{}
	if a.end != nil {
		end, a.end = *a.end, nil
	}
	out.Notify(events.Notify{What: events.Ended, Code: end.code, Text: end.text})
}
