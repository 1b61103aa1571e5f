// Package upgrade has processes of an older version of this library and of the present one take part in the same lines,
// locks and queues, as they do while a service is upgraded.
//
// The older version is the commit that version_test.go names. If git has it, it is compiled together with the agent
// that is here, whose source suits both. The tests then kill, stop and cut off processes of both, and compare the times
// at which each believed, and what each read of the other's nodes.
//
// Only make upgrade runs them.
package upgrade
