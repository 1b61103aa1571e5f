package machines

// The options of command.open and command.put, by their names in the log. Recipes name those that they read in their
// comments; every other one refuses to open the machine. A flag is "true" or "false", a duration is Go's, a policy as
// Policy.String writes it.
const (
	// Of many recipes.
	OptionRetry    = "retry"    // policy: the pauses between attempts
	OptionNoJitter = "noJitter" // flag: pauses have no random part, so that a search through all states has few lengths
	OptionOpener   = "opener"   // the machine that opened this one, and gets its events
	OptionRideOut  = "rideOut"  // flag: belief outlasts a disconnect, until its deadline (Config.RideOut)
	// OptionOneFlight is a flag: the line may be listed right behind the create of the own node.
	OptionOneFlight = "oneFlight"
	// OptionTokenFloor is the lowest token that may lead (LatchOptions.TokenFloor).
	OptionTokenFloor = "tokenFloor"
	// OptionHealthFailures is how many health checks in a row have to fail to end a term.
	OptionHealthFailures = "healthFailures"
	// OptionPersistentParents is a flag: missing parents are persistent nodes, and no containers.
	OptionPersistentParents = "persistentParents"

	// Of the session machine.
	OptionTick            = "tick"            // duration: the ensemble's
	OptionTickAssumed     = "tickAssumed"     // flag: the tick is not configured, and may turn out to be larger
	OptionAskedTimeout    = "askedTimeout"    // duration: the session timeout that is asked for
	OptionSyncLimit       = "syncLimit"       // in ticks
	OptionObserverMasters = "observerMasters" // flag: observers may follow another observer
	// OptionIdleFor is for how many session timeouts a client that nobody needs asks whether the leader runs.
	OptionIdleFor = "idleFor"

	// Of lines, locks and semaphores.
	OptionAddress     = "address"     // of a place: what others reach it by. Of a search, a flag: each node has one
	OptionAutoRequeue = "autoRequeue" // flag: a selector queues again after each term
	OptionKazoo       = "kazoo"       // flag: kazoo's names
	OptionLabel       = "label"       // what precedes the number in the names of a line's nodes
	OptionLimit       = "limit"       // how many permits there are
	OptionPermits     = "permits"     // how many are wanted. Of a search: how many names an attempt has
	OptionPrefix      = "prefix"      // what precedes the number in names without a GUID
	OptionReads       = "reads"       // flag: the reader's side of a read-write lock
	OptionRevocable   = "revocable"   // flag: Curator's revocations are handled
	OptionRoot        = "root"        // a parent of the line that is not created again once it was deleted
	OptionShared      = "shared"      // the label of places that hold together
	OptionTry         = "try"         // flag: it never waits behind another place
	OptionUnwatched   = "unwatched"   // flag: the own node is not read back

	// Of the election on one node.
	OptionCrumb        = "crumb"        // the name of the node that outlives the leader
	OptionEpoch        = "epoch"        // the name of the node that counts terms
	OptionFenceTimeout = "fenceTimeout" // duration: how long fencing may take

	// Of jobs and shards.
	OptionConfig   = "config"   // flag: an instance only reads the job's configuration
	OptionDeals    = "deals"    // flag: the instance deals the job's items while it leads
	OptionInstance = "instance" // the id of an instance, or of a member
	OptionIP       = "ip"       // the instance's server, by its address
	OptionServer   = "server"   // the server whose node an operator switches, by its address
	OptionMaxOwned = "maxOwned" // how many shards the member owns at most
	OptionSettle   = "settle"   // duration: how long members have to be the same before shards move
	OptionShards   = "shards"   // how many there are
	OptionWeight   = "weight"   // of the member

	// Of queues, and of what is put into them.
	OptionBackoff   = "backoff"   // policy: the pauses between two tries of an item
	OptionBound     = "bound"     // how many items the queue may have; 0: any number
	OptionBytes     = "bytes"     // of a put: the size of its items
	OptionDead      = "dead"      // the directory of dead letters
	OptionDelay     = "delay"     // of a put, duration: until its items are due
	OptionDue       = "due"       // of a put: when its items are due, in Unix milliseconds
	OptionID        = "id"        // of a put: that of its items. Of a request: that of the items that it deletes
	OptionItems     = "items"     // of a put: how many nodes it has
	OptionKind      = "kind"      // ItemKind: the order of the queue's items
	OptionLocks     = "locks"     // the directory of the locks. Of a request: those of the items that it deletes
	OptionOnce      = "once"      // flag: items are deleted before they are delivered
	OptionPriority  = "priority"  // of a put: that of its items
	OptionProducers = "producers" // the directory of the producers' markers
	OptionRefresh   = "refresh"   // after how many items the queue is listed again
	OptionTries     = "tries"     // how often an item is tried; 0: always. Of a number: how many tries follow conflicts
	OptionWaits     = "waits"     // flag: a put into a full queue waits

	// Of numbers.
	OptionExpected = "expected" // of NumberSwap: the value; of NumberReplace: the version
	OptionOperand  = "operand"  // the value to set or add
	OptionSeed     = "seed"     // the first value of a number that does not exist
	OptionTask     = "task"     // the operation: NumberGet, …
	OptionWidth    = "width"    // in bytes

	// Of other recipes.
	OptionAbove     = "above"     // of a search: the highest number that was seen
	OptionAfter     = "after"     // of a search: the zxid after which its nodes were created
	OptionDepth     = "depth"     // of a tree cache, in levels below the node
	OptionGUID      = "guid"      // of a search: that of the attempt
	OptionLasting   = "lasting"   // of a search, flag: no session owns the nodes
	OptionMost      = "most"      // of a tree cache: how many nodes it may have
	OptionMulti     = "multi"     // flag: a request is a multi, even of one operation
	OptionName      = "name"      // of a search: that of the node
	OptionOrCreate  = "orCreate"  // flag: a request's set creates the node if there is none
	OptionParents   = "parents"   // flag: a request creates missing parents
	OptionProtected = "protected" // flag: the name of a request's node holds a GUID
	OptionQuantity  = "quantity"  // how many members a double barrier has
	OptionRecursive = "recursive" // flag: a tree cache may set a recursive watch
	OptionToken     = "token"     // of a participant: a request reads its node first, and writes only if it is that one
	OptionView      = "view"      // flag: of a watch: what is read goes to the user
)
