// Package control lets a test in any language rule an in-memory ZooKeeper: HTTP with JSON, as docs/testing.md
// describes. Command incumbent zk serves it with --control.
//
// It may change in any release.
package control
