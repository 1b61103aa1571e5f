// Package suites runs the tests of other libraries, kazoo, go-zookeeper, Curator and Rust's zookeeper-client, against
// zkmem and a real ZooKeeper. Their own harnesses start the servers; one line of go-zookeeper's is changed. A program
// that stands in for java has a hub in the test serve zkmem; for Curator a class that stands before curator-test's asks
// the hub, and for Rust a crate in place of testcontainers starts java.
//
// As an ordinary test it runs those tests of testdata/sample.tsv, which pass on both, against zkmem; Rust has none, nor
// have the modules of Curator whose tests are compiled from its sources. With -full, as make foreign has it, it runs
// all tests against both and writes the tables of docs/proofs.md; with -only kazoo it runs that suite, and writes
// nothing.
package suites
