package prom_test

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/metrics"
)

var name = regexp.MustCompile(`\b(?:incumbent|leader_election)_[a-z_]+`)

// exported reports whether a collector exports a series of this name.
func exported(series string) bool {
	return slices.ContainsFunc(metrics.Families(), func(m metrics.Family) bool {
		return slices.Contains([]string{m.Name, m.Name + "_bucket", m.Name + "_sum", m.Name + "_count"}, series)
	})
}

func TestAlerts(t *testing.T) {
	rules, err := os.ReadFile("alerts/incumbent.rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	names := name.FindAllString(string(rules), -1)
	if len(names) < 8 {
		t.Errorf("the rules name %q", names)
	}
	for _, n := range names {
		if !exported(n) {
			t.Errorf("a rule names %s, which is not exported", n)
		}
	}
	for _, args := range [][]string{{"check", "rules", "incumbent.rules.yml"},
		{"test", "rules", "incumbent.test.yml"}} {
		cmd := exec.Command(promtool(t), args...)
		cmd.Dir = "alerts"
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}
