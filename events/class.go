package events

// Class says what a state of a machine is, whatever the recipe calls it. A chart gives each of its states one. What
// decides by a state outside its machine decides by the class: a state may get another name.
type Class string

// The classes of states.
const (
	ClassLatent    Class = "latent"    // not started: nothing was sent
	ClassEnrolling Class = "enrolling" // the own node is being created: a wait begins
	ClassLooking   Class = "looking"   // it is being read whether what is wanted is there, or free
	ClassBusy      Class = "busy"      // other nodes are being read or written, or the own one is checked
	ClassQueued    Class = "queued"    // another client has to act first
	ClassStandby   Class = "standby"   // another participant leads, until its node is gone
	ClassBlocked   Class = "blocked"   // no connection, a failure, or a node that no session owns
	ClassLeading   Class = "leading"   // belief holds until its deadline: a term, a lock or permits
	ClassActive    Class = "active"    // the machine has, or does, what it is for, without a term
	ClassDraining  Class = "draining"  // belief has ended, and its work, or what the lock becomes, has not
	ClassLeaving   Class = "leaving"   // what the machine has in ZooKeeper is being deleted
	ClassIdle      Class = "idle"      // nothing is to be done until something is asked for or changes
	ClassClosed    Class = "closed"    // the machine has ended
)

// Classes returns all classes, in the order in which a machine mostly has them.
func Classes() []Class {
	return []Class{
		ClassLatent, ClassEnrolling, ClassLooking, ClassBusy, ClassQueued, ClassStandby, ClassBlocked, ClassLeading,
		ClassActive, ClassDraining, ClassLeaving, ClassIdle, ClassClosed,
	}
}
