package calls

import (
	"errors"
	"testing"
)

// A handle's failure lasts until it is ended, and its series begins once.
func TestTrouble(t *testing.T) {
	var now Trouble
	if now.Err() != nil || now.End() != 0 {
		t.Error("there is a failure at first")
	}
	first, second := errors.New("first"), errors.New("second")
	now.Set(first)
	now.Begin(5)
	now.Set(second)
	now.Begin(7)
	if now.Err() != second {
		t.Errorf("the failure is %v, want the second", now.Err())
	}
	if since := now.End(); since != 5 {
		t.Errorf("the series began at %d, want 5", since)
	}
	if since := now.End(); since != 0 || now.Err() != second {
		t.Errorf("the series has ended, and began at %d; the failure is %v", since, now.Err())
	}
	now.Set(nil)
	if kept := now.now.Load(); kept != nil {
		t.Errorf("memory is kept: %+v", *kept)
	}
	now.Begin(9)
	now.Set(nil)
	if since := now.End(); since != 9 || now.Err() != nil {
		t.Errorf("the end of a failure ends its series: %d, %v", since, now.Err())
	}
}
