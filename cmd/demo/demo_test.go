//go:build unix

package main_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
)

func TestDemo(t *testing.T) {
	log := filepath.Join(t.TempDir(), "demo.log")
	began := time.Now()
	p := start(t, nil, "--record", log).Exits(0)
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("took %s", took)
	}
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
Everything came out as told in .*Try next \(make install .*\):.*incumbent elect `)
	if !shape.MatchString(p.Out.String()) {
		t.Errorf("not the shape that was wanted:\n%s", p.Out.String())
	}
	programtest.Contains(t, p.Out.String(), log)
	programtest.Contains(t, start(t, nil, "replay", log).Exits(0).Out.String(), "the same")
	start(t, nil, "--record", log).Exits(73)
}

func TestDemoInJSON(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	p := start(t, nil, "--json").Exits(0)
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
