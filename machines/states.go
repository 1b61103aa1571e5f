package machines

import (
	"cmp"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

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

// common has the class of each state that several recipes have, and what a machine does in it. A chart says so itself
// of its other states, and of those that mean something else in it.
var common = map[engine.State]engine.StateDoc{
	latent:    {Class: events.ClassLatent, Does: NotStarted.Does},
	suspended: {Class: events.ClassBlocked, Does: "the connection was lost a moment ago"},
	pausing:   {Class: events.ClassBlocked, Does: "pausing after a failure"},
	leaving:   {Class: events.ClassLeaving, Does: "its node is being deleted"},
	closed:    {Class: events.ClassClosed, Does: "the handle is closed"},

	enrolling:  {Class: events.ClassEnrolling, Does: "its node is being created"},
	listing:    {Class: events.ClassBusy, Does: "the line is being listed"},
	waiting:    {Class: events.ClassQueued, Does: "waiting for others"},
	blocked:    {Class: events.ClassBlocked, Does: "waiting behind a persistent node"},
	verifying:  {Class: events.ClassBusy, Does: "its node is being checked"},
	confirming: {Class: events.ClassBusy, Does: "waiting for the ensemble's confirmation"},
	leading:    {Class: events.ClassLeading, Does: "it leads"},
	draining:   {Class: events.ClassDraining, Does: "the work of the last term has not returned"},
	idle:       {Class: events.ClassIdle, Does: "it is out of the line"},

	probing:  {Class: events.ClassLooking, Does: "it is being read whether others are in the line"},
	looking:  {Class: events.ClassLooking, Does: "the node is being read"},
	queueing: {Class: events.ClassQueued, Does: "waiting in the line of the latch"},
	marking:  {Class: events.ClassBusy},
	taking:   {Class: events.ClassBusy},
	full:     {Class: events.ClassQueued, Does: "too few permits are free"},

	reading:  {Class: events.ClassBusy, Does: "the node is being read"},
	watching: {Class: events.ClassActive, Does: "waiting for a change"},
	absent:   {Class: events.ClassActive, Does: "the node does not exist"},
	creating: {Class: events.ClassBusy, Does: "the node is being created"},
	writing:  {Class: events.ClassBusy, Does: "the node is being written"},
	removing: {Class: events.ClassBusy, Does: "the node is being deleted"},
}

// NotStarted is the state of a machine of most recipes before its first command: see engine.Recipe.First.
var NotStarted = events.Entered{State: string(latent), Class: events.ClassLatent, Does: "nothing was sent yet"}

// described returns the states of a chart with what is common about them.
func described(states []engine.StateDoc) []engine.StateDoc {
	for i, s := range states {
		states[i].Class = cmp.Or(s.Class, common[s.Name].Class)
		states[i].Does = cmp.Or(s.Does, common[s.Name].Does)
	}
	return states
}
