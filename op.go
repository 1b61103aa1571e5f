package incumbent

import (
	"cmp"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio"
)

// Op is one operation of a guarded write: see SetData, CreateNode, DeleteNode
// and CheckVersion.
type Op = events.Op

// OpResult is what one operation of a guarded write came to.
type OpResult = zkio.OpResult

// AnyVersion makes an operation apply whatever the node's version is.
const AnyVersion int32 = -1

// SetData replaces a node's data if it has this version.
func SetData(path string, data []byte, version int32) Op {
	return Op{Verb: "set", Path: path, Data: data, Version: version}
}

// CreateNode makes a persistent node, with the access list of Config.ACL.
func CreateNode(path string, data []byte) Op {
	return Op{Verb: "create", Path: path, Mode: events.Persistent, Data: data}
}

// DeleteNode removes a node if it has this version.
func DeleteNode(path string, version int32) Op {
	return Op{Verb: "delete", Path: path, Version: version}
}

// CheckVersion makes the whole write depend on a node's version.
func CheckVersion(path string, version int32) Op {
	return Op{Verb: "check", Path: path, Version: version}
}

// checkOp says what is wrong with the path of one operation of a multi.
func checkOp(op Op) error {
	if op.Verb != "create" {
		return checkNode(op.Path)
	}
	return cmp.Or(checkParent(op.Path), checkNamed(op))
}
