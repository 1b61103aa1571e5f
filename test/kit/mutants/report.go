package mutants

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// String is the verdict in one line.
func (v Verdict) String() string {
	line := fmt.Sprintf("%-11s %s  %s:%d  %s", v.State, v.ID, v.File, v.Line, v.Mutator)
	if v.State == Found || v.State == Hang {
		line += fmt.Sprintf("  by %s %s", v.By.Dir, v.By.Test)
	}
	return line + fmt.Sprintf("  in %.1f s", v.Took.Seconds())
}

// Diff is a mutant as a change of the source.
func (m *Mutant) Diff() string {
	is := m.Is
	if is == "" {
		is = "(removed)"
	}
	return fmt.Sprintf("%s:%d %s\n\t- %s\n\t+ %s", m.File, m.Line, m.ID, m.Was, is)
}

// Score counts the verdicts of one package.
type Score struct{ All, Found, Hangs, Judged, Open int }

// Percent is the part that was found, of all and of those that can be found: those that are not judged equivalent.
func (s Score) Percent() (all, able float64) {
	found := float64(100 * (s.Found + s.Hangs))
	return found / float64(max(1, s.All)), found / float64(max(1, s.All-s.Judged))
}

// Scores returns the score of each package, and those who survived and are not judged equivalent.
func Scores(verdicts []Verdict, judged map[string]string) (byDir map[string]Score, open []Verdict) {
	byDir = map[string]Score{}
	for _, v := range verdicts {
		s := byDir[v.Dir]
		s.All++
		switch {
		case v.State == Found:
			s.Found++
		case v.State == Hang:
			s.Hangs++
		case judged[v.ID] != "":
			s.Judged++
		default:
			s.Open++
			open = append(open, v)
		}
		byDir[v.Dir] = s
	}
	return byDir, open
}

// Table is the scores as a table.
func Table(byDir map[string]Score) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-12s %8s %6s %6s %11s %5s %7s %14s\n", "package", "mutants", "found", "hangs", "equivalent",
		"open", "score", "of the others")
	for _, dir := range slices.Sorted(maps.Keys(byDir)) {
		s := byDir[dir]
		all, able := s.Percent()
		fmt.Fprintf(&b, "%-12s %8d %6d %6d %11d %5d %6.1f%% %13.1f%%\n", dir, s.All, s.Found, s.Hangs, s.Judged,
			s.Open, all, able)
	}
	return b.String()
}

// readTable reads a file of lines with tabs, by their first field. Lines that begin with # are comments.
func readTable(name string, fields int) (map[string][]string, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	rows := map[string][]string{}
	for i, line := range strings.Split(string(text), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		row := strings.Split(line, "\t")
		if len(row) != fields || rows[row[0]] != nil {
			return nil, fmt.Errorf("%s:%d: want %d fields with tabs between them, and each id once", name, i+1, fields)
		}
		rows[row[0]] = row[1:]
	}
	return rows, nil
}

// writeFinders writes which test found which mutant, in place of what the file held.
func writeFinders(name string, known map[string]Finder, hangs map[string]bool) error {
	var b strings.Builder
	b.WriteString("# Written by make mutants: the mutant's id, then the package and the test that found it the last " +
		"time, then how: the test failed\n" +
		"# (found) or did not end (hang). The test \"start\" is a binary that failed before its first test. The test " +
		"is tried first, and decides nothing.\n")
	for _, id := range slices.Sorted(maps.Keys(known)) {
		state := Found
		if hangs[id] {
			state = Hang
		}
		fmt.Fprintf(&b, "%s\t%s\t%s\t%s\n", id, cmp.Or(known[id].Dir, "."), known[id].Test, state)
	}
	whole := name + ".new" // an interrupted run leaves the table as it was or as it is now
	if err := os.WriteFile(whole, []byte(b.String()), 0o644); err != nil {
		return err
	}
	return os.Rename(whole, name)
}
