package main

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/realzk"
)

func TestArguments(t *testing.T) {
	for _, version := range []string{"v0.1.0", "v1.20.3", "v1.0.0-rc.1"} {
		r, err := parse([]string{"-version", version, "-dir", "", "-prove", ""})
		dir := filepath.Join(".cache", "release", version)
		if err != nil || r.version != version || !r.prove || !strings.HasSuffix(r.dir, dir) {
			t.Errorf("%s is %+v, %v", version, r, err)
		}
	}
	r, err := parse([]string{"-version", "v0.1.0", "-dir", "x", "-prove", "no"})
	if err != nil || r.prove || filepath.Base(r.dir) != "x" {
		t.Errorf("a trial is %+v, %v", r, err)
	}
	for args, want := range map[string]string{
		"":                              "VERSION=: want one such as VERSION=v0.1.0",
		"-version 0.1.0":                "VERSION=0.1.0: want one such as",
		"-version v0.1":                 "VERSION=v0.1: want",
		"-version v0.1.0+x":             "want one such as",
		"-version v01.1.0":              "want one such as",
		"-version v2.0.0":               "a module path that ends in /v2",
		"-version v0.1.0 -prove maybe":  "PROVE=maybe: want yes or no",
		"-version v0.1.0 more":          `["more"] is no flag`,
		"-version v0.1.0 -push":         "-push",
		"-version v0.1.0/../../../etc ": "want one such as",
	} {
		if r, err := parse(strings.Fields(args)); !errors.Is(err, errUsage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is %+v, %v; want %s", args, r, err, want)
		}
	}
}

func TestTheChangelog(t *testing.T) {
	at := time.Date(2030, 1, 2, 0, 0, 0, 0, time.UTC)
	const intro = "# Changelog\n\nAbout it.\n\n"
	for name, c := range map[string]struct{ text, want, err string }{
		"the first version": {intro + "## Unreleased\n\n- A\n  a.\n- B.\n",
			intro + "## Unreleased\n\n## v0.1.0 (2030-01-02)\n\n- A\n  a.\n- B.\n", ""},
		"a later version": {intro + "## Unreleased\n\n- B.\n\n## v0.0.9 (2029-01-01)\n\n- A.\n",
			intro + "## Unreleased\n\n## v0.1.0 (2030-01-02)\n\n- B.\n\n## v0.0.9 (2029-01-01)\n\n- A.\n", ""},
		"it is committed": {"## Unreleased\n\n## v0.1.0 (2029-12-31)\n\n- B.\n",
			"## Unreleased\n\n## v0.1.0 (2029-12-31)\n\n- B.\n", ""},
		"no line Unreleased": {"## v0.1.0 (2029-12-31)\n\n- B.\n", "## v0.1.0 (2029-12-31)\n\n- B.\n", ""},
		"nothing to move":    {"## Unreleased\n\n## v0.0.9\n\n- A.\n", "", "under Unreleased: say what v0.1.0 changes"},
		"no place":           {intro, "", `no line "## Unreleased"`},
		"both":               {"## Unreleased\n\n- B.\n\n## v0.1.0\n\n- A.\n", "", "want them in one"},
		"another, longer name": {"## Unreleased\n\n- B.\n\n## v0.1.0-rc.1 (x)\n",
			"## Unreleased\n\n## v0.1.0 (2030-01-02)\n\n- B.\n\n## v0.1.0-rc.1 (x)\n", ""},
	} {
		got, err := moveUnreleased(c.text, "v0.1.0", at)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %q, %v; want %q, %s", name, got, err, c.want, c.err)
		}
	}
}

// linking is what a program says that links one module.
func linking(sum string, replace *debug.Module) *debug.BuildInfo {
	return &debug.BuildInfo{
		GoVersion: "go1.26.1", Main: debug.Module{Path: "example.com/toy", Version: "v0.1.0", Sum: "h1:main="},
		Deps: []*debug.Module{{Path: "example.com/a", Version: "v1.2.3", Sum: sum, Replace: replace}},
	}
}

// The list names each module with its licence and checksum, refers to nothing that is not in it, and is read back.
func TestTheListOfWhatIsLinked(t *testing.T) {
	src := &source{module: "example.com/toy", time: time.Unix(0, 0).UTC(), files: map[string][]byte{
		"go.sum":         []byte("example.com/a v1.2.3 h1:a=\nexample.com/a v1.2.3/go.mod h1:b=\n"),
		"THIRD_PARTY.md": []byte("| module | version | licence | linked by |\n| example.com/a | v1.2.3 | MIT | it |\n"),
	}}
	b := &built{platform{"linux", "arm64"}, []byte("the program"), linking("h1:a=", nil)}
	text, err := sbom(src, b)
	if err != nil {
		t.Fatal(err)
	}
	var list bom
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(&list); err != nil {
		t.Fatal(err)
	}
	if len(list.Components) != 2 || len(list.Dependencies) != 3 || list.BOMFormat != "CycloneDX" {
		t.Fatalf("the list is %s", text)
	}
	a, std := list.Components[0], list.Components[1]
	if a.PURL != "pkg:golang/example.com/a@v1.2.3" || a.Licenses[0].License.ID != "MIT" ||
		a.Properties[0] != (property{"go:sum", "h1:a="}) {
		t.Errorf("the module is %+v", a)
	}
	if std.Name != "std" || std.Version != "1.26.1" {
		t.Errorf("the standard library is %+v", std)
	}
	const purl = "pkg:golang/example.com/toy@v0.1.0?goarch=arm64&goos=linux#cmd/incumbent"
	if main := list.Metadata.Component; main.PURL != purl {
		t.Errorf("the program is %+v", main)
	}
	refs := map[string]bool{list.Metadata.Component.Ref: true, a.Ref: true, std.Ref: true}
	for _, dependency := range list.Dependencies {
		for _, ref := range append(dependency.DependsOn, dependency.Ref) {
			if !refs[ref] {
				t.Errorf("%s is no component", ref)
			}
		}
	}
	for want, info := range map[string]*debug.BuildInfo{
		"not in go.sum": linking("h1:other=", nil),
		"no replace":    linking("h1:a=", &debug.Module{Path: "../a"}),
	} {
		if _, err := linked(src, info); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("it says %v, want %s", err, want)
		}
	}
	src.files["THIRD_PARTY.md"] = nil
	if _, err := linked(src, b.info); err == nil || !strings.Contains(err.Error(), "run make licences") {
		t.Errorf("a module without a licence: %v", err)
	}
}

func TestTwoBuildsThatDiffer(t *testing.T) {
	a, b := &built{bytes: []byte("a")}, &built{bytes: []byte("b")}
	if err := same(a, b); err == nil || !strings.Contains(err.Error(), "two builds") {
		t.Errorf("it says %v", err)
	}
	if err := same(a, a); err != nil {
		t.Error(err)
	}
}

// This project can be released: THIRD_PARTY.md is in the form that is read here, and the module has what it needs.
func TestThisProjectCanBeReleased(t *testing.T) {
	r := &release{root: filepath.Join("..", "..")}
	if _, err := r.git(t.Context(), "rev-parse", "HEAD"); err != nil {
		realzk.NotRun(t, "the release of this project (no git, or no checkout)")
	}
	src, err := r.export(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	licences := licenceRow.FindAllStringSubmatch(string(src.files["THIRD_PARTY.md"]), -1)
	sums := "\n" + string(src.files["go.sum"])
	found := 0
	for _, m := range licences {
		if strings.Contains(sums, "\n"+m[1]+" "+m[2]+" h1:") {
			found++
		}
	}
	if found == 0 || found != strings.Count(string(src.files["THIRD_PARTY.md"]), "\n## ") {
		t.Errorf("%d modules of go.sum have a licence: %q", found, licences)
	}
	for _, name := range src.ofModule(".") {
		if strings.HasPrefix(name, "integrations/") || strings.HasPrefix(name, "bench/") {
			t.Errorf("%s is of another module", name)
		}
	}
}
