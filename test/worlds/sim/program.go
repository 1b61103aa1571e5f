package sim

import (
	"math/rand/v2"

	"github.com/incumbent-go/incumbent/events"
)

// program is what a process does with a handle of a recipe, and what an operator does
// for it. A recipe embeds handleProgram or callProgram, whose methods suit a recipe
// without wishes, and has methods of its own where it differs.
type program interface {
	// options returns what the machines of a handle are opened with, in addition to the
	// options that every handle has.
	options(u *user, d *rand.Rand) map[string]string
	// callMachines reports whether each call has a machine of its own. If not, the
	// handle has one machine, which is opened and started with it.
	callMachines() bool
	// act is called from time to time with a number below twelve.
	act(u *user, n int)
	// noticed is called with each notice of the machine. It begins work with
	// u.beginWork, and ends it with u.stopWork.
	noticed(u *user, n events.Notify)
	// answered is called with the answer of each command.
	answered(u *user, a events.Answer)
	// workReturned completes the event that says that a piece of work has returned.
	workReturned(u *user, work uint64, ev *events.Event)
	// cancel ends the context of a call, and reports whether there was one.
	cancel(u *user) bool
	// whenHealed returns what the program does when the faults are over, or nil.
	whenHealed(u *user) func()

	// payload returns the user's data for a number in a request.
	payload(u *user, number uint64) []byte
	// keepReply is called with a reply whose data are the user's: the machine does not get them.
	keepReply(u *user, ev events.Event)

	// owns reports whether a node with these data belongs to the handle.
	owns(u *user, data string) bool
	// mayStay reports whether a persistent node in one of the own directories belongs
	// to a program.
	mayStay(w *harness, dir, name string) bool

	// operate is what an operator does again and again in a healed world.
	operate(w *harness)
	// unsettled returns what a healed world still lacks for the handle, "" for nothing.
	unsettled(u *user) string
}

// targeted is a program that says which node operators and state faults strike. The
// others are struck at the newest node that has the handle's name as its data.
type targeted interface {
	// target returns the node's path, "" for none.
	target(u *user) string
}

// handleProgram is a program whose handles have one machine each.
type handleProgram struct{}

func (handleProgram) options(*user, *rand.Rand) map[string]string { return nil }
func (handleProgram) callMachines() bool                          { return false }
func (handleProgram) act(*user, int)                              {}
func (handleProgram) noticed(*user, events.Notify)                {}
func (handleProgram) answered(*user, events.Answer)               {}
func (handleProgram) workReturned(*user, uint64, *events.Event)   {}
func (handleProgram) whenHealed(*user) func()                     { return nil }
func (handleProgram) payload(*user, uint64) []byte                { return nil }
func (handleProgram) keepReply(*user, events.Event)               {}
func (handleProgram) owns(u *user, data string) bool              { return data == u.name() }
func (handleProgram) mayStay(_ *harness, _, _ string) bool        { return false }
func (handleProgram) operate(*harness)                            {}
func (handleProgram) unsettled(*user) string                      { return "" }

// cancel ends the context of the await that was asked for last, or of one that was
// granted just now: the caller cannot know.
func (handleProgram) cancel(u *user) bool {
	for number := u.c.LastCommand(); number > 0; number-- {
		if u.awaits[number] || u.granted == number {
			u.granted = 0
			u.c.Post(u.id, events.Event{Kind: events.CommandCancel, Work: number})
			return true
		}
	}
	return false
}

// callProgram is a program each of whose calls has a machine of its own: act begins one
// with u.beginCall. The check machineClosed asks that nothing is left of it.
type callProgram struct{ handleProgram }

func (callProgram) callMachines() bool        { return true }
func (callProgram) cancel(u *user) bool       { return u.giveUp() }
func (callProgram) whenHealed(u *user) func() { return u.closeUnused }

// answered checks the answer of a call that writes.
func (callProgram) answered(u *user, a events.Answer) { u.c.w.checks.writeAnswered(u, a) }
