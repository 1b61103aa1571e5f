//go:build unix

package main_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// A service that is started again with the same --record leads again, and keeps every earlier log.
func TestAnExistingLogDoesNotKeepAServiceFromStarting(t *testing.T) {
	srv := zkmem.Start(t)
	log := filepath.Join(t.TempDir(), "flight log")
	former := map[string]string{log: "there before", log + ".2": "", log + ".x": "", log + ".3.gz": ""}
	for file, text := range former {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, next := range []string{".3", ".4"} {
		p := elect(t, srv, "echo up", "--record", log).Exits(0)
		programtest.Contains(t, p.Err.String(), `"`+log+`" exists already: this run is recorded in "`+log+next+`"`)
		programtest.Contains(t, p.Out.String(), "up")
		programtest.Contains(t, start(t, nil, "replay", log+next).Exits(0).Out.String(), "the same: ")
	}
	for file, text := range former {
		if b, err := os.ReadFile(file); err != nil || string(b) != text {
			t.Errorf("%s has %q now: %v", file, b, err)
		}
	}
}

func TestALogThatCannotBeCreated(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string]string{"no directory": filepath.Join(dir, "missing", "log"), "a pipe": pipe,
		"a directory in a file": pipe + "/log/"} {
		t.Run(name, func(t *testing.T) {
			p := elect(t, nil, "echo never", "--record", file).Exits(73)
			programtest.Contains(t, p.Err.String(), "incumbent: --record "+file+": ")
			if _, err := os.Lstat(file + ".1"); err == nil {
				t.Error("a file was created next to it")
			}
		})
	}
}

// A service that is started again records a run of its own each time, in the same directory.
func TestRecordInADirectory(t *testing.T) {
	srv := zkmem.Start(t)
	dir := filepath.Join(t.TempDir(), "flight") + "/"
	for range 2 {
		elect(t, srv, "echo up", "--record", dir).Exits(0)
	}
	files, err := filepath.Glob(dir + "*.jsonl.gz")
	if err != nil || len(files) != 2 {
		t.Fatalf("%q, %v", files, err)
	}
	for _, file := range files {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("others may read the log: %v %v", info.Mode(), err)
		}
		programtest.Contains(t, start(t, nil, "replay", file).Exits(0).Out.String(), "the same: ")
	}
	out := start(t, nil, "replay", dir).Exits(0)
	if strings.Count(out.Out.String(), "the same: ") != 2 || strings.Contains(out.Err.String(), "was killed") {
		t.Errorf("it says\n%s", out.Said())
	}
	one := start(t, nil, "replay", strings.TrimSuffix(files[1], "-000001.jsonl.gz")).Exits(0).Out.String()
	if strings.Count(one, "the same: ") != 1 ||
		!strings.HasPrefix(one, strings.TrimSuffix(filepath.Base(files[1]), "-000001.jsonl.gz")+":\n") {
		t.Errorf("one of two runs:\n%s", one)
	}
	programtest.Contains(t, start(t, nil, "replay", dir+"missing").Exits(66).Err.String(), "no such file")
	p := start(t, nil, "replay", dir, "--print").Exits(0).Out.String()
	programtest.Contains(t, p, ", by process ", "end: closed, after record ", "heartbeat")
	if !regexp.MustCompile(`\n +1 +\+0\.\d{6}s  \d\d:\d\d:\d\d\.\d{6}  session `).MatchString(p) {
		t.Errorf("no wall clock:\n%s", p)
	}
	if whole, err := os.Stat(files[0]); err != nil || os.Truncate(files[0], whole.Size()*9/10) != nil {
		t.Fatal(err)
	}
	p2 := start(t, nil, "replay", dir).Exits(2)
	programtest.Contains(t, p2.Said(), "log "+filepath.Base(files[0])+" damaged at line",
		"the compressed file", "the same: ")
	programtest.Contains(t, start(t, nil, "replay", t.TempDir()).Exits(66).Err.String(), "has no flight log")
}

// A log without a last line may be of a program that was killed, or of one that still writes it.
func TestReplayOfALogThatIsStillWritten(t *testing.T) {
	srv := zkmem.Start(t)
	dir := filepath.Join(t.TempDir(), "flight")
	enough := filepath.Join(t.TempDir(), "enough")
	p := elect(t, srv, "echo up; until [ -e "+enough+" ]; do sleep 0.1; done", "--record", dir+"/")
	p.Prints("up")
	programtest.Contains(t, start(t, nil, "replay", dir).Exits(0).Said(), "the same: ", "was killed, or still runs")
	if err := os.WriteFile(enough, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p.Exits(0)
}

// The last records are written at a signal. The log says why, and replays.
func TestTheLastRecordsAreWrittenAtASignal(t *testing.T) {
	srv := zkmem.Start(t)
	dir := filepath.Join(t.TempDir(), "flight")
	enough := filepath.Join(t.TempDir(), "enough")
	p := elect(t, srv, "echo up; until [ -e "+enough+" ]; do sleep 0.1; done", "--record", dir, "--record-last", "10")
	p.Prints("up")
	p.Signal(syscall.SIGUSR1)
	p.Notes("the last records are in ")
	p.Notes(`-000001.jsonl.gz"`)
	if err := os.WriteFile(enough, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p.Exits(0)
	q := start(t, nil, "replay", dir, "--print").Exits(0)
	programtest.Contains(t, q.Said(), "the last records: asked for by a signal", "the same: ",
		"end: asked for by a signal")
	programtest.Contains(t, elect(t, nil, "echo never", "--record-last", "10").Exits(64).Err.String(),
		"needs --record DIR")
	programtest.Contains(t, elect(t, nil, "echo never", "--record", dir, "--record-last", "2000000").Exits(64).
		Err.String(), ": --record-last is out of range: give from 1 to 1000000")
}

// A flight log that cannot be written does not keep a command from running. Lines say so at the start and at the end.
func TestADirectoryThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	for { // until not even root can create a log in it: its path is too long
		deeper := filepath.Join(dir, strings.Repeat("d", 30))
		if err := os.Mkdir(deeper, 0o700); err != nil {
			break
		}
		dir = deeper
	}
	srv := zkmem.Start(t)
	p := elect(t, srv, "echo up", "--record", dir).Exits(0)
	programtest.Contains(t, p.Out.String(), "up")
	if n := len(regexp.MustCompile(`the flight log lacks \d+ records, because it cannot be written: open .*: file `+
		`name too long`).FindAllString(p.Err.String(), -1)); n != 2 {
		t.Errorf("it says so %d times:\n%s", n, p.Err.String())
	}
	p = elect(t, srv, "echo up; read line; exit 0", "--record", dir, "--record-last", "10")
	p.Prints("up")
	p.Signal(syscall.SIGUSR1)
	p.Notes("the last records could not be written: ")
	p.In.Close()
	p.Exits(0)
	if n := strings.Count(p.Err.String(), "the flight log cannot be written: open "); n != 2 {
		t.Errorf("it says so %d times:\n%s", n, p.Err.String())
	}
}

// Several processes record into one directory at the same time.
func TestProcessesShareADirectory(t *testing.T) {
	const many = 4
	srv, dir := zkmem.Start(t), filepath.Join(t.TempDir(), "flight")
	var all []*programtest.Program
	for range many {
		all = append(all, elect(t, srv, "echo up", "--record", dir+"/"))
	}
	for _, p := range all {
		if p.Exits(0); strings.Contains(p.Err.String(), "flight log") {
			t.Error(p.Err.String())
		}
	}
	p := start(t, nil, "replay", dir).Exits(0)
	if n := strings.Count(p.Out.String(), "the same: "); n != many || p.Err.String() != "" {
		t.Errorf("%d runs:\n%s", n, p.Said())
	}
	p = start(t, nil, "why", dir).Exits(0)
	programtest.Contains(t, p.Out.String(), "Never two with the right at once: proven")
	if p.Err.String() != "" {
		t.Error(p.Err.String())
	}
}
