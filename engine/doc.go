// Package engine may change in any release; only the root package and zkio/zkmem keep
// their API. It defines and runs state machines: a chart is a table of rows, a
// machine is one value that goes from state to state by that table, an engine is a set of machines that
// share one session, and a loop is the one goroutine that feeds an engine.
//
// The law of use:
//
//   - The table is the code. Step walks the rows of (state, kind) in order, the
//     first guard that holds picks the row, looplab/fsm moves, the row's action
//     runs. The same rows, in the same order, are drawn into docs/statecharts.
//   - Guards and actions are pure. They see their model and the event, and may
//     append effects; they see no clock, no randomness and no map order.
//   - Engine.Step is pure as well: the same envelopes give the same effects and
//     the same records, byte for byte. Loop, replay and tests all call it.
//   - Only Loop knows goroutines, and it has one.
//
// A state whose rows are on AtOnce is a choice: nobody rests there, and what led
// there goes on in the same step. A row may be on several kinds, each of which is
// an arrow with a name of its own.
//
// A state awaits exactly what it has rows for: replies and timers that the new
// state has no row for are dropped when it is entered (timers are stopped), and
// a reply that nobody awaits any more is recorded as "late", and so is a watch
// that fires on a node nobody cares about. The one exception is the reply to the
// create of an ephemeral node, which every state decides, because a node may
// have been made.
package engine
