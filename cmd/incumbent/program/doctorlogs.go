package program

import (
	"fmt"
	"time"

	"github.com/incumbent-go/incumbent/cmd/internal/cli"
)

// logsBegin returns when the first of the logs in these files and directories begins, zero if none is named.
func logsBegin(files []string) (first time.Time, err error) {
	if len(files) == 0 {
		return first, nil
	}
	logs, _, err := findLogs(files)
	if err != nil {
		return first, cli.Exit(exitNoInput, fmt.Errorf("--log: %w", err))
	}
	for _, l := range logs {
		h := l.header()
		if h == nil {
			return first, cli.Exit(exitNoInput, fmt.Errorf("--log: %s: its header cannot be read", l.file))
		}
		start, err := time.Parse(time.RFC3339, h.Start)
		if err != nil {
			return first, cli.Exit(exitDamaged, fmt.Errorf("--log: %s: the start in its header: %w", l.file, err))
		}
		if first.IsZero() || start.Before(first) {
			first = start
		}
	}
	return first, nil
}
