package machines

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

var semaphoreWatches = []events.Kind{events.WatchDeleted, events.WatchChanged, events.WatchChildren}

// semaphoreIgnores say what means nothing to a semaphore, and why.
var semaphoreIgnores = []engine.Ignore{
	{In: from{latent}, On: []events.Kind{
		events.WatchDeleted, events.WatchChanged, events.WatchChildren,
		events.ConnectionAttached, events.ConnectionSuspended, events.ConnectionLost, events.ConnectionUnconfirmed,
		events.LatchHeld, events.LatchWaits, events.LatchLost, events.LatchFailed, events.LatchClosed, events.NodeGone,
		events.WorkReturned, events.WorkDrained},
		Why: "nothing was asked before the await, which is told the session"},
	{In: from{probing, looking, taking, draining, suspended, leaving, pausing}, On: semaphoreWatches,
		Why: "the permits are read, taken or deleted before anything is decided"},
	{In: from{queueing}, On: []events.Kind{events.WatchDeleted, events.WatchChildren}, Why: "the permits are looked at when the lock is held"},
	{In: from{confirming, leading}, On: []events.Kind{events.WatchChildren}, Why: "nobody waits for permits any more"},
	{In: acquiring, On: []events.Kind{events.ConnectionAttached}, Why: "a connection ends, through suspended, before the next begins"},
	{In: from{draining, suspended, pausing}, On: []events.Kind{events.ConnectionSuspended}, Why: "nothing is believed, and all is read again"},
	{In: but(sought, leading), On: []events.Kind{events.ConnectionUnconfirmed}, Why: "nothing is believed, and holding permits asks for a confirmation"},
	{In: but(sought, queueing), On: []events.Kind{events.LatchWaits}, Why: "what is under way is not over the latch's place"},
	{In: but(sought, leaving), On: []events.Kind{events.NodeGone}, Why: "told only on the way out"},
	{In: but(sought, leading, draining), On: []events.Kind{events.WorkReturned}, Why: "work runs only while leading or draining"},
	{In: but(sought, draining), On: []events.Kind{events.WorkDrained}, Why: "told only on the way out of leading"},
}
