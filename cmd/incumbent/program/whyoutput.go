package program

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/events"
)

// checkOutputs returns what is wrong with the files of --html and --trace, before anything is read: a log is never
// overwritten. Without the file's name, --html would take the first log for it.
func (e *explainer) checkOutputs(c *cobra.Command) error {
	for _, o := range []struct{ flag, file string }{{"html", e.html}, {"trace", e.trace}} {
		switch {
		case c.Flags().Changed(o.flag) && o.file == "":
			return cli.Usage("--%s is empty: want the file to write, such as why.%s", o.flag, o.flag)
		case isEvidence(o.file):
			return cli.Exit(cli.ExitNoOutput,
				fmt.Errorf("--%s: %s is a log, and would be overwritten: want another file", o.flag,
					events.Quote(o.file, events.MaxText)))
		}
	}
	if e.html != "" && filepath.Clean(e.html) == filepath.Clean(e.trace) {
		return cli.Usage("--html and --trace name the same file, %s: want two", events.Quote(e.html, events.MaxText))
	}
	return nil
}

// isEvidence reports whether a file is a recorded log, or a server's transaction log.
func isEvidence(file string) bool {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() { // a pipe may wait for its other end
		return false
	}
	in, err := os.Open(file)
	if err != nil {
		return false
	}
	defer in.Close()
	head := make([]byte, 4)
	n, _ := io.ReadFull(in, head)
	return bytes.Equal(head[:n], []byte("ZKLG")) || logFile(file).isLog()
}
