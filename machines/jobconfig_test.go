package machines

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// javaLines returns the lines of a file whose contents ElasticJob's own classes have made, without comments.
func javaLines(t testing.TB, name string) (lines []string) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "elasticjob", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if !strings.HasPrefix(s.Text(), "#") {
			lines = append(lines, s.Text())
		}
	}
	if len(lines) == 0 {
		t.Fatalf("%s is empty", name)
	}
	return lines
}

// TestDealsAreJavas compares the owners of items with those that the strategies of ElasticJob 3.0.4 and 2.1.5 return.
func TestDealsAreJavas(t *testing.T) {
	for i, line := range javaLines(t, "deals.tsv") {
		cells := strings.Split(line, "\t")
		total, _ := strconv.Atoi(cells[2])
		instances := strings.Split(cells[3], " ")
		var want []string
		for owner := range strings.SplitSeq(cells[4], " ") {
			n, _ := strconv.Atoi(owner)
			want = append(want, instances[n])
		}
		slices.SortFunc(instances, func(a, b string) int { // a listing has any order
			return strings.Compare(a[i%len(a):], b[i%len(b):])
		})
		got := DealItems(JobConfig{Strategy: cells[0], Total: total}, cells[1], instances)
		if !slices.Equal(got, want) {
			t.Errorf("%s of job %q, %d items, %v:\ngot  %v\nwant %v", cells[0], cells[1], total, instances, got, want)
		}
	}
	if got := DealItems(JobConfig{Strategy: "com.example.Mine", Total: 3}, "a", []string{"b"}); got != nil {
		t.Errorf("an unknown strategy deals %v", got)
	}
	if got := DealItems(JobConfig{Total: 3}, "a", nil); got != nil {
		t.Errorf("without an instance, %v", got)
	}
	c := JobConfig{Strategy: "ROUND_ROBIN", Total: 2} // Java fails here
	if got := DealItems(c, "polygenelubricants", []string{"a", "b", "c"}); len(got) != 2 {
		t.Errorf("the smallest hash: %v", got)
	}
}

// TestConfigsAreJavas reads configurations as ElasticJob 3.0.4 reads them: what it writes itself, and what people may
// make of that.
func TestConfigsAreJavas(t *testing.T) {
	only := []string{"\ncron:\n- a\n", "|2-\n\u0085"} // what ElasticJob reads, and this library refuses
	for _, line := range javaLines(t, "configs-3.0.4.jsonl") {
		var pair [2]json.RawMessage
		var text string
		var want JobConfig
		if err := json.Unmarshal([]byte(line), &pair); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(pair[0], &text); err != nil {
			t.Fatal(err)
		}
		refused := json.Unmarshal(pair[1], &want) != nil
		refused = refused || strings.Contains(text, only[0]) || strings.Contains(text, only[1])
		got, err := ParseJobConfig([]byte(text))
		if refused && err == nil || !refused && (err != nil || got != want) {
			t.Errorf("%q\ngot  %+v, %v\nwant %s", text, got, err, pair[1])
		}
	}
}

// TestConfigsOfOldJobs reads what 2.1.5 writes.
func TestConfigsOfOldJobs(t *testing.T) {
	want := []JobConfig{
		{Legacy: true, Name: "nightly", Cron: "0/1 * * * * ?", Total: 3, MonitorExecution: true, Misfire: true,
			MaxTimeDiffSeconds: -1, ReconcileIntervalMinutes: 10},
		{Legacy: true, Name: "nightly", Cron: "0/5 * * * * ?", Total: 10, ItemParameters: `0=a,1="b" <c>`,
			Parameter: "pé\n", Failover: true, MaxTimeDiffSeconds: 3, Disabled: true,
			Strategy: legacyStrategies + "RotateServerByNameJobShardingStrategy"},
	}
	for i, line := range javaLines(t, "configs-2.1.5.jsonl") {
		if got, err := ParseJobConfig([]byte(line)); err != nil || got != want[i] || !KnownStrategy(got.Strategy) {
			t.Errorf("%s\ngot  %+v, %v\nwant %+v", line, got, err, want[i])
		}
	}
}

// TestConfigsThatAreRefused has what ElasticJob reads, or would fail at later, and this library says is wrong.
func TestConfigsThatAreRefused(t *testing.T) {
	for _, c := range [][2]string{
		{"", "the configuration is empty: want ElasticJob's YAML or JSON"},
		{"{", "the configuration is not ElasticJob 2.1.5's JSON: unexpected end of JSON input"},
		{"jobName: a", "shardingTotalCount is 0: want 1 to 500"},
		{"jobName: a\nshardingTotalCount: 1001", "shardingTotalCount is 1001: want 1 to 500"},
		{"shardingTotalCount: 3", "jobName is empty: want the job's name"},
		{"jobName: a\nshardingTotalCount: 010", `line 2: shardingTotalCount: "010" is not a decimal number, as in 3`},
		{"jobName: a\nshardingTotalCount: 0x10", `line 2: shardingTotalCount: "0x10" is not a decimal number, as in 3`},
		{"jobName: a\nmisfire: !!bool x", `line 2: misfire: the value begins with "!": want a plain or a quoted one`},
		{"jobName: a\ncron: [x]", `line 2: cron: the value begins with "[": want a plain or a quoted one`},
		{"jobName: a\nfailover: maybe", `line 2: failover: "maybe" is neither true nor false`},
		{"jobName: a\ncron: 'x", "line 2: cron: the closing quote is missing"},
		{"jobName: a\ncron: 'x' y", `line 2: cron: "y" follows the closing quote`},
		{"jobName: a\ncron: \"\\q\"", `line 2: cron: \q is no escape of YAML`},
		{"jobName: a\ncron: \"\\u12", `line 2: cron: \u is no escape of YAML`},
		{"jobName: a\ncron: |x\n  a", `line 2: cron: "|x": want |, > or one of them with + or -`},
		{"jobName: a\ncron: |\n  a\n b", `line 2: cron: " b" is indented less than the first line`},
		{"jobName: a\ncron: a: b", `line 2: cron: "a: b" has a colon: want the value in quotes`},
		{"jobName: a\ncron:\n- b", "line 2: cron: the value is a list: want one value"},
		{"jobName: a\nx", `line 2: "x": want a field and its value, as in shardingTotalCount: 3`},
		{" jobName: a", `line 1: " jobName: a": want a field and its value, as in shardingTotalCount: 3`},
		{"jobName: a\n---\njobName: b", `line 2: "---": want one document`},
	} {
		if got, err := ParseJobConfig([]byte(c[0])); fmt.Sprint(err) != c[1] {
			t.Errorf("%q\ngot  %+v, %v\nwant %s", c[0], got, err, c[1])
		}
	}
}

// FuzzParseJobConfig reads any bytes. What is read can be dealt, to all instances and evenly.
func FuzzParseJobConfig(f *testing.F) {
	for _, name := range []string{"configs-3.0.4.jsonl", "configs-2.1.5.jsonl"} {
		for _, line := range javaLines(f, name) {
			var pair []any
			if json.Unmarshal([]byte(line), &pair) == nil {
				line = fmt.Sprint(pair[0])
			}
			f.Add([]byte(line), "nightly")
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, job string) {
		c, err := ParseJobConfig(data)
		if err != nil {
			return
		}
		instances := []string{"10.0.0.1@-@7", "10.0.0.2@-@7", job}
		owners := DealItems(c, job, instances)
		if !KnownStrategy(c.Strategy) {
			return
		}
		share := map[string]int{}
		for _, owner := range owners {
			share[owner]++
		}
		if len(owners) != c.Total || share[instances[0]] < c.Total/3 || share[instances[0]] > c.Total/3+1 {
			t.Fatalf("%d items are dealt so: %v", c.Total, share)
		}
	})
}
