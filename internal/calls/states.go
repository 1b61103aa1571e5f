package calls

import "cmp"

// StateText returns what a machine of a recipe does in a state, in words.
func StateText(recipe, state string) string {
	return cmp.Or(states[recipe+" "+state], states[state], "the handle is "+state)
}

// states has what a machine does in a state, by the state's name, and by the recipe's and the
// state's where a recipe means something else.
var states = map[string]string{
	"latent": "nothing was sent yet", "closed": "the handle is closed", "idle": "it is out of the line",
	"suspended": "the connection was lost a moment ago", "pausing": "pausing after a failure",
	"enrolling": "its node is being created", "listing": "the line is being listed", "waiting": "waiting for others",
	"blocked": "waiting behind a persistent node", "verifying": "its node is being checked",
	"confirming": "waiting for the ensemble's confirmation", "leading": "it leads",
	"draining": "the work of the last term has not returned", "leaving": "its node is being deleted",
	"probing": "it is being read whether others are in the line", "downgrading": "the reader's node is being created",
	"queueing": "waiting in the line of the latch", "full": "too few permits are free",
	"looking": "the node is being read", "reading": "the node is being read",
	"creating": "the node is being created", "setting": "the node is being created",
	"writing": "the node is being written", "removing": "the node is being deleted",
	"watching": "waiting for a change", "absent": "the node does not exist", "vacant": "the line is empty",

	"barrier shut": "the barrier's node exists", "gate shut": "the gate's node does not exist",
	"doublebarrier outside": "it is outside the barrier", "doublebarrier entering": "its node is being created",
	"doublebarrier counting": "the members are being counted", "doublebarrier waiting": "too few members are there",
	"doublebarrier opening": "the ready node is being created", "doublebarrier inside": "it is inside the barrier",
	"doublebarrier parting": "the members are being listed", "doublebarrier emptying": "other members are still inside",
	"doublebarrier withdrawing": "its node is being deleted",
	"jobelection standby":       "another instance leads", "jobelection looking": "the marker is being read",
	"jobelection checking": "the marker is being read", "jobelection marking": "the marker is being written",
	"jobelection leaving":  "the marker is being deleted",
	"nodeelection standby": "another participant has the node", "nodeelection looking": "the node is being read",
	"nodeelection claiming": "the crumb and the epoch are being written",
	"nodeelection fencing":  "the last leader is being fenced",
	"nodeelection marking":  "the node is being created", "nodeelection leaving": "the node is being deleted",
	"shards reading": "nodes are being read", "shards creating": "its node is being created",
	"shards writing": "shards are being claimed, released or assigned", "shards idle": "nothing is pending",
	"shards draining": "work has not returned", "shards leaving": "its node is being deleted",
	"jobworker idle": "it waits for a trigger", "jobworker reading": "the job's nodes are being read",
	"jobworker writing": "the job's nodes are being written", "jobworker working": "items run",
	"jobworker waiting":   "it waits for the leader to deal, or for a configuration",
	"jobworker draining":  "items have not returned",
	"jobdealer following": "nothing is to be dealt by this instance", "jobdealer flagging": "items have to be dealt",
	"jobdealer gathering": "items have to be dealt", "jobdealer dealing": "items are being dealt",
	"jobdealer dealt":    "each item has its owner",
	"persistent present": "the node exists", "persistent occupied": "another session's node is at the path",
	"persistent clearing": "the node of an older session is being deleted",
	"persistent leaving":  "the node is being deleted",
	"producer idle":       "nothing is pending", "producer marking": "the producer's own node is being created",
	"producer measuring": "the items are being counted", "producer full": "the queue is full",
	"producer putting":   "the ensemble has not confirmed the put",
	"producer verifying": "the outcome of the put is being read",
	"consumer listing":   "the queue is being listed",
	"consumer waiting":   "the queue is empty", "consumer reading": "an item is being read",
	"consumer working": "the handler has not returned", "consumer settling": "the outcome of an item is being written",
	"consumer verifying": "an item's lock is being read", "consumer taking": "an item is being deleted",
	"request asking": "no reply has come", "request preparing": "missing parents are being created",
	"request tracing": "the node is being looked for by its GUID", "request discarding": "the node is being deleted",
	"semaphore taking": "the permits are being created", "semaphore leaving": "its permits are being deleted",
	"treecache arming":  "the tree is being read",
	"treecache reading": "the tree is being read", "treecache overfull": "the tree has too many nodes",
	"membership listing": "the members are being listed",
}
