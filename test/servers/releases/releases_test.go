package releases

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/test/kit"
)

var (
	full = flag.Bool("full", false, "run every part on every release, and write docs/proofs.md")
	only = flag.String("only", "", "of -full, only these releases and parts, as in 3.6.4,suite")
)

// bound ends what hangs. The longest part takes some minutes.
const bound = 25 * time.Minute

var ok = kit.OK

var results, page = filepath.Join("testdata", "results.tsv"), filepath.Join(root, "docs", "proofs.md")

// chosen reports whether -only has a release and a part.
func chosen(release, part string) bool {
	matches := func(all []string, name string) bool {
		return len(all) == 0 || slices.Contains(all, name)
	}
	var onReleases, ofParts []string
	for _, name := range strings.Split(*only, ",") {
		switch {
		case name == "":
		case slices.Contains(releases, name):
			onReleases = append(onReleases, name)
		default:
			ofParts = append(ofParts, name)
		}
	}
	return matches(onReleases, release) && matches(ofParts, part)
}

// With -full, every part passes on every release, and meets it; without, the table is that of the results.
func TestReleases(t *testing.T) {
	text, err := os.ReadFile(results)
	ok(t, err)
	all, err := parse(string(text))
	ok(t, err)
	before, err := os.ReadFile(page)
	ok(t, err)
	if !*full {
		if want, err := between(string(before), table(all)); err != nil || want != string(before) {
			t.Errorf("docs/proofs.md has another table than the results: make servers writes both (%v)", err)
		}
		return
	}
	for _, release := range releases {
		for _, p := range parts {
			if !chosen(release, p.name) {
				continue
			}
			t.Run(release+"/"+p.name, func(t *testing.T) {
				o, said, err := run(p, release, bound)
				ok(t, err)
				t.Logf("%d passed, %d without this server; %s %s", o.passed, o.silent, o.took, o.said)
				if o.passed == 0 || len(o.failed) > 0 {
					t.Errorf("failed: %q\n%s", o.failed, said)
				}
				all = with(all, o)
				ok(t, os.WriteFile(results, []byte(format(all)), 0o600))
			})
		}
	}
	ok(t, os.WriteFile(results, []byte(format(all)), 0o600))
	after, err := between(string(before), table(all))
	ok(t, err)
	ok(t, os.WriteFile(page, []byte(after), 0o600))
}

// A test counts if it met a server of the release; any other pass is silent, and a failure has its name.
func TestOnlyWhatMetAServerCounts(t *testing.T) {
	const output = `{"Action":"output","Test":"TestMet/real","Output":"    a.go:1: met ZooKeeper 3.6.4\n"}
{"Action":"pass","Test":"TestMet/real"}
{"Action":"pass","Test":"TestMet"}
{"Action":"output","Test":"TestOther","Output":"    a.go:1: met ZooKeeper 3.9.5\n"}
{"Action":"pass","Test":"TestOther"}
{"Action":"pass","Test":"TestInMemory"}
{"Action":"skip","Test":"TestSkipped"}
{"Action":"output","Test":"TestBroken","Output":"    a.go:1: met ZooKeeper 3.6.4\n"}
{"Action":"output","Test":"TestBroken","Output":"    says: 7 terms\n"}
{"Action":"fail","Test":"TestBroken"}
{"Action":"fail"}
`
	o := outcome{release: "3.6.4", part: "suite"}
	text, err := o.read(strings.NewReader(output))
	ok(t, err)
	if o.passed != 1 || o.silent != 3 || !slices.Equal(o.failed, []string{"TestBroken"}) || o.said != "7 terms" {
		t.Errorf("%+v", o)
	}
	if !strings.Contains(text, "says: 7 terms") {
		t.Errorf("the failure's text is missing: %q", text)
	}
	another := outcome{release: "3.5.10", part: "zkio", passed: 2, took: time.Second}
	again, err := parse(format(with([]outcome{o}, another)))
	ok(t, err)
	if len(again) != 2 || again[0].release != "3.5.10" || again[1].passed != 1 || len(again[1].failed) != 1 {
		t.Errorf("%+v", again)
	}
	if got := cell(again, "3.6.4", "suite"); got != "1, **failed:** TestBroken" {
		t.Error(got)
	}
	if _, err := o.read(strings.NewReader("no JSON")); err == nil {
		t.Error("what is no JSON was read")
	}
	for _, bad := range []string{
		"3.6.4\tsuite\t1\n", "3.6.4\tsuite\tx\t0\t\t1\t\n",
		"3.6.5\tsuite\t1\t0\t\t1\t\n", "3.6.4\tother\t1\t0\t\t1\t\n",
	} {
		if _, err := parse(bad); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

// Every test that a release is said to lack is there.
func TestWhatIsNotRunExists(t *testing.T) {
	for release, all := range lacks {
		for _, l := range all {
			i := slices.IndexFunc(parts, func(p part) bool { return p.name == l.part })
			if i < 0 || !slices.Contains(releases, release) {
				t.Errorf("%s has no part %s", release, l.part)
				continue
			}
			files, err := filepath.Glob(filepath.Join(root, parts[i].folder, "*_test.go"))
			ok(t, err)
			var text strings.Builder
			for _, file := range files {
				part, err := os.ReadFile(file)
				ok(t, err)
				text.Write(part)
			}
			top, sub, _ := strings.Cut(l.test, "/real/")
			sub = strings.ReplaceAll(sub, "_", " ")
			if !strings.Contains(text.String(), "func "+top+"(") || !strings.Contains(text.String(), `"`+sub+`"`) {
				t.Errorf("%s has no test %s", parts[i].folder, l.test)
			}
		}
	}
}
