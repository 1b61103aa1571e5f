package upgrade

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/test/upgrade/agent"
)

var rewrite = flag.Bool("rewrite", false, "record what the older version sends, in testdata/wire; git must have its commit")

func recording(name string) string { return filepath.Join("testdata", "wire", name) }

// The present version sends what the older one sent: the writes in the same order. Where it does not, testdata/differences says
// why old and new clients understand each other.
func TestTheWireIsThatOfTheOlderVersion(t *testing.T) {
	for _, s := range scripts {
		t.Run(s.name, func(t *testing.T) {
			was, err := os.ReadFile(recording(s.name))
			ok(t, err)
			is := record(t, s, (*stage).run)
			news, stale := unexplained(differences(strings.Split(string(was), "\n"), strings.Split(is, "\n")), explain(t, s.name))
			if len(news) > 0 {
				news, stale = unexplained(differences(writesFirst(string(was)), writesFirst(is)), explain(t, s.name))
			}
			for _, d := range news {
				t.Errorf("a difference that %s does not explain:\nscript %s\nwhy \n%s\n", explanations, s.name, strings.Join(d, "\n"))
			}
			for _, e := range stale {
				t.Errorf("%s explains what is no difference any more:\n%s", explanations, strings.Join(e.difference, "\n"))
			}
		})
	}
}

// speeds is how often the older version may play a script until it sends what was recorded. Where a server cuts a connection, it
// depends on the speed of its goroutines which requests were sent before, and are sent again.
const speeds = 3

// The recordings are those of the older version: it sends the same today. -rewrite makes them.
func TestTheRecordingsAreTheOlderVersions(t *testing.T) {
	if !*full && !*rewrite {
		return
	}
	v := older(t)
	t.Parallel()
	for _, s := range scripts {
		t.Run(s.name, func(t *testing.T) {
			play := func() string {
				return record(t, s, func(stage *stage, id string, o agent.Orders) *member { return stage.launch(v, id, o) })
			}
			if *rewrite {
				ok(t, os.WriteFile(recording(s.name), []byte(play()), 0o644))
			}
			was, err := os.ReadFile(recording(s.name))
			ok(t, err)
			var differ []difference
			for range speeds {
				if differ = differences(strings.Split(string(was), "\n"), strings.Split(play(), "\n")); len(differ) == 0 {
					return
				}
			}
			for _, d := range differ {
				t.Errorf("the recording (-) is not what %s sends (+):\n%s", v.name, strings.Join(d, "\n"))
			}
		})
	}
}

// Every recording is of a script, and every script has one.
func TestEveryRecordingHasItsScript(t *testing.T) {
	files, err := os.ReadDir(filepath.Join("testdata", "wire"))
	ok(t, err)
	if len(files) != len(scripts) {
		t.Errorf("%d recordings of %d scripts", len(files), len(scripts))
	}
}

// writesFirst returns the lines of a recording, for each agent its writes in their order and then its reads. What an agent asks
// for at once the older version sent in the order in which it was asked, as it came. Today deletes go before reads that
// still wait, so whether a read or a write is first depends on how fast the socket is.
func writesFirst(recording string) (lines []string) {
	var reads []string
	agent := ""
	for _, line := range strings.Split(recording, "\n") {
		id, text, _ := strings.Cut(line, ": ")
		if id != agent {
			agent, lines, reads = id, append(lines, reads...), nil
		}
		if isRead := slices.Contains([]string{"exists", "getData", "getChildren2", "sync"}, strings.SplitN(text, " ", 2)[0]); isRead {
			reads = append(reads, line)
			slices.Sort(reads)
			continue
		}
		lines = append(lines, line)
	}
	return append(lines, reads...)
}
