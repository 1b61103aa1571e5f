//go:build unix

package main_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
	"github.com/incumbent-go/incumbent/test/kit/seal"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// recorded is the log of one short election by somebody with a hostile name.
func recorded(t *testing.T) []byte {
	t.Helper()
	log := filepath.Join(t.TempDir(), "good.log")
	elect(t, zkmem.Start(t), "exit 0", "--record", log, "--id", hostile).Exits(0)
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(log); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read the log: %v %v", info.Mode(), err)
	}
	return b
}

// replaced is the log that a writer would have written with another text in it.
func replaced(log, old, new []byte, n int) []byte { return seal.Again(bytes.Replace(log, old, new, n)) }

// latchChart is where a log says which chart its first latch has.
var latchChart = regexp.MustCompile(`("id":"latch-1"[^\n]*),"chart":"[0-9a-f]{16}"`)

// charted returns a log that says something else there.
func charted(log []byte, says string) []byte {
	return seal.Again(latchChart.ReplaceAll(log, []byte(says)))
}

func TestReplay(t *testing.T) {
	good := recorded(t)
	records := bytes.Count(good, []byte(`{"seq":`))
	middle := bytes.IndexByte(good[len(good)/2:], '\n') + len(good)/2 + 1
	for name, test := range map[string]struct {
		log  []byte
		code int
		says []string
	}{
		"good": {good, 0, []string{fmt.Sprintf("the same: %d records from ", records), " records/s"}},
		"torn": {good[:len(good)-5], 0, []string{"the last line had no end"}},
		"tampered": {replaced(good, []byte("ephemeral_sequential"), []byte("persistent_sequential"), 1), 3,
			[]string{"first divergence: different at seq", "machine latch-1"}},
		"damaged": {append(append(append([]byte{}, good[:middle]...), "garbage\n"...), good[middle:]...), 2,
			[]string{"log damaged at line ", "the line has no checksum"}},
		"missing line": {append(append([]byte{}, good[:middle]...),
			good[middle+bytes.IndexByte(good[middle:], '\n')+1:]...), 2, []string{"lines are missing"}},
		"empty":  {nil, 2, []string{"the file is empty"}},
		"no log": {[]byte("hello\n"), 2, []string{"not a log header"}},
		"another chart": {charted(good, `$1,"chart":"01234567"`), 2,
			[]string{`the chart "latch" changed: the log ran 01234567`}},
		"no chart": {charted(good, `$1`), 2, []string{`the log does not say which chart "latch" it ran`}},
		"unknown kind": {replaced(good, []byte(`"row":"reply.create `), []byte(`"row":"reply.dance `), 1), 2,
			[]string{`unknown kind "reply.dance"`}},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "log")
			if err := os.WriteFile(file, test.log, 0o600); err != nil {
				t.Fatal(err)
			}
			p := start(t, nil, "replay", file).Exits(test.code)
			programtest.Contains(t, p.Out.String()+p.Err.String(), test.says...)
			o := start(t, nil, "replay", file, "--json").Exits(test.code).Objects()[0]
			if same := test.code == 0; o["same"] != same || (o["error"] == nil) != same {
				t.Errorf("--json: %v", o)
			}
		})
	}
	programtest.Contains(t, start(t, nil, "replay", "/no/such/file").Exits(66).Err.String(), "no such file")
}

func TestReplayPrints(t *testing.T) {
	good := recorded(t)
	file := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(file, good, 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, nil, "replay", file, "--print").Exits(0)
	out := p.Out.String()
	programtest.Contains(t, out, "latent --command.start", "--> enrolling  | ", `owned\a`, "the same: ")
	if strings.ContainsAny(out, "\x1b\a\u202e") {
		t.Errorf("what others wrote came out as it is: %q", out)
	}
	if got, want := strings.Count(out, "\n"), strings.Count(string(good), "\n")+1; got != want {
		t.Errorf("%d lines, want %d", got, want)
	}
	if !regexp.MustCompile(`valid until \+\d\.\d{6}s`).MatchString(out) {
		t.Errorf("a deadline is not told as a time since the log's start:\n%s", out)
	}
	out = start(t, nil, "replay", file, "--print", "--until", "4").Exits(0).Out.String()
	programtest.Contains(t, out, "     4 ", "the same: 4 records")
	if strings.Contains(out, "\n     5 ") {
		t.Errorf("went on after --until:\n%s", out)
	}
	if n := len(start(t, nil, "replay", file, "--print", "--json", "--until", "4").Exits(0).Objects()); n != 5 {
		t.Errorf("%d objects, want 4 records and a summary", n)
	}
}
