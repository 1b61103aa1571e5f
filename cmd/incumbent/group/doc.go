// Package group runs a command as a member of a process group, so that all of it
// can be ended together. The group's first member is a guard, a second process
// of this program: it kills the group when the program that started it cannot,
// because it was killed, or is stopped past the end of its leadership.
//
// The guard is there before the command is, and holds one end of a pipe whose
// other end is the program's. A command is forked with a copy of that end, and
// loses it when it has become a member; so there is no moment in which the
// program can die and leave a command that the guard does not end.
//
// What leaves the group by itself (setsid) is out of reach.
package group

import "errors"

// ErrUnsupported is returned where there are no process groups.
var ErrUnsupported = errors.New("commands can be run on Unix only")
