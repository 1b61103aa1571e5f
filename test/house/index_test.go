package house

import (
	"fmt"
	"go/doc"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// packageDoc returns the package comment in a folder.
func packageDoc(t *testing.T, dir string) string {
	t.Helper()
	for _, f := range files(t) {
		if f.dir == dir && f.tree.Doc != nil {
			return f.tree.Doc.Text()
		}
	}
	t.Fatalf("%s has no package comment", dir)
	return ""
}

// incumbent.go has the index of the door: who looks for a type finds it there, in its group.
func TestTheIndexNamesEveryType(t *testing.T) {
	for _, wrong := range indexFaults(check(t, ".").pkg, packageDoc(t, ".")) {
		t.Errorf("incumbent.go %s\n\twhy not: what is not in the index is not found, and what it names has to be there",
			wrong)
	}
	breach := checkText(t, ".",
		"package incumbent\ntype Latch struct{}\nfunc (*Latch) Start() {}\ntype Mutex struct{}\ntype hidden struct{}")
	want := []string{"does not name Mutex", "names Latch.Run, which is not there", "names Selector, which is not there"}
	if got := indexFaults(breach.pkg,
		"[Latch], [Latch.Start], [Latch.Run], [Selector], [errors.Is], a[i], [hidden]\n[Mutex]: "+
			"https://example.com"); !slices.Equal(got, want) {
		t.Errorf("found %q\nwant  %q", got, want)
	}
}

var (
	bracketed = regexp.MustCompile(`\[\*?([A-Za-z]+(?:\.[A-Za-z]+)?)\]`)
	addressed = regexp.MustCompile(`(?m)^\[([A-Za-z.]+)\]: http`) // where a link leads: no mention
)

// indexFaults returns the exported types that a package comment does not name in brackets,
// and the names in brackets that lead nowhere.
func indexFaults(pkg *types.Package, text string) (found []string) {
	named := map[string]bool{}
	for _, m := range bracketed.FindAllStringSubmatch(text, -1) {
		named[m[1]] = true
	}
	for _, m := range addressed.FindAllStringSubmatch(text, -1) {
		delete(named, m[1])
	}
	for _, name := range pkg.Scope().Names() {
		if _, ok := pkg.Scope().Lookup(name).(*types.TypeName); ok &&
			pkg.Scope().Lookup(name).Exported() && !named[name] {
			found = append(found, "does not name "+name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		of, method, is := strings.Cut(name, ".")
		if of[0] >= 'a' { // another package's
			continue
		}
		object := pkg.Scope().Lookup(of)
		there := object != nil
		if there && is {
			member, _, _ := types.LookupFieldOrMethod(object.Type(), true, pkg, method)
			there = member != nil
		}
		if !there {
			found = append(found, fmt.Sprintf("names %s, which is not there", name))
		}
	}
	return found
}

// What keeps its API is said where it is read, and so is what does not.
func TestPackagesSayWhetherTheyMayChange(t *testing.T) {
	const changes, keeps = "may change in any release", "from version 1"
	for _, dir := range []string{"engine", "machines", "events", "zkio"} {
		if first := new(doc.Package).Synopsis(packageDoc(t, dir)); !strings.Contains(first, changes) {
			t.Errorf("the comment of %s begins %q\n\twhy not: its first sentence has to say that the package %s: that "+
				"is what lists of packages show", dir, first, changes)
		}
	}
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for where, text := range map[string]string{"incumbent.go": packageDoc(t, "."), "slogger": packageDoc(t, "slogger"),
		"zkio/zkmem": packageDoc(t, "zkio/zkmem"), "README.md": string(readme)} {
		text = strings.Join(strings.Fields(text), " ")
		if !strings.Contains(text, "API "+keeps) {
			t.Errorf("%s does not say that the API is kept %s on", where, keeps)
		}
	}
	if text := strings.Join(strings.Fields(string(readme)), " "); !strings.Contains(text,
		"`engine`, `machines`, `events` and `zkio` "+changes) {
		t.Errorf("README.md does not say which packages may change in any release")
	}
}
