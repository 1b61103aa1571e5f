//go:build unix

package cli

import (
	"os"
	"syscall"
)

// surviveWrites keeps signals of a terminal or of a pipe that nobody reads from ending or stopping this program. Nobody
// reads the channel: a write that fails has an error. They are not ignored, because the processes that are started
// would inherit that.
func surviveWrites() {
	NotifyUnlessIgnored(make(chan os.Signal, 1), syscall.SIGPIPE, syscall.SIGTTOU, syscall.SIGTTIN)
}
