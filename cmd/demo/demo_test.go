//go:build unix

package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
)

func TestDemo(t *testing.T) {
	log := filepath.Join(t.TempDir(), "demo.log")
	p := programtest.Start(t, nil, "--record", log).Exits(0)
	shape := regexp.MustCompile(`(?s)^A ZooKeeper in memory, on 127\.0\.0\.1:\d+;.*
1\. .*   a leads now, token \d+
   queue: a, b, c
.*2\. .*   b leads now, token \d+; a led for \d+ ms \(.+\)
   queue: b, c, a
.*3\. .*   queue: b, c, a, d
   c leads now, .*   a leads now, .*   d leads now, .*   d kept its place: .*
4\. .*   s1 leads now.*   round 1 of 3: .*   round 2 of 3: .*   s5 leads now, token \d+; s4 led for \d+ ms
   round 3 of 3: .*
5\. .*   5 logs, \d+ records from \d+ inputs: the same, byte for byte \(\d+ records/s\)
Every check succeeded in .*Try next \(make install .*\):.*incumbent elect `)
	if !shape.MatchString(p.Out.String()) {
		t.Errorf("not the shape that was wanted:\n%s", p.Out.String())
	}
	programtest.Contains(t, p.Out.String(), log)
	mustBeTrue(t, p.Out.String())
	programtest.Start(t, nil, "--record", log).Exits(73)
}

// mustBeTrue checks the commands that the demo ends with: incumbent knows each of
// them, and the first replays the log.
func mustBeTrue(t *testing.T, text string) {
	t.Helper()
	incumbent := filepath.Join(t.TempDir(), "incumbent")
	if out, err := exec.Command("go", "build", "-o", incumbent, "../incumbent").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := func(args ...string) string {
		out, err := exec.CommandContext(t.Context(), incumbent, args...).CombinedOutput()
		if err != nil {
			t.Errorf("incumbent %q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	next := regexp.MustCompile(`(?m)^  incumbent (.+?)  +\S`).FindAllStringSubmatch(text, -1)
	if len(next) != 7 {
		t.Fatalf("%d commands to try next:\n%s", len(next), text)
	}
	for i, line := range next {
		args, _, _ := strings.Cut(line[1], " -- ") // what follows is not incumbent's
		if i == 0 {
			programtest.Contains(t, run(strings.Fields(args)...), "the same: ")
		}
		programtest.Contains(t, run(append(strings.Fields(args), "--help")...),
			"incumbent "+strings.Fields(args)[0]+" ")
	}
}

func TestBadCommandLines(t *testing.T) {
	for args, says := range map[string]string{
		"elect /x -- true": `no command "elect" here: operators' commands are in cmd/incumbent: see go run ` +
			`./cmd/incumbent --help`,
		"status /x --json": `no command "status" here: operators' commands are in cmd/incumbent`,
		"bogus":            `no command "bogus" here`,
		"--bogus":          "unknown flag: --bogus: see demo --help",
		"--record":         "flag needs an argument: --record: see demo --help",
		"--json=maybe":     `invalid argument "maybe"`,
	} {
		p := programtest.Start(t, nil, strings.Split(args, " ")...).Exits(64)
		programtest.Contains(t, p.Err.String(), "demo: "+says)
		if strings.Count(p.Err.String(), "\n") != 1 || p.Out.String() != "" {
			t.Errorf("%s: want one line, on stderr:\n%s", args, p.Said())
		}
	}
}

func TestHelpTeaches(t *testing.T) {
	programtest.Contains(t, programtest.Start(t, nil, "--help").Exits(0).Out.String(), "Exit codes", "Examples:",
		"go run ./cmd/demo", "go run ./cmd/incumbent")
}

func TestDemoInJSON(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	p := programtest.Start(t, nil, "--json").Exits(0)
	token, leaders := 0.0, []string{}
	var last map[string]any
	for _, o := range p.Objects() {
		if o["event"] == "leads" {
			if next := o["token"].(float64); next <= token {
				t.Errorf("token %v after %v", next, token)
			} else {
				token = next
			}
			leaders = append(leaders, o["who"].(string))
		}
		last = o
	}
	want := "a b c a d" + strings.Repeat(" s1 s2 s3 s4 s5", 3)
	if got := strings.Join(leaders, " "); got != want {
		t.Errorf("led: %s\nwant: %s", got, want)
	}
	log, _ := last["log"].(string)
	if last["event"] != "done" || filepath.Dir(log) != dir {
		t.Errorf("ends with %v", last)
	}
	if _, err := os.Stat(log); err != nil {
		t.Error(err)
	}
}
