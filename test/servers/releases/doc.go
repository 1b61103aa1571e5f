// Package releases runs the tests that meet real servers on several releases of ZooKeeper, one after the other, and
// upgrades an ensemble from each release to the next under clients that elect and lock.
//
// make servers runs all of it, and writes the table of docs/proofs.md. A test counts only if its output says that it
// met a server of the release: one that chose the in-memory server, or none, is no pass.
package releases
