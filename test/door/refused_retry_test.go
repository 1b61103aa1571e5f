package door_test

import (
	"fmt"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/internal/fault"
)

// Credentials that are refused are no reason to try again.
func TestRefusedCredentialsAreNotRetryable(t *testing.T) {
	refused := fault.Because("not connected", incumbent.ErrNotConnected, incumbent.ErrAuthFailed)
	if incumbent.Retryable(refused) || !incumbent.Retryable(fmt.Errorf("lock /m: %w", incumbent.ErrNotConnected)) {
		t.Error("wrong")
	}
}
