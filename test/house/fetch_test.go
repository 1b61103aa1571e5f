package house

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// fetched runs scripts/fetch in a copy of its own, with a Maven that writes what is given for each artifact.
func fetched(t *testing.T, list, content string) (dir, said string, err error) {
	t.Helper()
	dir = t.TempDir()
	script, err := os.ReadFile("../../scripts/fetch")
	if err != nil {
		t.Fatal(err)
	}
	maven := `#!/bin/sh
for a in "$@"; do case $a in *.xml) pom=$a ;; esac; done
one='.*<type>\(.*\)</type>.*<artifactId>\(.*\)</artifactId><version>\(.*\)</version>'
sed -n -e "s|$one</artifactItem>|\2-\3.\1|p" -e "s|$one<classifier>\(.*\)</class.*|\2-\3-\4.\1|p" "$pom" |
while read -r name; do
	printf '%s' '` + content + `' >"${pom%/*}/$name"
done
`
	for name, text := range map[string]string{"scripts/fetch": string(script), "list": list, "bin/mvn": maven} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("bash", "scripts/fetch", "ci", "list")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"), "HOME="+dir)
	out, err := cmd.CombinedOutput()
	return dir, string(out), err
}

// A jar or zip comes by its checksum, for its target only; a wrong one is an error and is not kept.
func TestDownloadsHaveTheirChecksum(t *testing.T) {
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte("jar")))
	line := "ci\tjar\torg.example:thing\t1.2\t" + sum + "\nother\tjar\torg.example:thing\t9\t" + sum + "\n"
	line += "ci\tjar\torg.example:thing:tests\t1.3\t" + sum + "\n"
	line += "ci\tzip\torg.example:all:source-release\t1.3\t" + sum + "\n"
	dir, said, err := fetched(t, "# a comment\n\n"+line, "jar")
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	jars, _ := filepath.Glob(filepath.Join(dir, ".cache", "jars", "*"))
	if len(jars) != 2 || filepath.Base(jars[0]) != "thing-1.2.jar" || filepath.Base(jars[1]) != "thing-1.3-tests.jar" {
		t.Errorf("fetched %q", jars)
	}
	zips, _ := filepath.Glob(filepath.Join(dir, ".cache", "zips", "*"))
	if len(zips) != 1 || filepath.Base(zips[0]) != "all-1.3-source-release.zip" {
		t.Errorf("fetched %q", zips)
	}
	dir, said, err = fetched(t, line, "another jar")
	if err == nil || !strings.Contains(said, "want "+sum) {
		t.Errorf("a wrong checksum: %v\n%s", err, said)
	}
	if kept, _ := filepath.Glob(filepath.Join(dir, ".cache", "*", "*")); len(kept) > 0 {
		t.Errorf("it stays: %q", kept)
	}
}

func TestALineOfDownloadsIsWhole(t *testing.T) {
	for _, line := range []string{"ci\tjar\ta:b\t1", "ci\tegg\ta\t1\t" + strings.Repeat("0", 64),
		"ci\tjar\ta:b\t1\tabc"} {
		if _, said, err := fetched(t, line+"\n", ""); err == nil || !strings.Contains(said, "list:1: want a target") {
			t.Errorf("%q: %v\n%s", line, err, said)
		}
	}
}
