package systems

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// run is what a system gave on one kind of server.
type run struct {
	server  string
	steps   []step
	answers map[answer]int
}

// stepsDiffer says in which steps two runs had other outcomes.
func stepsDiffer(a, b run) (wrong []string) {
	for i := range max(len(a.steps), len(b.steps)) {
		var x, y step
		if i < len(a.steps) {
			x = a.steps[i]
		}
		if i < len(b.steps) {
			y = b.steps[i]
		}
		if x.name != y.name || x.outcome != y.outcome {
			wrong = append(wrong, fmt.Sprintf("step %d is %q: %q on %s, and %q: %q on %s", i+1, x.name, x.outcome,
				a.server, y.name, y.outcome, b.server))
		}
	}
	return wrong
}

// answersDiffer returns the answers that one server gave and the other not, without those that are races.
func answersDiffer(a, b run, races map[string]string) (wrong []string) {
	for _, one := range sorted(a.answers, b.answers) {
		if (a.answers[one] == 0) != (b.answers[one] == 0) && races[one.String()] == "" {
			wrong = append(wrong, fmt.Sprintf("%s: %d on %s, %d on %s, and no race is named", one, a.answers[one],
				a.server, b.answers[one], b.server))
		}
	}
	return wrong
}

// sorted returns all answers of both.
func sorted(a, b map[answer]int) []answer {
	both := maps.Clone(a)
	maps.Copy(both, b)
	return slices.SortedFunc(maps.Keys(both), func(x, y answer) int {
		return cmp.Or(cmp.Compare(x.op, y.op), cmp.Compare(y.code, x.code))
	})
}

func TestWhatDiffersIsFound(t *testing.T) {
	a := run{"one", []step{{"x", 1, "well"}}, map[answer]int{{"create", 0}: 3, {"multi/check", -103}: 1}}
	b := run{"other", []step{{"x", 2, "well"}}, map[answer]int{{"create", 0}: 9}}
	if wrong := stepsDiffer(a, b); wrong != nil {
		t.Error(wrong)
	}
	if wrong := answersDiffer(a, b, nil); len(wrong) != 1 {
		t.Error(wrong)
	}
	if wrong := answersDiffer(a, b, map[string]string{"multi/check -103": "two write at a time"}); wrong != nil {
		t.Error(wrong)
	}
	if b.steps[0].outcome = "badly"; len(stepsDiffer(a, b)) != 1 || len(stepsDiffer(a, run{})) != 1 {
		t.Error("another outcome, or none, is no difference")
	}
}

// section is what results.md has about a system.
func section(one *system, runs []run) string {
	var b strings.Builder
	work := strings.ToUpper(one.work[:1]) + one.work[1:]
	fmt.Fprintf(&b, "## %s\n\n%s. `make systems PART=%s`.\n\n", one.name, work, one.key)
	fmt.Fprintf(&b, "| step | outcome on both | %s | %s |\n|---|---|---|---|\n", runs[0].server, runs[1].server)
	for i, x := range runs[0].steps {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", x.name, x.outcome, seconds(x.took), seconds(runs[1].steps[i].took))
	}
	fmt.Fprintf(&b, "\n| answer | %s | %s | |\n|---|---|---|---|\n", runs[0].server, runs[1].server)
	totals := [2]int{}
	for _, a := range sorted(runs[0].answers, runs[1].answers) {
		fmt.Fprintf(&b, "| %s | %d | %d | %s |\n", a, runs[0].answers[a], runs[1].answers[a], one.races[a.String()])
		totals[0] += runs[0].answers[a]
		totals[1] += runs[1].answers[a]
	}
	fmt.Fprintf(&b, "| all | %d | %d | |\n", totals[0], totals[1])
	return b.String()
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }

const (
	resultsFile = "results.md"
	pageFile    = "../../../docs/testing.md"
	tableBegin  = "<!-- make systems -->\n"
	tableEnd    = "<!-- end -->\n"
)

// writeResults replaces a system's section in results.md, and its row in the table of docs/testing.md.
func writeResults(one *system, runs []run) error {
	for file, change := range map[string]func(string) string{
		resultsFile: func(text string) string { return withSection(text, one, section(one, runs)) },
		pageFile:    func(text string) string { return withRow(text, one, row(one, runs)) },
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(change(string(text))), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// withSection replaces a system's section, or adds it in the order of the systems.
func withSection(text string, one *system, section string) string {
	parts := strings.Split(text, "\n## ")
	sections := map[string]string{one.key: section}
	for _, part := range parts[1:] {
		for _, of := range allSystems {
			if of != one && strings.Contains(part, "`make systems PART="+of.key+"`") {
				sections[of.key] = "## " + strings.TrimRight(part, "\n") + "\n"
			}
		}
	}
	text = strings.TrimRight(parts[0], "\n") + "\n"
	for _, of := range allSystems {
		if sections[of.key] != "" {
			text += "\n" + sections[of.key]
		}
	}
	return text
}

// withRow replaces a system's row in the table, or adds it in the order of the systems.
func withRow(text string, one *system, row string) string {
	before, rest, begun := strings.Cut(text, tableBegin)
	table, after, ended := strings.Cut(rest, tableEnd)
	if !begun || !ended {
		return text
	}
	rows := map[string]string{one.key: row}
	for line := range strings.Lines(table) {
		for _, of := range allSystems {
			if of != one && strings.HasPrefix(line, "| "+of.name+" |") {
				rows[of.key] = line
			}
		}
	}
	table = "| system | what it does | the next one leads after: expiry, kill |\n|---|---|---|\n"
	for _, of := range allSystems {
		table += rows[of.key]
	}
	return before + tableBegin + table + tableEnd + after
}

// row is a system's row of the table: the longest time after each fault, on zkmem and on the real server.
func row(one *system, runs []run) string {
	var times []string
	for _, fault := range []string{expiry, kill} {
		var each []string
		for _, r := range runs {
			longest := time.Duration(0)
			for _, x := range r.steps {
				if x.name == fault {
					longest = max(longest, x.took)
				}
			}
			each = append(each, fmt.Sprintf("%.1f s", longest.Seconds()))
		}
		times = append(times, strings.Join(each, " / "))
	}
	return fmt.Sprintf("| %s | %s | %s |\n", one.name, one.work, strings.Join(times, ", "))
}

func TestASystemsPartIsReplaced(t *testing.T) {
	one := allSystems[0]
	page := "a\n" + tableBegin + tableEnd + "b\n"
	page = withRow(withRow(page, one, "| "+one.name+" | old |\n"), one, "| "+one.name+" | new |\n")
	whole := strings.HasSuffix(page, tableEnd+"b\n")
	if strings.Count(page, one.name) != 1 || !strings.Contains(page, "new") || !whole {
		t.Error(page)
	}
	text := "# title\n\nwords\n"
	for range 2 {
		text = withSection(text, one, "## "+one.name+"\n\n`make systems PART="+one.key+"`\n")
	}
	if strings.Count(text, "## "+one.name) != 1 || !strings.HasPrefix(text, "# title\n\nwords\n\n## ") {
		t.Error(text)
	}
}
