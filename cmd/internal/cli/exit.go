package cli

import "fmt"

// Exit codes of both programs, with the values of sysexits.h if it has them. The
// help of each command lists those that it uses.
const (
	ExitFailed   = 1  // a check of the demonstration failed, or an unforeseen error
	ExitUsage    = 64 // EX_USAGE
	ExitNoOutput = 73 // EX_CANTCREAT
)

// ExitError is an error with an exit code. If Err is nil, the program prints
// nothing.
type ExitError struct {
	Code int
	Err  error
}

// Error returns the text of Err, or names the code if there is none.
func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

// Unwrap returns Err.
func (e *ExitError) Unwrap() error { return e.Err }

// Exit returns an error with an exit code; nil for nil.
func Exit(code int, err error) error {
	if err == nil {
		return nil
	}
	return &ExitError{code, err}
}

// Usage returns an error that says what is wrong with the command line.
func Usage(format string, args ...any) error {
	return &ExitError{ExitUsage, fmt.Errorf(format, args...)}
}
