package house

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// columns is how wide a line of a Go file may be. A tab counts as four.
const columns = 120

// wide are the files with wider lines, and how many each has. The numbers only fall. A file that is not here has none.
var wide = map[string]int{
	"bench/cmd/incumbent/main.go":            1,
	"bench/cmd/incumbent/main_test.go":       3,
	"bench/cmd/zookeeper/main.go":            1,
	"bench/cmd/zookeeper/main_test.go":       3,
	"bench/driver/driver.go":                 8,
	"bench/driver/driver_test.go":            5,
	"bench/fleet/ensemble.go":                1,
	"bench/fleet/fleet_test.go":              5,
	"bench/fleet/scenarios.go":               8,
	"bench/fleet/stage.go":                   3,
	"bench/fleet/table.go":                   5,
	"bench/fleet/traffic.go":                 1,
	"bench/fleet/worker.go":                  1,
	"bench/machine/machine.go":               5,
	"bench/main_test.go":                     5,
	"bench/meter/frames.go":                  2,
	"bench/meter/meter.go":                   1,
	"bench/meter/meter_test.go":              1,
	"bench/peer/command.go":                  5,
	"bench/peer/process.go":                  3,
	"bench/peer/process_test.go":             3,
	"bench/peer/serve.go":                    2,
	"bench/peer/serve_test.go":               3,
	"bench/peer/stage_test.go":               2,
	"bench/report/report.go":                 9,
	"bench/servers/etcd.go":                  1,
	"bench/servers/servers.go":               2,
	"bench/stats/stats.go":                   3,
	"bench/stats/stats_test.go":              1,
	"bench/testdata/etcd/main.go":            1,
	"hold.go":                                1,
	"integrations/gocron/gocron_test.go":     1,
	"integrations/kerberos/acceptor_test.go": 1,
	"integrations/otel/metrics.go":           7,
	"integrations/otel/otel_test.go":         4,
	"integrations/otel/spans.go":             4,
	"integrations/otel/table_test.go":        2,
	"integrations/prom/alerts_test.go":       1,
	"integrations/prom/page_test.go":         2,
	"integrations/prom/prom.go":              2,
	"integrations/prom/prom_test.go":         2,
	"machines/contender.go":                  1,
	"machines/contender_actions.go":          3,
	"machines/contender_pause.go":            5,
	"machines/doc.go":                        1,
	"machines/jobconfig_test.go":             1,
	"machines/jobelection.go":                50,
	"machines/jobelection_actions.go":        1,
	"machines/jobelection_test.go":           6,
	"machines/jobyaml.go":                    2,
	"machines/latch.go":                      8,
	"machines/place.go":                      43,
	"machines/place_actions.go":              1,
	"term.go":                                1,
	"test/adopters/vitess/topo_test.go":      2,
	"test/adopters/vitess/tree.go":           1,
}

func TestLinesAreNoWiderThanAScreen(t *testing.T) {
	got := map[string]int{}
	for _, f := range files(t) {
		lines := widerLines(f.text)
		got[f.path] = len(lines)
		if n := wide[f.path]; len(lines) > n {
			t.Errorf("%s: %d lines have more than %d columns, of %d: %v\n\twhy not: two files stand next to "+
				"each other on a "+
				"screen, and a comparison shows both sides", f.path, len(lines), columns, n, lines)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(wide)) {
		if got[path] < wide[path] {
			t.Errorf("%s: %d lines are too wide: lower the number from %d", path, got[path], wide[path])
		}
	}
}

// widerLines returns the numbers of the lines that are too wide.
func widerLines(text string) (found []int) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimRight(line, "\r\n")
		if utf8.RuneCountInString(line)+3*strings.Count(line, "\t") > columns {
			found = append(found, n)
		}
	}
	return found
}

func TestAWideLineIsFound(t *testing.T) {
	fits := "\t// " + strings.Repeat("ü", columns-7)
	text := "package x\r\n" + fits + "\r\n" + fits + "x\n\t" + fits + "\n"
	if got := widerLines(text); !slices.Equal(got, []int{3, 4}) {
		t.Errorf("the lines %v are too wide, not 3 and 4", got)
	}
}
