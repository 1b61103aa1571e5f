package machines

import (
	"fmt"
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// ShardsRecipe makes members that own shards. Path is the directory. Options: "shards", how many there are; "instance",
// "weight" and "maxOwned" of this member; "settle", for how long the members have to stay the same before shards of
// members move; "rideOut", "retry", "healthFailures".
//
// A member has one ephemeral node, whose data are the shards that it owns. One of the members, which a latch elects,
// writes the node assignment. A member claims what is assigned to it, by a transaction that fails if the assignment is
// not the one that it has read, and only once no other member's node says that it owns the shard. So it costs requests
// for each change, and none for each shard. The token of a shard is the zxid of the transaction that claimed it.
var ShardsRecipe = &engine.RecipeOf[shards]{Named: "shards", Chart: shardsChart, Open: newShards}

// shards is one member.
type shards struct {
	heldShards
	rideOut bool
	write   shardWrite
	outruns int // writes in a row that came too late
	ending  bool
	closing []uint64
}

// shardWrite is what was sent last.
type shardWrite uint8

const (
	noShardWrite shardWrite = iota
	claimingShards
	confirmingShards
	assigning
)

func newShards(open events.Event) (*shards, error) {
	o := optionsOf(open)
	n := o.integer(OptionShards, 1)
	if n < 1 || n > MaxShards {
		return nil, fmt.Errorf("option shards: want from 1 to %d", MaxShards)
	}
	w := &shards{rideOut: o.flag(OptionRideOut)}
	w.held, w.settle = make([]heldShard, n), o.duration(OptionSettle, 0)
	w.shardNode = shardNode{
		standalone: newStandalone(open, &o), parentMaker: newParentMaker(ShardMembers(open.Path)), seed: open.Seed,
		health: newHealth(&o),
		me: ShardMember{ID: o.text(OptionInstance, guid(open.Seed, 0)), Weight: o.integer(OptionWeight, 1),
			MaxOwned: o.integer(OptionMaxOwned, n)},
	}
	w.oneFlight = o.flag(OptionOneFlight)
	if w.me.Weight < 1 || w.me.Weight > MaxShardWeight || w.me.MaxOwned < 0 {
		return nil, fmt.Errorf("options weight, maxOwned: want a weight from 1 to %d, and a maximum", MaxShardWeight)
	}
	return w, o.check()
}

var (
	shardBusy = from{reading, creating, writing, idle}
	shardLive = append(from{pausing, suspended, draining, leaving}, shardBusy...)
)

// settleTimer is when the members will have been the same for long enough to balance their shards.
const settleTimer = "settle"

func shardsChart() (c engine.Chart[shards]) {
	c.Doc = "A member that owns shards: it claims those that are assigned to it, works on them while it may believe " +
		"they are its own, and writes the assignment if it was elected to."
	c.States = described([]engine.StateDoc{
		{Name: latent, Doc: "Not started."},
		{Name: reading, Does: "nodes are being read",
			Doc: "Nodes are being read, with watches: those that the next decision needs."},
		{Name: creating, Does: "its node is being created",
			Doc: "The own node is being created. If its directory did not exist, that is created first, " +
				"as a container if the server knows them."},
		{Name: writing, Does: "shards are being claimed, released or assigned",
			Doc: "Shards are being claimed or released in the own node, a confirmation is awaited, or " +
				"the assignment is being written."},
		{Name: idle, Does: "nothing is pending",
			Doc: "The own node says what it should. The work on its shards runs, if there are any."},
		{Name: pausing, Doc: "Something failed, or the own node was deleted again and again, and the handle shows " +
			"it; or writes came too late again and again. The next attempt follows after a back-off with jitter."},
		{Name: suspended, Doc: "There is no connection. The own node may still exist; nothing is believed, unless " +
			"the user chose to ride disconnects out."},
		{Name: draining, Does: "work has not returned",
			Doc: "The member is closed, or somebody has written its node. Work has not returned yet. A " +
				"closed one releases each shard when the work on that has returned."},
		{Name: leaving, Doc: "The own node is being deleted, or the latch closes."},
		{Name: deciding, Doc: "What comes next is decided immediately: by what has been read, and by what was asked " +
			"for."},
		{Name: closed, Doc: "The machine has ended."},
	})
	c.Final = closed
	c.Happy = from{latent, deciding, closed}
	c.Kinds = []events.Kind{
		events.CommandStart, events.CommandClose, events.HealthChecked, events.WorkReturned,
		events.ReplyCreate, events.ReplyDelete, events.ReplyStat, events.ReplyChildren, events.ReplyMulti,
		events.WatchCreated, events.WatchDeleted, events.WatchChanged, events.WatchChildren,
		events.ConnectionAttached, events.ConnectionSuspended, events.ConnectionLost, events.ConnectionUnconfirmed,
		events.LatchHeld, events.LatchLost, events.LatchFailed, events.LatchClosed, events.TimerFired,
	}
	c.Rows = slices.Concat(shardsNextRows(), shardsWorkRows(), shardsEndRows())
	c.Ignores = shardsIgnores()
	return c
}

// shardsNextRows are the rows of what comes next, and of reads.
func shardsNextRows() []engine.Row[shards] {
	return []engine.Row[shards]{
		{From: from{latent}, On: on(events.CommandStart), To: deciding, Do: (*shards).begin},
		{From: shardLive, On: on(events.CommandStart), To: engine.Stay, Do: (*shards).refuseStart},

		// What comes next.
		{From: from{deciding}, On: on(engine.AtOnce), When: (*shards).hasEnded, To: closed, Do: (*shards).end},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*shards).mustRelease,
			To: draining, Do: (*shards).stopWork, Then: (*shards).release},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*shards).drains, To: draining, Do: (*shards).stopWork},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*shards).detached, To: suspended, Do: (*shards).drop},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*shards).mustLeave, To: leaving, Do: (*shards).clear},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*shards).mustRead, To: reading, Do: (*shards).look},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*shards).waitsToCreate,
			To: pausing, Do: (*shards).pauseCreate},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*shards).disagrees,
			To: idle, Do: (*shards).reportNumber},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*shards).unenrolled, To: creating, Do: (*shards).create},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*shards).mustClaim, To: writing, Do: (*shards).claim},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*shards).confirmsLater,
			To: idle, Do: (*shards).awaitConfirmation},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*shards).isTooLate,
			To: pausing, Do: (*shards).failLate},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*shards).isUnconfirmed,
			To: writing, Do: (*shards).confirm},
		{From: from{deciding}, On: on(engine.AtOnce), When: (*shards).mustAssign, To: writing, Do: (*shards).assign},
		{From: from{deciding}, On: on(engine.AtOnce), To: idle, Do: (*shards).rest},

		// Reads.
		{From: from{reading}, On: on(events.ReplyStat, events.ReplyChildren), When: (*shards).refusedNode,
			To: pausing, Do: (*shards).fail},
		{From: from{reading}, On: on(events.ReplyStat, events.ReplyChildren), To: deciding, Do: (*shards).note},
		{From: from{reading, idle}, On: on(jobWatches...), To: deciding, Do: (*shards).noteWatch},
		{From: but(shardLive, reading, idle, suspended), On: on(jobWatches...),
			To: engine.Stay, Do: (*shards).noteWatch},
	}
}

// shardsWorkRows are the rows of writes, of the work, and of the latch.
func shardsWorkRows() []engine.Row[shards] {
	return []engine.Row[shards]{
		// Writes.
		{From: from{creating}, On: on(events.ReplyCreate), When: (*shards).ofParent,
			To: creating, Do: (*shards).noteParent},
		{From: from{creating}, On: on(events.ReplyCreate), When: (*shards).parentMissing,
			To: creating, Do: (*shards).createWithParents},
		{From: from{creating}, On: on(events.ReplyCreate), When: (*shards).isCreated,
			To: deciding, Do: (*shards).noteCreate},
		{From: from{creating}, On: on(events.ReplyCreate),
			To: pausing, Do: (*shards).noteCreate, Then: (*shards).fail},
		{From: from{leaving}, On: on(events.ReplyCreate),
			To: leaving, Do: (*shards).noteCreate, Then: (*shards).clear},
		{From: but(shardLive, creating, leaving), On: on(events.ReplyCreate),
			To: engine.Stay, Do: (*shards).noteCreate},
		{From: from{writing}, On: on(events.ReplyMulti), When: (*shards).wrote,
			To: deciding, Do: (*shards).noteWritten},
		{From: from{writing}, On: on(events.ReplyMulti), When: (*shards).outrun,
			To: deciding, Do: (*shards).noteOutrun},
		{From: from{writing}, On: on(events.ReplyMulti), When: (*shards).outrunAgain,
			To: pausing, Do: (*shards).noteUnwritten, Then: (*shards).pauseWrite},
		{From: from{writing}, On: on(events.ReplyMulti),
			To: pausing, Do: (*shards).noteUnwritten, Then: (*shards).fail},
		{From: from{draining}, On: on(events.ReplyMulti), When: (*shards).wrote,
			To: deciding, Do: (*shards).noteReleased},
		{From: from{draining}, On: on(events.ReplyMulti), When: (*shards).followsDoubted,
			To: deciding, Do: (*shards).noteDoubted},
		{From: from{draining}, On: on(events.ReplyMulti), When: (*shards).isTaken,
			To: engine.Stay, Do: (*shards).noteTaken},
		{From: from{draining}, On: on(events.ReplyMulti), To: engine.Stay, Do: (*shards).failRelease},
		{From: from{draining}, On: on(events.TimerFired), To: deciding, Do: (*shards).retryRelease},
		{From: from{leaving}, On: on(events.ReplyDelete), When: (*shards).refusedNode,
			To: pausing, Do: (*shards).fail},
		{From: from{leaving}, On: on(events.ReplyDelete), To: deciding, Do: (*shards).noteDeleted},
		{From: from{idle, pausing}, On: on(events.TimerFired), To: deciding, Do: (*shards).readAgain},

		// The work, and the user's checks.
		{From: from{idle, draining}, On: on(events.WorkReturned), To: deciding, Do: (*shards).noteReturned},
		{From: but(shardLive, idle, draining), On: on(events.WorkReturned),
			To: engine.Stay, Do: (*shards).noteReturned},
		{From: from{idle}, On: on(events.HealthChecked), To: deciding, Do: (*shards).noteCheck},
		{From: but(shardLive, idle), On: on(events.HealthChecked), To: engine.Stay, Do: (*shards).noteCheck},

		// The latch.
		{From: from{idle}, On: on(events.LatchHeld), To: deciding, Do: (*shards).beginWriting},
		{From: but(shardLive, idle), On: on(events.LatchHeld), To: engine.Stay, Do: (*shards).beginWriting},
		{From: shardLive, On: on(events.LatchLost), To: engine.Stay, Do: (*shards).noteLost},
		{From: shardLive, On: on(events.LatchFailed), To: engine.Stay, Do: (*shards).takeLatchFailure},
		{From: from{leaving, suspended}, On: on(events.LatchClosed), When: (*shards).hasNoNode,
			To: deciding, Do: (*shards).noteClosed},
		{From: shardLive, On: on(events.LatchClosed), To: engine.Stay, Do: (*shards).noteClosed},
	}
}

// shardsEndRows are the rows of the connection, and of the end.
func shardsEndRows() []engine.Row[shards] {
	return []engine.Row[shards]{
		// The connection.
		{From: append(from{leaving}, shardBusy...), On: on(events.ConnectionSuspended),
			To: suspended, Do: (*shards).suspend},
		{From: from{draining, pausing}, On: on(events.ConnectionSuspended), To: engine.Stay, Do: (*shards).suspend},
		{From: append(from{leaving, suspended}, shardBusy...), On: on(events.ConnectionLost),
			To: deciding, Do: (*shards).lose},
		{From: from{draining, pausing}, On: on(events.ConnectionLost), To: engine.Stay, Do: (*shards).lose},
		{From: from{suspended, draining}, On: on(events.ConnectionAttached), To: deciding, Do: (*shards).attach},
		{From: from{pausing}, On: on(events.ConnectionAttached), To: engine.Stay, Do: (*shards).attach},
		{From: from{idle}, On: on(events.ConnectionUnconfirmed), To: deciding, Do: (*shards).stopWork},
		{From: but(shardLive, idle), On: on(events.ConnectionUnconfirmed),
			To: engine.Stay, Do: (*shards).stopWork},

		// The end.
		{From: from{latent}, On: on(events.CommandClose), To: closed, Do: (*shards).close, Then: (*shards).end},
		{From: append(from{suspended, pausing}, shardBusy...), On: on(events.CommandClose),
			To: deciding, Do: (*shards).close},
		{From: from{draining, leaving}, On: on(events.CommandClose), To: engine.Stay, Do: (*shards).close},
	}
}

// shardsIgnores say which kinds are not needed in which states, and why.
func shardsIgnores() []engine.Ignore {
	return []engine.Ignore{
		{In: from{latent}, On: append([]events.Kind{
			events.HealthChecked, events.WorkReturned, events.ReplyCreate, events.ConnectionAttached,
			events.ConnectionSuspended, events.ConnectionLost, events.ConnectionUnconfirmed,
			events.LatchHeld, events.LatchLost, events.LatchFailed, events.LatchClosed}, jobWatches...),
			Why: "nothing was sent before the start"},
		{In: from{suspended}, On: jobWatches, Why: "all nodes are read again on the next connection"},
		{In: from{suspended}, On: []events.Kind{events.ConnectionSuspended},
			Why: "no request is pending on the connection"},
		{In: append(from{leaving}, shardBusy...), On: []events.Kind{events.ConnectionAttached},
			Why: "a connection ends, through suspended, before the next begins"},
	}
}
