// Package elasticjob lets instances of one job in Java, with ElasticJob's own jars, and in Go, with this library,
// elect, deal and work together, while they are killed, cut off, disabled, added and removed.
//
// Each instance is a process and prints when an item begins and ends. A play does something to the job, and then
// waits until it is whole again: one leader, a live owner for every item, and periods in which each item ran
// once, where its owner is. An item that runs twice at a time is an error at any moment.
//
// The ordinary test is one play on the in-memory server, and checks order and outcome only. make elastic-job runs
// every play on both servers, and the same plays with instances in Java only: what those need, and a session
// timeout, is the bound.
package elasticjob
