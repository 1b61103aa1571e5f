//go:build linux

package chaos

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// write writes a text to a file in the folder of the logs.
func (s *stage) write(name string, lines func(say func(string, ...any))) {
	s.t.Helper()
	var b strings.Builder
	lines(func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) })
	s.must(os.WriteFile(filepath.Join(s.dir, name), []byte(b.String()), 0o600))
}

// keep writes down everything that the verdicts will be found from, but for the nodes.
func (s *stage) keep(all []*outcome) {
	s.write("beliefs.txt", func(say func(string, ...any)) {
		for _, o := range all {
			for _, c := range o.clients {
				for _, b := range c.beliefs {
					say("%s %s believes %d-%d token %d", o.kind.word(), c.id, b.from, b.to, b.token)
				}
				for _, b := range c.stopped {
					say("%s %s stopped %d-%d", o.kind.word(), c.id, b.from, b.to)
				}
				for _, w := range c.writes {
					say("%s %s writes %d %d-%d %s", o.kind.word(), c.id, w.n, w.called, w.heard, w.fate)
				}
				for _, d := range c.done {
					say("%s %s handled %s %d under %d", o.kind.word(), c.id, d.item, d.at, d.token)
				}
			}
		}
	})
	s.must(os.WriteFile(filepath.Join(s.dir, "servers.txt"), []byte(s.e.Logs()), 0o600))
}
