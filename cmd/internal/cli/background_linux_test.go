package cli

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// While a thread writes in the background it blocks SIGTTOU and leaves other signals as they were. Then it blocks
// what it did before.
func TestWriteInBackgroundLeavesTheSignalsAsTheyWere(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	blocked := func() unix.Sigset_t {
		var set unix.Sigset_t
		if err := unix.PthreadSigmask(unix.SIG_BLOCK, nil, &set); err != nil {
			t.Fatal(err)
		}
		return set
	}
	before := blocked()
	end := writeInBackground()
	during := blocked()
	end()
	if want := before.Val[0] | 1<<(unix.SIGTTOU-1); before.Val[0] == want || during.Val[0] != want ||
		blocked() != before {
		t.Errorf("blocked are %#x, then %#x, at the end %#x", before.Val[0], during.Val[0], blocked().Val[0])
	}
}
