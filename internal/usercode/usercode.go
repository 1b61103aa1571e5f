// Package usercode calls functions of users, which may panic, or end their goroutine by runtime.Goexit, as
// t.FailNow does in a test. Neither ends the program or leaves a caller waiting.
package usercode

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// Error is the error of a function that did not return.
type Error struct {
	Panic any    // nil: it ended its goroutine
	Stack []byte // of the panic
}

func (e *Error) Error() string {
	if e.Panic == nil {
		return "it ended its goroutine and did not return (runtime.Goexit, as by t.FailNow)"
	}
	return fmt.Sprintf("panic: %v", e.Panic)
}

// By returns the error's text for a function of this name.
func (e *Error) By(name string) string {
	if e.Panic == nil {
		return name + " ended its goroutine and did not return"
	}
	return fmt.Sprintf("%s panicked: %v", name, e.Panic)
}

// Ended reports whether an error says that a function did not return.
func Ended(err error) bool {
	var failed *Error
	return errors.As(err, &failed)
}

// Run calls f, and then calls then with its error, on the same goroutine: also if f panics or ends the goroutine,
// with an *Error. After runtime.Goexit, then is the last that the goroutine does but for deferred functions.
func Run(f func() error, then func(error)) {
	failed := &Error{}
	var err error = failed
	defer func() {
		if p := recover(); p != nil {
			failed.Panic, failed.Stack = p, debug.Stack()
		}
		then(err)
	}()
	err = f()
}

// Call calls f on a goroutine of its own, and returns its error, or an *Error.
func Call(f func() error) error {
	done := make(chan error)
	go Run(f, func(err error) { done <- err })
	return <-done
}
