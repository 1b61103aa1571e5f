package machines

import "github.com/incumbent-go/incumbent/engine"

// States that several recipes have, each named as it is written in logs and
// drawings. A recipe's chart says in a sentence what is true in it there.
const (
	latent    engine.State = "latent"    // not started
	suspended engine.State = "suspended" // no connection; the session may live
	pausing   engine.State = "pausing"   // something failed; the next attempt is timed
	deciding  engine.State = "deciding"  // what comes next: a choice
	leaving   engine.State = "leaving"   // what the machine has in ZooKeeper is being deleted
	closed    engine.State = "closed"    // over

	enrolling  engine.State = "enrolling"  // the create of the own node is on its way
	listing    engine.State = "listing"    // a directory is being listed
	waiting    engine.State = "waiting"    // others have to act first
	blocked    engine.State = "blocked"    // behind a node that no session owns
	verifying  engine.State = "verifying"  // what was true before, or may be, is checked
	confirming engine.State = "confirming" // what was won is read back and confirmed
	leading    engine.State = "leading"    // belief holds until its deadline
	draining   engine.State = "draining"   // belief is over, its work has not returned
	idle       engine.State = "idle"       // nothing to do until asked

	probing  engine.State = "probing"  // a try looks whether it can have what it asks for
	looking  engine.State = "looking"  // a node that others write is being read
	queueing engine.State = "queueing" // in line at the latch
	marking  engine.State = "marking"  // a marker is being written
	taking   engine.State = "taking"   // an item, or permits, are being taken in a transaction
	full     engine.State = "full"     // as many as there may be: items of a queue, or permits that are held

	reading  engine.State = "reading"  // nodes are being read
	watching engine.State = "watching" // nodes are watched
	absent   engine.State = "absent"   // the node does not exist; its path is watched
	creating engine.State = "creating" // the create of a node is on its way
	writing  engine.State = "writing"  // a node's data are being set
	removing engine.State = "removing" // a node is being deleted
)
