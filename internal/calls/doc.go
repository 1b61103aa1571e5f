// Package calls is between the callers of a handle and its machine: it numbers the commands, passes the answers, and
// says what a call waits for.
package calls
