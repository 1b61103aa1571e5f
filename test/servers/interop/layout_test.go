package interop

import (
	_ "embed"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

//go:embed testdata/layout.tsv
var layout string

var uuid = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// The table with which test/door compares what this library writes is what Curator writes.
func TestTheLayoutIsCurators(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	out, err := exec.Command("java", append(curator.options(t), "Layout", s.addr, s.root+"/layout")...).Output()
	ok(t, err)
	got := strings.Split(strings.TrimSpace(uuid.ReplaceAllString(string(out), "UUID")), "\n")
	var known int
	for line := range strings.Lines(layout) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "#") {
			continue
		}
		known++
		line = s.root + line
		if !slices.ContainsFunc(got, func(its string) bool {
			begins, open := strings.CutSuffix(line, "*")
			return its == line || open && strings.HasPrefix(its, begins)
		}) {
			t.Errorf("the table has %q, Curator has not", line)
		}
	}
	if known != len(got) {
		t.Errorf("the table has %d nodes, Curator %d:\n%s", known, len(got), strings.Join(got, "\n"))
	}
}
