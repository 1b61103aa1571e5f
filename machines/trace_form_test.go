package machines

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// mustBeWellFormed ends the test, before anything is played or rewritten, if a
// trace has no reason or a directive has no "----".
func mustBeWellFormed(t *testing.T, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if wrongs := malformed(path, string(b)); len(wrongs) > 0 {
		t.Fatal(strings.Join(wrongs, "\n"))
	}
}

// malformed says what is wrong with the form of a trace. datadriven reads all
// lines up to the next "----" as the input of a directive; a directive of a trace
// has none, so such a line is a directive whose predecessor lacks its "----".
func malformed(path, text string) (wrongs []string) {
	if !strings.HasPrefix(text, "# ") {
		wrongs = append(wrongs, fmt.Sprintf("%s:1: the first line must say why the trace exists: \"# …\"", path))
	}
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		if line := strings.TrimSpace(lines[i]); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		at := i
		for strings.HasSuffix(lines[i], `\`) && i+1 < len(lines) {
			i++
		}
		if i++; i == len(lines) || lines[i] != "----" {
			wrong := fmt.Sprintf("%s:%d: %q has no ---- of its own: line %d has to be ----", path, at+1, lines[at], i+1)
			if next := slices.IndexFunc(lines[min(i, len(lines)):],
				func(l string) bool { return strings.TrimSpace(l) != "" }); next >= 0 {
				wrong += fmt.Sprintf(", or %q would be its input", lines[i+next])
			}
			wrongs = append(wrongs, wrong)
			i--
			continue
		}
		i = expectedEnd(lines, i+1)
	}
	return wrongs
}

// expectedEnd returns the line at which an expected answer ends: a blank one, or the
// second of two "----" if it began with two.
func expectedEnd(lines []string, i int) int {
	if i < len(lines) && lines[i] == "----" {
		for i++; i+1 < len(lines) && (lines[i] != "----" || lines[i+1] != "----"); i++ {
		}
		return i + 1
	}
	for i < len(lines) && strings.TrimSpace(lines[i]) != "" {
		i++
	}
	return i
}

func TestATraceHasADashedLineForEachDirective(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"right":          {"# why\nconnected\n----\n\nsuspend\n----\nsession: x\n\n# more\nlose\n----\n", ""},
		"blank lines in": {"# why\nconnected\n----\n----\na\n\nb\n----\n----\n\nlose\n----\n", ""},
		"wrapped":        {"# why\nopen latch \\\n  id=a\n----\n", ""},
		"no reason":      {"connected\n----\n", `x:1: the first line must say why the trace exists: "# …"`},
		"swallowed": {"# why\nconnected\n\nopen latch\n----\nlatch: y\n",
			`x:2: "connected" has no ---- of its own: line 3 has to be ----, ` +
				`or "open latch" would be its input`},
		"an answer": {"# why\nsuspend\nsession: y\n\nlose\n----\n",
			`x:2: "suspend" has no ---- of its own: line 3 has to be ----, or "session: y" would be its input
x:3: "session: y" has no ---- of its own: line 4 has to be ----, or "lose" would be its input`},
		"the last": {"# why\nconnected", `x:2: "connected" has no ---- of its own: line 3 has to be ----`},
		"wrapped once": {"# why\nopen latch \\\n  id=a\nlose\n----\n",
			`x:2: "open latch \\" has no ---- of its own: line 4 has to be ----, or "lose" would be its input`},
	} {
		if got := strings.Join(malformed("x", test.text), "\n"); got != test.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, test.want)
		}
	}
}
