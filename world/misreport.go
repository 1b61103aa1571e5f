package world

import (
	"slices"

	"github.com/incumbent-go/incumbent/events"
)

// reported returns the code of an answer.
func (x *executor) reported(a *Packet) events.Code {
	code := codeOf(a.result)
	if !x.misreport || code != events.OK || !Writes(a.Request) || onlyChecks(a.Request) {
		return code
	}
	x.misreport = false
	a.Children, a.stat, a.path = nil, nil, ""
	return events.OperationTimeout
}

// onlyChecks reports whether a transaction changes nothing.
func onlyChecks(r events.Request) bool {
	multi, ok := r.(events.Multi)
	return ok && !slices.ContainsFunc(multi.Ops, func(op events.Op) bool { return op.Verb != "check" })
}
