//go:build unix

package main_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// leftOver is the name of a file of another process.
const leftOver = "20261124T234822.000000Z-other-7-000001.jsonl"

// oneRun returns a directory with the log of a client that was closed, the compressed file of it, and its text.
func oneRun(t *testing.T) (dir, packed string, text []byte) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "flight")
	elect(t, zkmem.Start(t), "exit 0", "--record", dir+"/").Exits(0)
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl.gz"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%q, %v", files, err)
	}
	f, err := os.Open(files[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if text, err = io.ReadAll(z); err != nil || !bytes.Contains(text, []byte(`{"end":`)) {
		t.Fatalf("%s, %v", text, err)
	}
	return dir, files[0], text
}

var rates = regexp.MustCompile(`, \d+ records/s`)

// read returns what replay and why say of a log, both with the exit code 0.
func read(t *testing.T, log string) (says, notes string) {
	t.Helper()
	for _, command := range []string{"replay", "why"} {
		p := start(t, nil, command, log).Exits(0)
		says += rates.ReplaceAllString(p.Out.String(), "")
		notes += p.Err.String()
	}
	return says, notes
}

// A process that is killed before it has written the header leaves a file that is no log: the others are read, and a
// line names it. If there is no other, one error does.
func TestAFileWithoutAHeaderIsLeftOut(t *testing.T) {
	dir, packed, _ := oneRun(t)
	want, _ := read(t, dir)
	programtest.Contains(t, want, "the same: ", "was closed")
	for _, file := range []string{filepath.Join(dir, leftOver),
		strings.Replace(packed, "-000001.jsonl.gz", "-000002.jsonl", 1)} {
		for _, text := range []string{"", `{"format":"incumbent-log","ver`} {
			writeFile(t, file, []byte(text))
			says, notes := read(t, dir)
			if says != want ||
				strings.Count(notes, file+" is left out: it has no header, because its process was killed") != 2 ||
				strings.Count(notes, "\n") != 2 {
				t.Errorf("%q in %s: %s%s", text, file, says, notes)
			}
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, filepath.Join(dir, leftOver), nil)
	if err := os.Remove(packed); err != nil {
		t.Fatal(err)
	}
	run := filepath.Join(dir, strings.TrimSuffix(leftOver, "-000001.jsonl"))
	for _, args := range [][]string{{"replay", dir}, {"replay", run}, {"why", dir}} {
		p := start(t, nil, args...).Exits(66)
		programtest.Contains(t, p.Err.String(),
			"has no log that can be read: "+leftOver+" has no header, because its process was killed")
		if strings.Count(p.Err.String(), "\n") != 1 || p.Out.String() != "" {
			t.Errorf("%q: %s", args, p.Said())
		}
	}
	writeFile(t, filepath.Join(dir, strings.Replace(leftOver, "-7-", "-8-", 1)), nil)
	programtest.Contains(t, start(t, nil, "why", dir).Exits(66).Err.String(),
		leftOver+" (and 1 other file like it) has no header")
}

// A loss of power may leave a segment plain, but torn, and compressed. The whole one is read, and neither is a second
// log; nor is the rest of a file that was being compressed.
func TestASegmentThatIsThereTwice(t *testing.T) {
	dir, packed, text := oneRun(t)
	want, notes := read(t, dir)
	if notes != "" {
		t.Error(notes)
	}
	b, err := os.ReadFile(packed)
	if err != nil {
		t.Fatal(err)
	}
	loose := strings.TrimSuffix(packed, ".gz")
	twice := func(what string, plain []byte) {
		t.Helper()
		writeFile(t, loose, plain)
		if says, notes := read(t, dir); says != want || notes != "" {
			t.Errorf("%s:\n%s%s\nwant\n%s", what, says, notes, want)
		}
	}
	twice("nothing", nil)
	twice("half", text[:len(text)/2])
	twice("up to a line", text[:bytes.LastIndexByte(text[:len(text)-1], '\n')+1])
	twice("all", text)
	if err := os.Remove(packed); err != nil {
		t.Fatal(err)
	}
	writeFile(t, packed+".part", b[:len(b)*3/4])
	twice("all, and half of the compressed file", text)
}

// A file can be read under the name that it had before it was compressed.
func TestASegmentIsReadUnderItsFormerName(t *testing.T) {
	_, packed, _ := oneRun(t)
	want, _ := read(t, packed)
	if says, notes := read(t, strings.TrimSuffix(packed, ".gz")); says != want || notes != "" {
		t.Errorf("%s%s\nwant\n%s", says, notes, want)
	}
	if err := os.Remove(packed); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"replay", "why"} {
		programtest.Contains(t, start(t, nil, command, strings.TrimSuffix(packed, ".gz")).Exits(66).Err.String(),
			".jsonl: no such file")
	}
}

// All files of a directory, named one by one, are explained as the directory is.
func TestWhyOfEachFileOfADirectory(t *testing.T) {
	dir, packed, text := oneRun(t)
	want := start(t, nil, "why", dir).Exits(0).Out.String()
	loose := strings.TrimSuffix(packed, ".gz")
	writeFile(t, filepath.Join(dir, leftOver), nil)
	for what, plain := range map[string][]byte{"nothing": nil, "half": text[:len(text)/2], "all": text} {
		writeFile(t, loose, plain)
		for _, args := range [][]string{{loose, packed}, {packed, loose}} {
			p := start(t, nil, append([]string{"why", filepath.Join(dir, leftOver)}, args...)...).Exits(0)
			if notes := p.Err.String(); p.Out.String() != want || strings.Count(notes, "\n") != 1 ||
				!strings.Contains(notes, leftOver+" is left out: it has no header") {
				t.Errorf("%s, %q:\n%s\nwant\n%s", what, args, p.Said(), want)
			}
		}
	}
	p := start(t, nil, "why", filepath.Join(dir, leftOver)).Exits(66)
	programtest.Contains(t, p.Err.String(), "has no log that can be read: "+leftOver+" has no header")
}
