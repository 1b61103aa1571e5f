package house

import (
	"fmt"
	"go/ast"
	"regexp"
	"strings"
	"testing"
)

// unfinished is what marks work that was put off. The words are split here, so
// that this file does not break its own rule.
var unfinished = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X|HA` + `CK)\b`)

// hollow are names that say nothing.
var hollow = regexp.MustCompile(`(Manager|Handler|Util|Utils|Base|Helper|Helpers)$`)

var naming = []rule{
	{
		name: "nothing unfinished",
		why:  "a note to oneself is read by nobody: finish it, or open an issue",
		finds: func(f *file) []finding {
			var found []finding
			for _, group := range f.tree.Comments {
				for _, c := range group.List {
					if word := unfinished.FindString(c.Text); word != "" {
						found = append(found, finding{c.Pos(), "says " + word})
					}
				}
			}
			return found
		},
		breach: breach{"x.go", "package incumbent\n// TO" + "DO: finish\n"},
	},
	{
		name: "types have names that say something",
		why:  "handles are called what users already say, and everything else by its noun",
		finds: func(f *file) []finding {
			return f.each(func(n ast.Node) string {
				if s, ok := n.(*ast.TypeSpec); ok && hollow.MatchString(s.Name.Name) {
					return fmt.Sprintf("what does a %s do?", s.Name.Name)
				}
				return ""
			})
		},
		breach: breach{"x.go", "package incumbent; type ElectionManager struct{}"},
	},
}

// elsewhere matches paths that exist on one machine only.
var elsewhere = regexp.MustCompile(`(^|[^\w.:/])/(root/|home/[a-z]|Users/[a-zA-Z]|work/(main|shared))`)

func TestNoPathOfOneMachine(t *testing.T) {
	for _, breach := range []string{`see "/ro` + `ot/x"`, "/ho" + "me/ada/x", "(/wo" + "rk/main)"} {
		if !elsewhere.MatchString(breach) {
			t.Errorf("nothing wrong with %q?", breach)
		}
	}
	err := walk(func(path_, text string) error {
		if strings.Contains(text, "\x00") || !elsewhere.MatchString(text) {
			return nil
		}
		for i, line := range strings.Split(text, "\n") {
			if found := elsewhere.FindString(line); found != "" {
				t.Errorf("%s:%d: %q is a path of somebody's machine\n\twhy not: what is committed must mean the "+
					"same everywhere", path_, i+1, found)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
