// Package kit is what the tests at the door share: a client under a recorder, and
// what they ask of errors.
package kit

import (
	"errors"
	"testing"
)

// OK ends the test at an error.
func OK(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Is ends the test at an error that is not the one wanted.
func Is(t testing.TB, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Fatalf("got error %v, want one that is %v", err, target)
	}
}
