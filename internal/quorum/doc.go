// Package quorum decides who leads an ensemble of ZooKeeper servers: its members, which of them have a vote, take part in
// the present term and reach each other, what a quorum is, and how many of the committed transactions each has applied. It
// is pure: no clock, goroutine or randomness. Package world, which simulates an ensemble, and zkmem's ensemble for tests
// both keep this in one [Ensemble], and add messages, time and data.
//
// A term begins with an election. Two members may lead at the same time: the one that a quorum elected last, which is
// [Ensemble.Leader], and one that does not know yet that it is deposed.
//
// An Ensemble is not safe for concurrent use.
package quorum
