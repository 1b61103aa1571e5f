package machines

import "github.com/incumbent-go/incumbent/events"

// anyVersion is the version of a request that does not depend on one. No other number is: versions wrap, and are
// negative then.
const anyVersion = -1

// InVersion returns the operations of a multi that carry out a set or a delete only in the version of op, which was
// read.
// The server takes version -1 for any, although 4294967295 writes bring a node there. Then another set comes first: it
// brings such a node to version 0, and any other node to a version that the operation does not have.
func InVersion(op events.Op) []events.Op {
	if op.Version != anyVersion {
		return []events.Op{op}
	}
	first := op
	first.Verb = "set"
	op.Version = 0
	return []events.Op{first, op}
}

// versionAfter returns a node's version after InVersion's set.
func versionAfter(version int32) int32 {
	if version == anyVersion {
		return 1
	}
	return version + 1
}
