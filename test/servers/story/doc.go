// Package story tells what happens to leaders when an ensemble's servers lose each other, by doing it: three real
// servers, a leader whose server is cut off, a rival at the healthy majority, and a stopwatch on what both believe.
//
// The same is done to this library, to this library with its heartbeat switched off, to go-zookeeper's Lock and to
// Apache Curator's LeaderLatch, at the same instant on the same servers. See docs/proofs.md for what comes of it.
package story
