package prom_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/metrics"
)

var rewrite = flag.Bool("rewrite", false, "write the dashboard")

const dashboardFile = "dashboards/incumbent.json"

type object = map[string]any

// selectors are what LINE, PROCESS and QUEUE stand for: a queue's path is none of the variable's.
var selectors = strings.NewReplacer("LINE", `job=~"$job",path=~"$path"`, "PROCESS", `job=~"$job"`, "QUEUE",
	`job=~"$job"`)

var datasource = map[string]string{"type": "prometheus", "uid": "${datasource}"}

// dashboard is Grafana's JSON of the panels.
func dashboard() ([]byte, error) {
	var all []any
	x, y, high := 0, 0, 0
	for i, p := range panels {
		width, height := p.width, 8
		switch p.kind {
		case "row":
			width, height = 24, 1
		case "stat":
			height = 5
		}
		if x+width > 24 {
			x, y, high = 0, y+high, 0
		}
		all = append(all, p.json(i+1, object{"x": x, "y": y, "w": width, "h": height}))
		x, high = x+width, max(high, height)
	}
	return json.MarshalIndent(object{
		"title": "incumbent", "uid": "incumbent", "schemaVersion": 39, "refresh": "30s", "tags": []string{"incumbent",
			"zookeeper"},
		"time":  object{"from": "now-6h", "to": "now"},
		"links": []any{},
		"templating": object{"list": []any{
			object{"name": "datasource", "type": "datasource", "query": "prometheus"},
			variable("job", "label_values(incumbent_connected, job)"),
			variable("path", `label_values(incumbent_leading{job=~"$job"}, path)`)}},
		"annotations": object{"list": []any{object{"name": "Alerts", "enable": true, "iconColor": "red",
			"datasource":  datasource,
			"expr":        `ALERTS{alertname=~"Incumbent.*",alertstate="firing",job=~"$job"}`,
			"titleFormat": "{{alertname}}", "textFormat": "{{path}} {{instance}}"}}},
		"panels": all,
	}, "", "  ")
}

// variable is one of the dashboard's, of which several values can be chosen.
func variable(name, query string) object {
	return object{"name": name, "type": "query", "label": name, "datasource": datasource, "definition": query,
		"query": object{"query": query, "refId": name}, "refresh": 2, "sort": 1, "multi": true, "includeAll": true,
		"allValue": ".*",
		"current":  object{"text": []string{"All"}, "value": []string{"$__all"}}}
}

// json is Grafana's of one panel.
func (p panel) json(id int, at object) object {
	if p.kind == "row" {
		return object{"id": id, "type": "row", "title": p.title, "collapsed": false, "gridPos": at, "panels": []any{}}
	}
	var targets []any
	for i, q := range p.queries {
		targets = append(targets, object{"expr": selectors.Replace(q.expr), "legendFormat": q.legend,
			"refId":   string(rune('A' + i)),
			"instant": p.kind == "stat", "range": p.kind != "stat"})
	}
	defaults, options := object{"unit": p.unit}, object{}
	switch p.kind {
	case "stat":
		options = object{"colorMode": "background", "graphMode": "none", "textMode": "value_and_name",
			"reduceOptions": object{"calcs": []string{"lastNotNull"}, "fields": "", "values": false}}
		defaults["noValue"] = "no process runs"
	case "state-timeline":
		options = object{"mergeValues": true, "showValue": "auto", "rowHeight": 0.8}
	}
	if colours := p.colours(); colours != nil {
		defaults["color"] = object{"mode": "thresholds"}
		defaults["thresholds"] = object{"mode": "absolute", "steps": colours}
		defaults["mappings"] = p.mappings()
	}
	return object{"id": id, "type": p.kind, "title": p.title, "description": p.about, "datasource": datasource,
		"gridPos":     at,
		"fieldConfig": object{"defaults": defaults, "overrides": []any{}}, "options": options, "targets": targets}
}

// colours are the steps of a panel that has a right value.
func (p panel) colours() []any {
	step := func(from any, colour string) any { return object{"value": from, "color": colour} }
	switch p.title {
	case "Leaders now", "Leaders of each line":
		return []any{step(nil, "red"), step(1, "green"), step(2, "purple")}
	case "Nobody for":
		return []any{step(nil, "green"), step(1, "orange"), step(20, "red")}
	case "Who leads":
		return []any{step(nil, "transparent"), step(1, "green")}
	case "Connected":
		return []any{step(nil, "red"), step(1, "green")}
	}
	return nil
}

// mappings are the words for a panel's values.
func (p panel) mappings() []any {
	words := map[string][]string{"Leaders now": {"nobody", "one"}, "Leaders of each line": {"nobody", "one"},
		"Who leads": {" ", "leads"}, "Connected": {"no", "connected"}, "Nobody for": {"somebody leads"}}[p.title]
	values := object{}
	for i, w := range words {
		values[fmt.Sprint(i)] = object{"text": w, "index": i}
	}
	return []any{object{"type": "value", "options": values}}
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
	for _, p := range panels {
		if (p.kind == "row") != (len(p.queries) == 0) || p.kind != "row" && p.about == "" {
			t.Errorf("the panel %q has no query or no description", p.title)
		}
		for _, q := range p.queries {
			names := name.FindAllString(q.expr, -1)
			for _, n := range names {
				if !exported(n) {
					t.Errorf("the panel %q names %s, which is not exported", p.title, n)
				}
			}
			slices.Sort(names)
			if strings.Contains(q.expr, " or ") && len(slices.Compact(names)) > 1 {
				t.Errorf("the panel %q joins %q by or, which hides the second where the labels are equal: two "+
					"queries show both", p.title, names)
			}
		}
	}
}

// promtest evaluates expressions with promtool, which prints each one whose result is another.
func promtest(t *testing.T, file string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "panels.test.yml")
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(promtool(t), "test", "rules", path).CombinedOutput(); err != nil {
		t.Errorf("promtool: %v\n%s", err, out)
	}
}

// chosen returns an expression as Grafana sends it.
func chosen(expr, job, path string) string {
	return strings.NewReplacer("$job", job, "$path", path).Replace(selectors.Replace(expr))
}

// Every query of every panel shows what a process exports, whatever variables are chosen.
func TestEveryQueryShowsSomething(t *testing.T) {
	var b strings.Builder
	b.WriteString("evaluation_interval: 15s\ntests:\n  - interval: 15s\n    input_series:\n")
	for _, f := range metrics.Families() {
		series, labels := f.Name, `job="j",instance="a"`
		for _, l := range f.Labels {
			labels += fmt.Sprintf(`,%s="/p"`, l)
		}
		if f.Kind == metrics.Histogram {
			series, labels = series+"_bucket", labels+`,le="1"`
			fmt.Fprintf(&b, "      - {series: '%s{%s}', values: '0+1x300'}\n", series, strings.Replace(labels,
				`le="1"`, `le="+Inf"`, 1))
		}
		fmt.Fprintf(&b, "      - {series: '%s{%s}', values: '0+1x300'}\n", series, labels)
	}
	b.WriteString("    promql_expr_test:\n")
	for _, p := range panels {
		for _, q := range p.queries {
			for _, variables := range [][2]string{{".*", ".*"}, {"j", "/p"}} {
				fmt.Fprintf(&b, "      - {eval_time: 1h, expr: 'count(%s) > bool 0', exp_samples: [{labels: '{}', "+
					"value: 1}]}\n",
					chosen(q.expr, variables[0], variables[1]))
			}
		}
	}
	promtest(t, b.String())
}

// The first row says who leads now and for how long nobody: /p has two processes, one of which led until 100 s; /q has
// a leader; /new
// has never had one; two lead /two.
func TestTheFirstRow(t *testing.T) {
	series := [][2]string{{`/p",instance="a`, "1x20 0x100"}, {`/p",instance="b`, "0x120"}, {`/q",instance="a`, "1x120"},
		{`/new",instance="a`, "_x9 0x110"}, {`/two",instance="a`, "1x120"}, {`/two",instance="b`, "1x120"},
		{`other",instance="b`, "0x120"}}
	var b strings.Builder
	b.WriteString("evaluation_interval: 5s\ntests:\n  - interval: 5s\n    input_series:\n")
	for _, s := range series {
		fmt.Fprintf(&b, "      - {series: 'incumbent_leading{job=\"j\",path=\"%s\"}', values: '%s'}\n", s[0], s[1])
	}
	b.WriteString("    promql_expr_test:\n")
	for _, want := range []struct {
		expr   string
		path   string
		values map[string]int
	}{
		{leaders, ".*", map[string]int{"/p": 0, "/q": 1, "/new": 0, "/two": 2}},
		{leaders, "/two", map[string]int{"/two": 2}},
		{nobodyFor, ".*", map[string]int{"/p": 80, "/q": 0, "/new": 135, "/two": 0}},
	} {
		fmt.Fprintf(&b, "      - expr: '%s'\n        eval_time: 180s\n        exp_samples:\n", chosen(want.expr, ".*",
			want.path))
		for path, v := range want.values {
			fmt.Fprintf(&b, "          - {labels: '{job=\"j\",path=\"%s\"}', value: %d}\n", path, v)
		}
	}
	promtest(t, b.String())
}
