//go:build unix

package main_test

import (
	"bytes"
	"compress/gzip"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/seal"
)

// whyCase is a command line of why, its exit code, and what it says.
type whyCase struct {
	args []string
	code int
	says string
}

func checkWhy(t *testing.T, cases []whyCase) {
	t.Helper()
	for _, c := range cases {
		p := start(t, nil, append([]string{"why"}, c.args...)...).Exits(c.code)
		programtest.Contains(t, p.Err.String()+p.Out.String(), c.says)
		if n := strings.Count(p.Err.String(), "incumbent: "); n > 1 {
			t.Errorf("why %q: %d lines of errors:\n%s", c.args, n, p.Err.String())
		}
	}
}

func TestWhyRefusesFlags(t *testing.T) {
	dir := handOver(t)
	one := filepath.Join(dir, "one.log")
	checkWhy(t, []whyCase{
		{nil, 64, "needs a LOG"},
		{[]string{one, "--around", "noon"}, 64, `--around "noon" is no time`},
		{[]string{one, "--since", "25:00"}, 64, `--since "25:00" is no time`},
		{[]string{one, "--since", "2001-01-02", "--until", "x"}, 64, "is no time"},
		{[]string{one, "--since", "2001-01-02T00:00", "--until", "2001-01-01T00:00"}, 64, "is not before --until"},
		{[]string{one, "--path", "jobs"}, 64, `--path "jobs" is no path`},
		{[]string{one, "--path", "/jobs/"}, 64, "without a / at its end"},
		{[]string{one, "--path", ""}, 64, "--path is empty"},
		{[]string{one, "--token", "0"}, 64, "is no token"},
		{[]string{one, "--token", "seven"}, 64, "must be an integer"},
		{[]string{one, "--trace", filepath.Join(dir, "missing", "trace.json")}, 73, "--trace: open "},
		{[]string{one, "--txnlog", filepath.Join(dir, "missing")}, 66, "--txnlog: "},
		{[]string{one, "--txnlog", t.TempDir()}, 66, "has no transaction log"},
		{[]string{one, "--txnlog", one}, 2, "no transaction log: it begins with"},
		{[]string{dir, "--path", "/queue"}, 5, "there is no term of /queue in the logs; they have terms of " + line},
		{[]string{dir, "--token", "999999"}, 5, "with other tokens"},
	})
}

// Each bad file gets one error that says what is wrong with it.
func TestWhyRefusesFiles(t *testing.T) {
	dir, bad := handOver(t), t.TempDir()
	one := filepath.Join(dir, "one.log")
	b, err := os.ReadFile(one)
	if err != nil {
		t.Fatal(err)
	}
	file := func(name string, b []byte) string {
		writeFile(t, filepath.Join(bad, name), b)
		return filepath.Join(bad, name)
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(b)
	z.Close()
	noise := make([]byte, 50_000)
	for i, dice := 0, rand.New(rand.NewPCG(1, 2)); i < len(noise); i++ {
		noise[i] = byte(dice.Uint32())
	}
	header, _, _ := bytes.Cut(b, []byte("\n"))
	damaged := file("damaged.log", seal.Again(bytes.Replace(b, []byte(`"seq":5,`), []byte(`"seq":6,`), 1)))
	tampered := file("tampered.log",
		seal.Again(bytes.Replace(b, []byte("ephemeral_sequential"), []byte("persistent_sequential"), 1)))
	checkWhy(t, []whyCase{
		{[]string{filepath.Join(dir, "missing")}, 66, "no such file"},
		{[]string{t.TempDir()}, 66, "has no recorded log"},
		{[]string{damaged}, 5, "line 6"},
		{[]string{damaged, "--no-replay"}, 5, "line 6"},
		{[]string{tampered}, 3, "--no-replay explains it nevertheless"},
		{[]string{tampered, "--no-replay"}, 0, ""},
		{[]string{file("former.log", charted(b, `$1,"chart":"01234567"`))}, 0, `the chart "latch" changed`},
		{[]string{filepath.Join(dir, "notes.txt")}, 2, "the header line has no end"},
		{[]string{file("empty.log", nil)}, 2, "the file is empty"},
		{[]string{file("noise.log", noise)}, 2, "not a log header"},
		{[]string{file("foreign.log", []byte("{\"format\":\"journal\",\"version\":1}\n"))}, 2, `format is "journal"`},
		{[]string{file("newer.log", []byte("{\"format\":\"incumbent-log\",\"version\":9}\n"))}, 2, "version 9"},
		{[]string{file("two.log", append(bytes.TrimRight(b[:bytes.LastIndex(b[:len(b)-1], []byte("\n"))+1], " "),
			b...))}, 5, "another log begins here"},
		{[]string{file("header.log", append(header, '\n'))}, 5, "nobody led and nobody held a lock"},
		{[]string{file("long.log", append(append(header, '\n'), bytes.Repeat([]byte("x"), events.MaxLine+10)...))}, 2,
			"line is longer than"},
		{[]string{file("zeros.log", make([]byte, events.MaxLine+10))}, 2, "line is longer than"},
		{[]string{file("cut.log.gz", zipped.Bytes()[:zipped.Len()/2])}, 5, "the compressed file"},
		{[]string{file("torn.log.gz", zipped.Bytes()[:20])}, 2, "the compressed file"},
	})
}

// A log that is cut anywhere is explained up to there, or refused with one error.
func TestWhyReadsCutLogs(t *testing.T) {
	dir := handOver(t)
	b, err := os.ReadFile(filepath.Join(dir, "one.log"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		if len(b)*(i+1)/7 < bytes.IndexByte(b, '\n') {
			continue // within the header
		}
		writeFile(t, filepath.Join(dir, "one.log"), b[:len(b)*(i+1)/7])
		p := start(t, nil, "why", dir)
		if code := p.Wait(); code != 0 && code != 5 || strings.Count(p.Err.String(), "\n") > 0 {
			t.Errorf("cut after %d of %d bytes: exit %d, %s", len(b)*(i+1)/7, len(b), code, p.Err.String())
		}
	}
}

// One client's log counts once, however often it is named; and files that are segments of one run are one log.
func TestWhyTakesALogOnce(t *testing.T) {
	dir := handOver(t)
	one, two := filepath.Join(dir, "one.log"), filepath.Join(dir, "two.log")
	b, err := os.ReadFile(one)
	if err != nil {
		t.Fatal(err)
	}
	other := t.TempDir()
	writeFile(t, filepath.Join(other, "copy.log"), b[:len(b)/2])
	if p := start(t, nil, "why", dir, one, two).Exits(0); p.Err.String() != "" {
		t.Errorf("named twice: %s", p.Err.String())
	}
	for _, args := range [][]string{{dir, other}, {other, dir}} {
		p := start(t, nil, append([]string{"why"}, args...)...).Exits(0)
		programtest.Contains(t, p.Out.String(), "Never two with the right at once")
		programtest.Contains(t, p.Err.String(), "copy is left out: it is of the same client as one")
	}
	writeFile(t, filepath.Join(dir, "log.1"), []byte("ZKLG\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00"))
	if err := os.Mkdir(filepath.Join(dir, "more"), 0o700); err != nil {
		t.Fatal(err)
	}
	start(t, nil, "why", dir, "--txnlog", dir).Exits(0) // logs, transaction logs and others in one directory
	start(t, nil, "why", dir, "--txnlog", filepath.Join(dir, "log.1")).Exits(0)
}

// Files that are segments of one run are one log, in whatever order they are named.
func TestWhyJoinsSegments(t *testing.T) {
	dir := t.TempDir()
	first, second := filepath.Join(dir, "b.log"), filepath.Join(dir, "a.log")
	writeSegments(t, first, second)
	for _, args := range [][]string{{first, second}, {second, first}, {dir}} {
		p := start(t, nil, append([]string{"why", "--json"}, args...)...).Exits(5)
		programtest.Contains(t, p.Out.String(), "nobody led")
		if strings.Contains(p.Out.String(), "gap") || p.Err.String() != "" {
			t.Errorf("%q: %s%s", args, p.Out.String(), p.Err.String())
		}
	}
	p := start(t, nil, "why", "--json", second).Exits(5)
	programtest.Contains(t, p.Out.String(), "gap of 1 record")
	writeFile(t, filepath.Join(dir, "c.log"), []byte("{\"format\":\"incumbent-log\"}"))
	programtest.Contains(t, start(t, nil, "why", dir).Exits(5).Err.String(), "c.log")
	programtest.Contains(t, start(t, nil, "why", filepath.Join(dir, "c.log")).Exits(2).Err.String(), "c.log")
}

// A damaged log is read up to the damage, compressed or not, and takes the proof away. The others are explained.
func TestWhyReadsUpToDamage(t *testing.T) {
	plain, err := os.ReadFile(filepath.Join(handOver(t), "two.log"))
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(plain); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	changed := bytes.Replace(plain, []byte("reply.create [made]"), []byte("reply.create [mode]"), 1)
	for name, b := range map[string][]byte{"two.jsonl.gz": packed.Bytes()[:packed.Len()*9/10], "two.log": changed,
		"none.jsonl.gz": {0x1f, 0x8b}} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			one, err := os.ReadFile(filepath.Join(handOver(t), "one.log"))
			if err != nil {
				t.Fatal(err)
			}
			writeFile(t, filepath.Join(dir, "one.log"), one)
			writeFile(t, filepath.Join(dir, name), b)
			p := start(t, nil, "why", filepath.Join(dir, "one.log"), filepath.Join(dir, name), "--html",
				filepath.Join(dir, "page.html")).Exits(5)
			programtest.Contains(t, p.Out.String(), "log is damaged", "one leads from ")
			programtest.Contains(t, p.Err.String(), name, "it is read up to there")
		})
	}
}

// A pipe, which can be read only once, is a log like a file.
func TestWhyReadsAPipe(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(handOver(t), "one.log"))
	if err != nil {
		t.Fatal(err)
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	written := make(chan error, 1)
	go func() { written <- os.WriteFile(pipe, b, 0) }()
	p := start(t, nil, "why", pipe)
	p.Exits(0)
	if err := <-written; err != nil {
		t.Error(err)
	}
	programtest.Contains(t, p.Out.String(), "Never two with the right at once")
}

// In a directory of transaction logs only files are read, and each other is named. What never ends is not read to its
// end.
func TestWhyReadsTransactionLogsThatAreFiles(t *testing.T) {
	one, dir := filepath.Join(handOver(t), "one.log"), t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "log.1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", filepath.Join(dir, "log.2")); err != nil {
		t.Fatal(err)
	}
	checkWhy(t, []whyCase{
		{[]string{one, "--txnlog", dir}, 66, "log.1\" is no regular file"},
		{[]string{one, "--txnlog", "/dev/urandom"}, 2, "no transaction log"},
	})
	start(t, nil, "why", one, "--txnlog", "/dev/zero").Exits(0)
	writeFile(t, filepath.Join(dir, "log.3"), []byte("ZKLG\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00"))
	p := start(t, nil, "why", one, "--txnlog", dir).Exits(0)
	programtest.Contains(t, p.Err.String(), "log.1\" is left out: it is no regular file", "log.2\" is left out")
}

// writeSegments writes a run of two records in two segments.
func writeSegments(t *testing.T, files ...string) {
	t.Helper()
	for i, file := range files {
		var b bytes.Buffer
		w, err := events.NewWriter(&b,
			events.Header{Run: strings.Repeat("a", 32), Segment: i + 1, Before: uint64(i), Host: "host"})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(events.Record{Seq: uint64(i + 1), Machine: "session",
			Event: events.Event{Kind: events.TimerFired, At: int64(i)}, Row: events.RowUnknown}); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		writeFile(t, file, b.Bytes())
	}
}
