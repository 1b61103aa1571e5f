package segments

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

const (
	oneSegment = "20261124T234822.000000Z-host-7-000001"
	lastLine   = `{"end":{"why":"rotated","records":1},"crc":"0"}` + "\n"
)

// write writes files of a directory, by their names.
func write(t *testing.T, path string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(path, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// If a segment is there plain and compressed, the plain one is read if it has its last line. Else the host lost its
// power, and only the compressed one was forced to the disk.
func TestWhichOfTwoFilesOfASegmentIsRead(t *testing.T) {
	const header = `{"format":"incumbent-log"}` + "\n"
	for what, c := range map[string]struct{ text, want string }{
		"whole":                             {header + lastLine, plain},
		"whole, and only a last line":       {lastLine, plain},
		"empty":                             {"", compressed},
		"half a header":                     {header[:9], compressed},
		"without its last line":             {header, compressed},
		"without the end of its last line":  {header + lastLine[:len(lastLine)-1], compressed},
		"long, and whole":                   {header + strings.Repeat("x", 100<<10) + "\n" + lastLine, plain},
		"long, and cut off":                 {header + strings.Repeat("x", 100<<10) + "\n", compressed},
		"zeros in place of its last line":   {header + strings.Repeat("\x00", 100), compressed},
		"something behind its last line":    {header + lastLine + "{", compressed},
		"a last line that is within a line": {header + "x" + lastLine, compressed},
	} {
		path := t.TempDir()
		write(t, path, map[string]string{oneSegment + plain: c.text, oneSegment + compressed: "packed"})
		runs, err := Runs(path)
		if want := filepath.Join(path, oneSegment+c.want); err != nil || len(runs) != 1 ||
			!slices.Equal(runs[0].Files, []string{want}) {
			t.Errorf("%s: %+v, %v; want %s", what, runs, err, want)
		}
		if all, err := UnreadIn(path); err != nil || all != nil {
			t.Errorf("%s: %q is not read, %v", what, all, err)
		}
	}
}

// A file without a header is in no run, wherever its number is, and is named. One with something else is in its run.
func TestAFileWithoutAHeaderIsInNoRun(t *testing.T) {
	const other = "20261124T234823.000000Z-host-8-00000"
	for text, has := range map[string]bool{
		"": false, "{": false, `{"format":"incumbent-log","ver`: false, `{"format":1}`: false, "{\"format\":1}\n": true,
		"{}": true, "\x00\x00": true, "\x1f\x8b": true, "\n": true, `{"format":` + strings.Repeat("1", 64<<10): true,
	} {
		for _, number := range []string{"1", "2", "3", "alone"} {
			path, all := t.TempDir(), []string{"1", "2", "3"}
			if number == "alone" {
				number, all = "2", []string{"2"}
			}
			write(t, path, map[string]string{oneSegment + plain: lastLine})
			var files, without []string
			for _, n := range all {
				write(t, path, map[string]string{other + n + plain: lastLine})
				file := filepath.Join(path, other+n+plain)
				if n == number && !has {
					without = append(without, file)
				} else {
					files = append(files, file)
				}
			}
			write(t, path, map[string]string{other + number + plain: text})
			want := []Run{{strings.TrimSuffix(oneSegment, "-000001"), []string{filepath.Join(path, oneSegment+plain)}}}
			if files != nil {
				want = append(want, Run{strings.TrimSuffix(other, "-00000"), files})
			}
			runs, noHeader, err := RunsIn(path)
			if err != nil || !reflect.DeepEqual(runs, want) || !slices.Equal(noHeader, without) {
				t.Errorf("%.20q as %s of %q: %q, %q, %v", text, number, all, runs, noHeader, err)
			}
			var unread []Unread
			if !has {
				unread = []Unread{{other + number + plain, NoHeader}}
			}
			if all, err := UnreadIn(path); err != nil || !slices.Equal(all, unread) {
				t.Errorf("%.20q: %q, %v", text, all, err)
			}
		}
	}
}

// A segment is found under the name that it had before it was compressed.
func TestASegmentIsFoundAfterItIsCompressed(t *testing.T) {
	path := t.TempDir()
	write(t, path, map[string]string{"a.jsonl.gz": "", "b.jsonl": "", "b.jsonl.gz": "", "c.log.gz": ""})
	if err := os.Symlink("nowhere", filepath.Join(path, "d.jsonl")); err != nil {
		t.Fatal(err)
	}
	write(t, path, map[string]string{"d.jsonl.gz": ""})
	for name, want := range map[string]string{
		"a.jsonl": "a.jsonl.gz", "a.jsonl.gz": "a.jsonl.gz", "b.jsonl": "b.jsonl", "c.log": "c.log",
		"d.jsonl": "d.jsonl", "e.jsonl": "e.jsonl",
	} {
		if found := Find(filepath.Join(path, name)); found != filepath.Join(path, want) {
			t.Errorf("%s: %s, want %s", name, found, want)
		}
	}
	if _, err := openSegment(filepath.Join(path, "e.jsonl")); !os.IsNotExist(err) ||
		!strings.Contains(err.(*fs.PathError).Path, "e.jsonl") {
		t.Error(err)
	}
}

// One of two files of a segment that are both named is left out. Files with other names are not.
func TestOneOfTwoFilesThatAreNamed(t *testing.T) {
	path := t.TempDir()
	whole, torn, copied := filepath.Join(path, oneSegment+plain), filepath.Join(path, oneSegment+"2"+plain),
		filepath.Join(path, "a"+plain)
	write(t, path, map[string]string{oneSegment + plain: lastLine, oneSegment + "2" + plain: "{", "a" + plain: "{"})
	for _, c := range []struct{ paths, want []string }{
		{[]string{whole, whole + ".gz"}, []string{whole}},
		{[]string{whole + ".gz", copied, whole}, []string{copied, whole}},
		{[]string{torn, torn + ".gz"}, []string{torn + ".gz"}},
		{[]string{torn, whole + ".gz"}, []string{torn, whole + ".gz"}},
		{[]string{copied + ".gz", copied}, []string{copied + ".gz", copied}},
		{[]string{torn, torn + ".gz.part"}, []string{torn}},
		{[]string{whole + ".gz.part", whole + ".gz"}, []string{whole + ".gz"}},
		{[]string{whole, torn + ".gz.part"}, []string{whole, torn + ".gz.part"}},
		{[]string{copied, copied + ".gz.part"}, []string{copied, copied + ".gz.part"}},
		{nil, nil},
	} {
		if kept := Once(c.paths); !slices.Equal(kept, c.want) {
			t.Errorf("%q: %q, want %q", c.paths, kept, c.want)
		}
	}
}
