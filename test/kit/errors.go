// Package kit has what the tests of the root package share: a client with a recorder, and
// checks of errors.
package kit

import (
	"errors"
	"testing"
)

// OK ends the test if there is an error.
func OK(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Is ends the test if the error is not the wanted one.
func Is(t testing.TB, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Fatalf("got error %v, want one that is %v", err, target)
	}
}
