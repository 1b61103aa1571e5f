package main

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var rewriteRatios = flag.Bool("rewrite-ratios", false, "write the table of ratios of docs/performance.md")

// ratio is one row of docs/performance.md: a table of results.md, and the rows of it that are shown.
type ratio struct {
	part, title string // where the figures are
	name        string // what the page calls it
	rows        [4]string
}

var (
	forLeaders = [4]string{"**incumbent** `Latch`", "Curator `LeaderLatch`", "kazoo `Lock`", "etcd `Election`"}
	forLocks   = [4]string{"**incumbent** `Mutex`", "Curator `InterProcessMutex`", "kazoo `Lock`", ""}
)

const cycle = "Lock and unlock, or start and release"

var ratios = []ratio{
	{"quick", "Start → leading", "one server: start → leading, to lead", forLeaders},
	{"quick", "Start → leading", "the same, to lock", forLocks},
	{"quick", cycle, "one server: cycle, to lead", forLeaders},
	{"quick", cycle, "the same, to lock", forLocks},
	{"quick", "Hand-over", "one server: hand-over", forLeaders},
	{"quick", "A line of 100, one session", "one server: a line of 100", forLeaders},
	{"newest", "Start → leading", "ZooKeeper 3.9.5: start → leading", forLeaders},
	{"newest", cycle, "ZooKeeper 3.9.5: cycle", forLeaders},
	{"newest", "Hand-over", "ZooKeeper 3.9.5: hand-over", forLeaders},
	{"network", "Start → leading, a network of 1ms", "a network of 1 ms: start → leading", forLeaders},
	{"network", cycle + ", a network of 1ms", "a network of 1 ms: cycle", forLeaders},
	{"network", "Hand-over, a network of 1ms", "a network of 1 ms: hand-over", forLeaders},
	{"ensemble", "Start → leading", "three servers: start → leading", forLeaders},
	{"ensemble", cycle, "three servers: cycle", forLeaders},
	{"ensemble", "Hand-over", "three servers: hand-over", forLeaders},
	{"scale", "A line of 1000, one session", "a line of 1,000", forLeaders},
	{"scale", "A line of 300, own sessions", "a line of 300 sessions", forLeaders},
	{"scale", "10000 at once, fresh paths", "10,000 at once, fresh paths", forLeaders},
	{"scale", "10000 at once, existing paths", "10,000 at once, existing paths", forLeaders},
	{"scale", "Release of 10000 at once", "10,000 at once, release", forLeaders},
	{"scale", "1000 clients that lead", "1,000 clients", forLeaders},
	{"recipes", cycle + ": semaphore", "semaphore, cycle",
		[4]string{"**incumbent** `Semaphore`", "Curator `InterProcessSemaphoreV2`", "kazoo `Semaphore`"}},
	{"recipes", cycle + ": read", "read lock, cycle",
		[4]string{"**incumbent** `ReadWriteLock.RLock`", "Curator `InterProcessReadWriteLock.readLock`",
			"kazoo `ReadLock`"}},
	{"recipes", cycle + ": write", "write lock, cycle",
		[4]string{"**incumbent** `ReadWriteLock.Lock`", "Curator `InterProcessReadWriteLock.writeLock`",
			"kazoo `WriteLock`"}},
	{"recipes", cycle + ": barrier", "double barrier, cycle",
		[4]string{"**incumbent** `DoubleBarrier`", "Curator `DistributedDoubleBarrier`", "kazoo `DoubleBarrier`"}},
}

// timesLock returns the ratio to Lock of a row of a table in a part of results.md.
func timesLock(t *testing.T, results, part, title, row string) string {
	t.Helper()
	_, text, _ := strings.Cut(results, "<!-- part "+part+" -->")
	text, _, _ = strings.Cut(text, "<!-- /part "+part+" -->")
	_, text, found := strings.Cut(text, "\n#### "+title+"\n")
	text, _, _ = strings.Cut(text, "\n#### ")
	if !found {
		t.Fatalf("results.md has no table %q in the part %s", title, part)
	}
	if row == "" || !strings.Contains(text, "\n| "+row+" |") {
		return "–"
	}
	_, line, _ := strings.Cut(text, "\n| "+row+" |")
	line, _, _ = strings.Cut(line, "\n")
	cells := strings.Split(line, "|")
	value, _, _ := strings.Cut(strings.TrimSpace(cells[2]), " ") // p50, p90, × Lock
	if !regexp.MustCompile(`^\d+(\.\d+)?$`).MatchString(value) {
		t.Fatalf("results.md: %q of %s, %s is no ratio: %q", row, part, title, value)
	}
	return value
}

// The page has the ratios of the tables that were measured last.
func TestThePageHasTheRatiosOfTheResults(t *testing.T) {
	results, err := os.ReadFile("results.md")
	if err != nil {
		t.Fatal(err)
	}
	text := "| × `Lock` | **incumbent** | Curator | kazoo | etcd |\n|---|---|---|---|---|\n"
	for _, r := range ratios {
		cells := []string{r.name}
		for i, row := range r.rows {
			value := timesLock(t, string(results), r.part, r.title, row)
			if i == 0 && value == "–" {
				t.Fatalf("results.md: no %s in %s, %s", row, r.part, r.title)
			}
			cells = append(cells, value)
		}
		text += "| " + strings.Join(cells, " | ") + " |\n"
	}
	const begins, ends = "<!-- ratios -->\n", "<!-- /ratios -->"
	name := filepath.Join("..", "docs", "performance.md")
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begun := strings.Cut(string(page), begins)
	_, after, ended := strings.Cut(rest, ends)
	if !begun || !ended {
		t.Fatalf("docs/performance.md does not have the marks %q and %q", begins, ends)
	}
	want := before + begins + text + ends + after
	if *rewriteRatios {
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(page) != want {
		t.Errorf("docs/performance.md has other ratios than results.md: go test . -run Ratios -rewrite-ratios\n%s",
			text)
	}
}
