package prom_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/metrics"
)

var rewrite = flag.Bool("rewrite", false, "write the dashboard")

const dashboardFile = "dashboards/incumbent.json"

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
	for _, args := range [][]string{{"check", "rules", "incumbent.rules.yml"}, {"test", "rules", "incumbent.test.yml"}} {
		cmd := exec.Command(promtool(t), args...)
		cmd.Dir = "alerts"
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// panels are the dashboard's: a title, a unit of Grafana, and an expression.
var panels = [][3]string{
	{"Leaders of each line (1 is right)", "none", `sum by (path) (incumbent_leading)`},
	{"Who leads", "none", `incumbent_leading`},
	{"Ends of terms, by reason", "none", `sum by (path, reason) (increase(incumbent_terms_ended_total[15m]))`},
	{"Margin of belief: the lowest of 20", "percentunit", `histogram_quantile(0.05, sum by (instance, le) (rate(incumbent_belief_margin_ratio_bucket[10m])))`},
	{"Heartbeats: 99 of 100 take less", "s", `histogram_quantile(0.99, sum by (instance, strength, le) (rate(incumbent_heartbeat_duration_seconds_bucket[10m])))`},
	{"Heartbeats that confirmed nothing", "none", `sum by (instance) (increase(incumbent_heartbeats_failed_total[15m]))`},
	{"Takeover: 99 of 100 take less", "s", `histogram_quantile(0.99, sum by (recipe, le) (rate(incumbent_takeover_duration_seconds_bucket[1h])))`},
	{"Connected", "none", `incumbent_connected`},
	{"Events of the connection", "none", `sum by (instance, event) (increase(incumbent_connection_events_total[15m]))`},
	{"Belief and session timeout", "s", `incumbent_belief_budget_seconds or incumbent_session_timeout_seconds`},
	{"Work after its term", "s", `incumbent_draining_seconds`},
	{"This process did not run", "s", `increase(incumbent_process_paused_seconds_total[15m])`},
	{"Requests, by result", "reqps", `sum by (operation, result) (rate(incumbent_requests_total[5m]))`},
	{"Requests: 99 of 100 take less", "s", `histogram_quantile(0.99, sum by (operation, le) (rate(incumbent_request_duration_seconds_bucket[5m])))`},
	{"Queues: items", "none", `max by (path) (incumbent_queue_items)`},
	{"Queues: age of the oldest item", "s", `max by (path) (incumbent_queue_oldest_item_age_seconds)`},
	{"Queues: deliveries", "ops", `sum by (path, result) (rate(incumbent_queue_deliveries_total[5m]))`},
	{"Dropped: records, events", "none", `incumbent_recorder_dropped_total or incumbent_observer_dropped_total or incumbent_calls_dropped_total or incumbent_log_dropped_total`},
}

// dashboard is Grafana's JSON of the panels.
func dashboard() ([]byte, error) {
	var all []any
	for i, p := range panels {
		all = append(all, map[string]any{
			"id": i + 1, "type": "timeseries", "title": p[0],
			"datasource":  map[string]string{"type": "prometheus", "uid": "${datasource}"},
			"gridPos":     map[string]int{"x": i % 2 * 12, "y": i / 2 * 8, "w": 12, "h": 8},
			"fieldConfig": map[string]any{"defaults": map[string]any{"unit": p[1]}, "overrides": []any{}},
			"targets":     []any{map[string]string{"expr": p[2], "refId": "A"}},
		})
	}
	return json.MarshalIndent(map[string]any{
		"title": "incumbent", "uid": "incumbent", "schemaVersion": 39, "refresh": "30s",
		"time":       map[string]string{"from": "now-6h", "to": "now"},
		"templating": map[string]any{"list": []any{map[string]string{"name": "datasource", "type": "datasource", "query": "prometheus"}}},
		"panels":     all,
	}, "", "  ")
}

func TestDashboard(t *testing.T) {
	want, err := dashboard()
	if err != nil {
		t.Fatal(err)
	}
	if *rewrite {
		if err := os.WriteFile(dashboardFile, append(want, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(dashboardFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(bytes.ReplaceAll(got, []byte("\r"), nil), append(want, '\n')) {
		t.Errorf("%s is not what its test makes: go test -run TestDashboard -rewrite", dashboardFile)
	}
	var rules strings.Builder
	rules.WriteString("groups:\n  - name: panels\n    rules:\n")
	for i, p := range panels {
		for _, n := range name.FindAllString(p[2], -1) {
			if !exported(n) {
				t.Errorf("the panel %q names %s, which is not exported", p[0], n)
			}
		}
		fmt.Fprintf(&rules, "      - {record: 'panel:%d', expr: '%s'}\n", i, p[2])
	}
	file := filepath.Join(t.TempDir(), "panels.yml")
	if err := os.WriteFile(file, []byte(rules.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(promtool(t), "check", "rules", file).CombinedOutput(); err != nil {
		t.Errorf("promtool: %v\n%s", err, out)
	}
}
