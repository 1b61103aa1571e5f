package cli

import "fmt"

// Exit codes that both programs have, as sysexits.h has them where it has one. The
// help of each command names those that it uses.
const (
	ExitFailed   = 1  // the demonstration did not come out as told; anything unforeseen
	ExitUsage    = 64 // EX_USAGE
	ExitNoOutput = 73 // EX_CANTCREAT
)

// ExitError is an error with the code to exit with. Without an error it says
// nothing more than that.
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

// Exit gives an error a code; nil stays nil.
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
