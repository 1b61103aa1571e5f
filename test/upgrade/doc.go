// Package upgrade has processes of an older version of this library and of the present one take part in the same lines,
// locks and queues, as they do while a service is upgraded.
//
// The older version is the commit that version_test.go names. If git has it, it is compiled together with the agent that is
// here, whose source suits both. The tests then kill, stop and cut off processes of both, and compare the times at which
// each believed, and what each read of the other's nodes.
//
// In any clone, the requests of the present version are compared with those that the older one sent for the same scripts,
// which testdata/wire has. Each difference has to be listed there, with the reason why both versions understand each other.
package upgrade
