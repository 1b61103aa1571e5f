package house

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// goLines are go.mod's lines about Go.
var goLines = regexp.MustCompile(`\ngo (1\.(\d+)\.0)\n\ntoolchain go(1\.\d+\.\d+)\n`)

// saysGo has, by its path, what a file says of the two supported releases of Go: %[1]s is the older, %[2]s the newer.
var saysGo = map[string]string{
	"README.md":                          "You need Go %[1]s or %[2]s,",
	"CONTRIBUTING.md":                    "Go %[1]s or %[2]s, the two newest releases, is enough",
	"CHANGELOG.md":                       "now %[1]s and %[2]s: go.mod has the older one",
	".ci/run":                            "Go %[1]s or %[2]s must be installed",
	".github/workflows/ci.yml":           "go: [\"%[1]s\", \"%[2]s\"]",
	"docs/examples/deploy/Containerfile": "/golang:%[1]s AS",
}

// otherwise is how a page says which releases would do.
var otherwise = regexp.MustCompile(`Go 1\.\d+ (or|and) (later|newer|up)|needs? Go (1\.\d+)`)

// goPolicy returns where the files, by their paths, disagree about the supported releases of Go.
func goPolicy(files map[string]string) (found []string) {
	want := goLines.FindStringSubmatch(files["go.mod"])
	if want == nil {
		return []string{"go.mod does not have a go line such as go 1.26.0 and a toolchain line"}
	}
	minor, _ := strconv.Atoi(want[2]) // it is a number
	older, newer := fmt.Sprint("1.", minor), fmt.Sprint("1.", minor+1)
	if !strings.HasPrefix(want[3], older+".") {
		found = append(found, "go.mod's toolchain is no patch of the older release")
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		text := files[name]
		if got := goLines.FindString(text); path.Base(name) == "go.mod" && got != want[0] {
			found = append(found, fmt.Sprintf("%s has %q, and go.mod %q", name, got, want[0]))
		}
		if other := otherwise.FindStringSubmatch(text); strings.HasSuffix(name, ".md") && other != nil &&
			other[3] != older {
			found = append(found, fmt.Sprintf("%s says %q", name, other[0]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(saysGo)) {
		if says := fmt.Sprintf(saysGo[name], older, newer); !strings.Contains(files[name], says) {
			found = append(found, fmt.Sprintf("%s does not say %q", name, says))
		}
	}
	return found
}

// One policy: the two releases of Go that are supported, in every file that names a release.
func TestOnePolicyOfGo(t *testing.T) {
	files := map[string]string{}
	err := walk(func(path_, text string) error {
		_, says := saysGo[path_]
		ours := path.Base(path_) == "go.mod" && !strings.Contains(path_, "testdata/") && !under(path_, "test/adopters")
		if says || ours || strings.HasSuffix(path_, ".md") {
			files[path_] = strings.ReplaceAll(text, "\r", "")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range goPolicy(files) {
		t.Errorf("%s\n\twhy not: users, CI and go.mod have to mean the same releases", f)
	}
	for name, breach := range map[string][2]string{
		"README.md":                {" or 1.27", " or later"},
		"integrations/prom/go.mod": {"\ngo 1.", "\ngo 1.1"},
		"bench/go.mod":             {"\ntoolchain ", "\n// "},
		"docs/operations.md":       {"\n", "\nIt needs Go 1.30.\n"},
	} {
		changed := maps.Clone(files)
		changed[name] = strings.Replace(changed[name], breach[0], breach[1], 1)
		if changed[name] == files[name] || len(goPolicy(changed)) == 0 {
			t.Errorf("%q for %q in %s is not found", breach[1], breach[0], name)
		}
	}
}

// usesAction is a step of a workflow that runs an action.
var usesAction = regexp.MustCompile(`uses: *(\S+)(.*)`)

// A tag can be moved to other code; a commit cannot.
func TestActionsAreNamedByCommit(t *testing.T) {
	pinned, steps := regexp.MustCompile(`^[\w-]+/[\w-]+@[0-9a-f]{40}$`), 0
	err := walk(func(path_, text string) error {
		if !strings.HasPrefix(path_, ".github/workflows/") {
			return nil
		}
		for _, uses := range usesAction.FindAllStringSubmatch(text, -1) {
			if steps++; !pinned.MatchString(uses[1]) || !strings.HasPrefix(uses[2], " # v") {
				t.Errorf("%s: %q\n\twhy not: want the commit, and the tag that it has as a comment", path_, uses[0])
			}
		}
		return nil
	})
	if err != nil || steps == 0 {
		t.Errorf("%d steps, %v", steps, err)
	}
}
