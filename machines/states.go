package machines

import "github.com/incumbent-go/incumbent/engine"

// States of several recipes, with the names that logs and drawings show. The doc of a recipe's chart
// says what holds in each.
const (
	latent    engine.State = "latent"    // not started
	suspended engine.State = "suspended" // no connection; the session may live
	pausing   engine.State = "pausing"   // something failed; the next attempt is timed
	deciding  engine.State = "deciding"  // what comes next is decided immediately: a choice
	leaving   engine.State = "leaving"   // what the machine has in ZooKeeper is being deleted
	closed    engine.State = "closed"    // the machine has ended

	enrolling  engine.State = "enrolling"  // the own node is being created
	listing    engine.State = "listing"    // a directory is being listed
	waiting    engine.State = "waiting"    // another client has to act first
	blocked    engine.State = "blocked"    // behind a node that no session owns
	verifying  engine.State = "verifying"  // what was true before is checked
	confirming engine.State = "confirming" // what was gained is read back and confirmed
	leading    engine.State = "leading"    // belief holds until its deadline
	draining   engine.State = "draining"   // belief has ended, its work has not returned
	idle       engine.State = "idle"       // nothing to do until asked

	probing  engine.State = "probing"  // a try looks whether it can succeed, and writes nothing
	looking  engine.State = "looking"  // a node that other clients write is being read
	queueing engine.State = "queueing" // the own latch is in line
	marking  engine.State = "marking"  // a marker is being written
	taking   engine.State = "taking"   // an item is, or permits are, being taken in a transaction
	claiming engine.State = "claiming" // what the coming term needs is read and written
	fencing  engine.State = "fencing"  // the handle keeps the last leader from acting
	full     engine.State = "full"     // the maximum is reached: of items in a queue, or of permits

	reading  engine.State = "reading"  // nodes are being read
	watching engine.State = "watching" // nodes are watched
	absent   engine.State = "absent"   // the node does not exist; its path is watched
	creating engine.State = "creating" // a node is being created
	writing  engine.State = "writing"  // a node's data are being set
	removing engine.State = "removing" // a node is being deleted
)
