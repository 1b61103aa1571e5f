// Package engine may change in any release; only the root package and zkio/zkmem keep
// their API. It defines and runs state machines. A chart is a table of rows. A machine
// is one value that goes from state to state by that table. An engine is a set of
// machines that share one session. A loop is the one goroutine that feeds an engine.
//
// The rules:
//
//   - The table is the code. A step tries the rows of (state, kind) in order. The first
//     whose guard holds is taken: looplab/fsm changes the state, and the row's actions
//     run. If the state stays, or looplab has made that change before, it is only asked
//     whether it has the row. The same rows, in the same order, are drawn into
//     docs/statecharts.
//   - Guards and actions are pure. They read their model and the event, and may append
//     effects. They use no clock, no randomness and no map order.
//   - Engine.Step is pure as well: the same envelopes give the same effects and
//     the same records, byte for byte. Loop, replay and tests all call it.
//   - Only Loop has a goroutine, and it has one.
//
// A state whose rows are on AtOnce is a choice: a machine never stays there, but goes
// on in the same step. A row may be on several kinds; each is an arrow with its own
// name.
//
// A state awaits exactly what it has rows for. When a machine enters a state, it drops
// the replies that the state has no row for, and stops such timers. A reply that it no
// longer awaits is recorded as "late"; so is a watch that fires on a node of which the
// model says that it is no longer watched. The one exception is the reply to the create
// of an ephemeral node: every state awaits it, because the node may exist.
package engine
