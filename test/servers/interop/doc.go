// Package interop lets Apache Curator, kazoo and this library elect on one path
// of a real ZooKeeper. Its peers are small programs in java, python and Go that
// obey the same commands and write terms into one journal in ZooKeeper itself,
// so that the order of transactions decides who led when, and no clock.
package interop
