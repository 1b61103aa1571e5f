package machines

import (
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// LatchRecipe makes leader latches. A latch keeps its place and its leadership until it is closed, resigns, or loses
// it. It is Curator's LeaderLatch, on the same names. Options: "rideOut", "tokenFloor", "oneFlight",
// "retry", "healthFailures", "address". Options of a latch that another machine opens: "opener"; "label" for what is
// before the number in the name; "unwatched" for a node that is not read back; "root" for a node above the line,
// which has to exist, and below which missing parents are created.
var LatchRecipe = &engine.RecipeOf[latch]{Named: "latch", Chart: latchChart, Open: newLatch}

// latch is a place that is kept, or regained, until it is closed.
type latch struct{ place }

func newLatch(open events.Event) (*latch, error) {
	o := optionsOf(open)
	l := &latch{newPlace(open, &o, o.text(OptionLabel, LatchLabel))}
	if o.flag(OptionUnwatched) {
		l.read = notRead
	}
	return l, o.check()
}

// requeueRows are the rows of the recipes that are in a line while they are open, and come back to it
// after every term: the latch, the selector and the plain election.
var requeueRows = []engine.Row[place]{
	{From: from{latent}, On: on(events.CommandStart), When: (*place).attached,
		To: enrolling, Do: (*place).begin, Then: (*place).enrol},
	{From: from{latent}, On: on(events.CommandStart), To: suspended, Do: (*place).begin},
	{From: live, On: on(events.CommandStart), To: engine.Stay, Do: (*place).refuseStart},

	{From: from{leading}, On: on(events.HealthChecked), When: (*place).failsCheck,
		To: draining, Do: (*place).stepDownUnhealthy},
	{From: but(live, leading, draining, leaving), On: on(events.HealthChecked), When: (*place).failsCheck,
		To: deciding, Do: (*place).leaveUnhealthy},
	{From: live, On: on(events.HealthChecked), To: engine.Stay, Do: (*place).noteHealth},

	{From: from{waiting}, On: on(events.ReplyStat), When: (*place).persistent,
		To: blocked, Do: (*place).announcePersistent},

	{From: from{leaving}, On: on(events.ReplyDelete), When: (*place).deletedNotClosing,
		To: deciding, Do: (*place).noteGone},
	{From: from{deciding}, On: on(engine.AtOnce), When: (*place).backsOff, To: pausing, Do: (*place).pause},
	{From: from{deciding}, On: on(engine.AtOnce), When: (*place).unusable,
		To: leaving, Do: (*place).giveUpPlace, Then: (*place).deleteOwn},
}

func latchChart() (c engine.Chart[latch]) {
	c.Doc = "A leader latch: in line until it leads, and leading until it is closed, resigns or loses leadership."
	c.States = lineStates
	c.Final = closed
	c.Composites = latchComposites
	c.Happy = from{latent, enrolling, listing, waiting, leading, draining, deciding, leaving, closed}
	c.Kinds = slices.Concat(keepKinds, lineKinds)
	c.Rows = engine.Lift(slices.Concat(requeueRows, lineRows, latchRows), (*latch).inLine)
	c.Ignores = keepIgnores
	return c
}

// keepKinds are the commands of latchRows.
var keepKinds = []events.Kind{events.CommandStart, events.CommandAwait, events.CommandCancel, events.CommandResign,
	events.HealthChecked}

// latchRows are the commands of the recipes that keep leadership until they give it up.
var latchRows = []engine.Row[place]{
	{From: from{leading}, On: on(events.CommandAwait), When: (*place).expired, To: leading, Do: (*place).await},
	{From: from{leading}, On: on(events.CommandAwait), To: leading, Do: (*place).grant},
	{From: but(live, leading), On: on(events.CommandAwait), To: engine.Stay, Do: (*place).await},
	{From: from{latent}, On: on(events.CommandAwait), To: latent, Do: (*place).refuseLatent},
	{From: live, On: on(events.CommandCancel), To: engine.Stay, Do: (*place).cancel},
	{From: from{leading, draining}, On: on(events.WorkReturned), To: engine.Stay, Do: (*place).workDone},
	{From: from{leading}, On: on(events.CommandResign), To: draining, Do: (*place).resign},
	{From: but(live, leading), On: on(events.CommandResign), To: engine.Stay, Do: (*place).refuseResign},
	{From: from{latent}, On: on(events.CommandResign), To: latent, Do: (*place).refuseLatent},
}

// keepIgnores say which kinds these recipes do not need in which states, and why.
var keepIgnores = append([]engine.Ignore{
	{In: from{latent}, On: []events.Kind{events.CommandCancel}, Why: "there are no awaits before the start"},
	uncheckedLatent,
}, lineIgnores...)

// uncheckedLatent is for the recipes with requeueRows.
var uncheckedLatent = engine.Ignore{In: from{latent}, On: []events.Kind{events.HealthChecked},
	Why: "health is checked from the start on"}

// latchComposites are the states of a latch as Curator names them.
var latchComposites = []engine.Composite{
	{Name: "LATENT", States: from{latent}},
	{Name: "STARTED", States: append(from{deciding}, live...)},
	{Name: "CLOSED", States: from{closed}},
}
