// Package quorum decides which server leads an ensemble of ZooKeeper servers. An [Ensemble] holds its members: which of
// them have a vote, take part in the present term and reach each other, what a quorum is, and how many of the committed
// transactions each has applied. It is pure: it has no clock, goroutine or randomness. Package world, which simulates
// an ensemble, and zkmem's ensemble for tests each keep an Ensemble, and add messages, time and data.
//
// A term is the time from one election to the next. Two members may lead at the same time: the one that a quorum
// elected last, which is [Ensemble.Leader], and an older one that does not know yet that others have elected another
// leader.
//
// An Ensemble is not safe for concurrent use.
package quorum
