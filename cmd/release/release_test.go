package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/incumbent-go/incumbent/test/kit/realzk"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// checkout makes a small project of the same shape, committed, and returns its folder.
func checkout(t *testing.T, changed map[string]string) string {
	t.Helper()
	files := map[string]string{
		"go.mod":                   "module example.com/toy\n\ngo 1.26.0\n\ntoolchain " + runtime.Version() + "\n",
		"go.sum":                   "\n",
		"LICENSE":                  "the licence\n",
		"THIRD_PARTY.md":           "the others' licences\n",
		"CHANGELOG.md":             "# Changelog\n\n## Unreleased\n\n- It runs.\n",
		"Makefile":                 "prove:\n\t@echo proved; echo ran >>.git/proofs\n",
		"cmd/incumbent/main.go":    "package main\n\nfunc main() { println(\"toy\") }\n",
		"scripts/modules":          "printf '%s\\n' . bench integrations/b integrations/a\n",
		"integrations/a/go.mod":    "module example.com/toy/integrations/a\n",
		"integrations/b/go.mod":    "module x\n\nrequire example.com/toy/integrations/a v0.0.0\n",
		"integrations/a/inside.go": "package a\n",
		"vendor/modules.txt":       "",
	}
	for name, text := range changed {
		files[name] = text
	}
	for _, name := range []string{"git", "make", "bash"} {
		if _, err := exec.LookPath(name); err != nil {
			realzk.NotRun(t, "a release (no "+name+")")
		}
	}
	root := t.TempDir()
	for name, text := range files {
		name = filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"init", "-q"}, {"add", "-A"},
		{"-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-qm", "toy: it runs"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "GIT_COMMITTER_DATE=2030-02-01T23:30:00-0100", "GIT_CONFIG_GLOBAL="+os.DevNull)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	return root
}

// toy is a release of a checkout for this platform and for Windows.
func toy(t *testing.T, root string) (*release, *bytes.Buffer) {
	t.Helper()
	out := new(bytes.Buffer)
	other := platform{"windows", "arm64"}
	return &release{root: root, version: "v0.1.0", dir: filepath.Join(t.TempDir(), "out"), prove: true,
		platforms: []platform{{runtime.GOOS, runtime.GOARCH}, other}, out: out}, out
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A release has all that is published, and changes nothing in the checkout.
func TestARelease(t *testing.T) {
	root := checkout(t, nil)
	r, out := toy(t, root)
	if err := r.run(t.Context()); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if status, err := r.git(t.Context(), "status", "--porcelain"); err != nil || status != "" {
		t.Errorf("the checkout has changed: %s; %v", status, err)
	}
	if tags, err := r.git(t.Context(), "tag"); err != nil || tags != "" {
		t.Errorf("there are tags: %s; %v", tags, err)
	}
	changes := read(t, r.dir, "CHANGELOG.md")
	if want := "# Changelog\n\n## Unreleased\n\n## v0.1.0 (2030-02-02)\n\n- It runs.\n"; changes != want {
		t.Errorf("the changelog is %q", changes)
	}
	here := "incumbent_v0.1.0_" + r.platforms[0].String()
	names := []string{"CHANGELOG.md", "NEXT.txt", "SHA256SUMS", here + ".cdx.json", here + ".tar.gz",
		"incumbent_v0.1.0_windows_arm64.cdx.json", "incumbent_v0.1.0_windows_arm64.zip"}
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if !slices.Equal(got, names) {
		t.Errorf("the folder has %q, want %q", got, names)
	}
	for _, name := range names {
		want := fmt.Sprintf("%x  %s\n", sha256.Sum256([]byte(read(t, r.dir, name))), name)
		published := name != "NEXT.txt" && name != "SHA256SUMS"
		if sums := read(t, r.dir, "SHA256SUMS"); strings.Contains(sums, want) != published {
			t.Errorf("SHA256SUMS, of %s: %s", name, sums)
		}
	}
	files := unpacked(t, read(t, r.dir, here+".tar.gz"))
	sum := sameProgram(t, files, r.platforms[0].binary(), read(t, r.dir, here+".cdx.json"))
	files = unzipped(t, read(t, r.dir, "incumbent_v0.1.0_windows_arm64.zip"))
	list := read(t, r.dir, "incumbent_v0.1.0_windows_arm64.cdx.json")
	if other := sameProgram(t, files, "incumbent.exe", list); other != sum {
		t.Errorf("programs of two modules: %s and %s", sum, other)
	}
	saysWhatIsNext(t, r, sum, out.String())
	if read(t, root, ".git", "proofs") != "ran\n" {
		t.Error("make prove did not run once")
	}
}

// saysWhatIsNext checks that what is left to do is printed and kept, in its order.
func saysWhatIsNext(t *testing.T, r *release, sum, out string) {
	t.Helper()
	next := read(t, r.dir, "NEXT.txt")
	at := -1
	for _, part := range []string{"make prove passed.", "cp " + r.dir + "/CHANGELOG.md", sum,
		"git push origin HEAD v0.1.0\n",
		"git tag -a integrations/a/v0.1.0", "git tag -a integrations/b/v0.1.0",
		"git push origin release-v0.1.0 integrations/a/v0.1.0 integrations/b/v0.1.0\n"} {
		i := strings.Index(next, part)
		if i <= at {
			t.Errorf("%q is not next in\n%s", part, next)
		}
		at = i
	}
	if !strings.HasSuffix(out, next) || strings.Contains(next, "bench") {
		t.Errorf("it prints\n%s", out)
	}
}

// sameProgram compares an archive's program with its SBOM, and returns the checksum of its module.
func sameProgram(t *testing.T, files map[string][]byte, name, list string) string {
	t.Helper()
	for _, licence := range []string{"LICENSE", "LICENSE-go", "THIRD_PARTY.md", "CHANGELOG.md"} {
		if len(files[licence]) == 0 {
			t.Errorf("an archive has no %s", licence)
		}
	}
	info, err := buildinfo.Read(bytes.NewReader(files[name]))
	if err != nil {
		t.Fatal(err)
	}
	if info.Main.Path != "example.com/toy" || info.Main.Version != "v0.1.0" || info.GoVersion != runtime.Version() {
		t.Errorf("the program is of %+v, %s", info.Main, info.GoVersion)
	}
	var b bom
	if err := json.Unmarshal([]byte(list), &b); err != nil {
		t.Fatal(err)
	}
	want := b.Metadata.Component
	sum := fmt.Sprintf("%x", sha256.Sum256(files[name]))
	if want.Version != "v0.1.0" || want.Hashes[0].Content != sum || want.Properties[0].Value != info.Main.Sum {
		t.Errorf("the SBOM is of %+v", want)
	}
	return info.Main.Sum
}

// unpacked returns the files of a tarball, by the names in its one folder.
func unpacked(t *testing.T, archive string) map[string][]byte {
	t.Helper()
	z, err := gzip.NewReader(strings.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if at := h.ModTime.UTC().String(); at != "2030-02-02 00:30:00 +0000 UTC" || h.Uname != "" {
			t.Errorf("%s is of %s, at %s", h.Name, h.Uname, at)
		}
		_, name, _ := strings.Cut(h.Name, "/")
		if files[name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
		if executable := h.Mode&0o100 != 0; executable != strings.HasPrefix(name, "incumbent") {
			t.Errorf("%s has the mode %o", name, h.Mode)
		}
	}
}

func unzipped(t *testing.T, archive string) map[string][]byte {
	t.Helper()
	z, err := zip.NewReader(strings.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		_, name, _ := strings.Cut(f.Name, "/")
		if files[name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
		if at := f.Modified.UTC().String(); at != "2030-02-02 00:30:00 +0000 UTC" {
			t.Errorf("%s is of %s", name, at)
		}
	}
	return files
}

// What must not be released is refused with one sentence, and nothing is written.
func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		files   map[string]string
		prepare func(*testing.T, *release)
		want    string
	}{
		"a changed file": {nil, func(t *testing.T, r *release) { write(t, r.root, "LICENSE", "another") },
			"1 files are changed and not committed: commit or remove them first:  M LICENSE"},
		"a folder with files": {nil, func(t *testing.T, r *release) {
			if err := os.Mkdir(r.dir, 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, r.dir, "old", "")
		}, "is not empty: remove it, or give another one"},
		"a tag that exists": {nil, func(t *testing.T, r *release) {
			if _, err := r.git(t.Context(), "tag", r.version); err != nil {
				t.Fatal(err)
			}
		}, "the tag v0.1.0 exists"},
		"another toolchain": {map[string]string{"go.mod": "module example.com/toy\n\ntoolchain go1.1.1\n"}, nil,
			"go.mod's toolchain is go1.1.1"},
		"no toolchain": {map[string]string{"go.mod": "module example.com/toy\n"}, nil,
			"want a module line and a toolchain line"},
		"nothing unreleased": {map[string]string{"CHANGELOG.md": "## Unreleased\n\n## v0.0.9\n\n- Old.\n"}, nil,
			"nothing under Unreleased"},
		"a proof that fails": {map[string]string{"Makefile": "prove:\n\tfalse\n"}, nil, "make prove failed"},
		"proofs that write":  {map[string]string{"Makefile": "prove:\n\ttouch new\n"}, nil, "1 files are changed"},
		"no program":         {map[string]string{"cmd/incumbent/main.go": "package main\n"}, nil, "go install"},
		"modules in a ring": {map[string]string{"integrations/a/go.mod": "require example.com/toy/integrations/b v0\n"},
			nil, "require each other"},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := toy(t, checkout(t, c.files))
			r.platforms = r.platforms[:1]
			if c.prepare != nil {
				c.prepare(t, r)
			}
			err := r.run(t.Context())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("it says %v, want %s", err, c.want)
			}
			if left, err := os.ReadDir(r.dir); err == nil && (len(left) != 1 || left[0].Name() != "old") {
				t.Errorf("it leaves %v", left)
			}
		})
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A release that is interrupted leaves nothing behind.
func TestAnInterruptedRelease(t *testing.T) {
	r, _ := toy(t, checkout(t, nil))
	ctx, cancel := context.WithCancel(t.Context())
	r.prove = false
	src, err := r.export(ctx)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := r.build(ctx, src); !errors.Is(err, context.Canceled) {
		t.Errorf("it ends with %v", err)
	}
}
