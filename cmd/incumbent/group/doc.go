// Package group runs a command in a process group, so that the command and all that it
// starts can be ended together. The group's first member is a guard, a second process
// of this program. It kills the group if the program that started it cannot, because
// it was killed, or is still stopped when its leadership ends.
//
// The guard starts before the command, and reads from a pipe to which the program
// writes. A command is forked with a copy of the program's end of the pipe, and closes
// it when it has become a member. So the program can die at any moment, and the guard
// ends the command.
//
// A process that leaves the group (setsid) is not killed.
package group

import "errors"

// ErrUnsupported is returned where there are no process groups.
var ErrUnsupported = errors.New("commands can be run on Unix only")
