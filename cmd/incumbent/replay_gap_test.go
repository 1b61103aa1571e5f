//go:build unix

package main_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/seal"
	"github.com/incumbent-go/incumbent/test/kit/selection"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// slow is a log's file that hangs from the second write on, until it is freed.
type slow struct {
	*os.File
	begun bool
	freed chan struct{}
}

func (s *slow) Write(b []byte) (int, error) {
	if s.begun {
		<-s.freed
	}
	s.begun = true
	return s.File.Write(b)
}

// gapIn returns a function that reports whether a log that is being written has a gap's
// line so far.
func gapIn(t *testing.T, file string) func() bool {
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	lines, line := bufio.NewReader(f), ""
	return func() bool {
		for {
			part, err := lines.ReadString('\n')
			line += part
			switch {
			case errors.Is(err, io.EOF):
				return false
			case err != nil:
				t.Fatal(err)
			case strings.HasPrefix(line, `{"gap":`):
				return true
			}
			line = ""
		}
	}
}

// gapped is the log of a leader whose file hung until records were dropped, and the
// gap in it.
func gapped(t *testing.T) (file string, missing events.Gap) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "gapped.log")
	f, err := incumbent.CreateLog(file)
	if err != nil {
		t.Fatal(err)
	}
	log := &slow{File: f, freed: make(chan struct{})}
	ctx := within(t)
	c, err := incumbent.Open(ctx, incumbent.Config{Servers: zkmem.Start(t).Addr(), Record: incumbent.RecordTo(log)})
	if err != nil {
		t.Fatal(err)
	}
	l, err := c.Latch("/line", incumbent.LatchOptions{})
	if err == nil {
		err = l.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	held, err := l.Await(ctx)
	if err != nil {
		t.Fatal(err)
	}
	held.Release()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for c.Recording().Dropped < 100 {
				if _, err := c.Exists("/").Do(ctx); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	if !l.HasLeadership() {
		t.Error("the log took leadership away")
	}
	close(log.freed)
	written := gapIn(t, file)
	for !written() { // the requests that are recorded now end the gap
		if _, err := c.Exists("/").Do(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(c.Close(ctx), f.Close()); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(b) {
		var gap struct{ Gap events.Gap }
		if err := json.Unmarshal(line, &gap); err == nil && gap.Gap.Count > 0 {
			missing = gap.Gap
		}
	}
	if r := c.Recording(); missing.Count != r.Dropped || r.Gaps != 1 ||
		uint64(bytes.Count(b, []byte("\n"+`{"seq":`))) != r.Records {
		t.Fatalf("the log has the gap %+v; %+v", missing, r)
	}
	return file, missing
}

func TestReplayOfALogWithAGap(t *testing.T) {
	file, gap := gapped(t)
	tests := map[string]func(*testing.T, string, events.Gap){
		"alone": testReplayOfAGap, "and more": testReplayOfAGapAndMore,
	}
	for _, name := range selection.Some(t, "kinds of faults", 1, 2, []string{"alone", "and more"}) {
		t.Run(name, func(t *testing.T) { tests[name](t, file, gap) })
	}
}

func testReplayOfAGap(t *testing.T, file string, gap events.Gap) {
	before := gap.From - 1
	log, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	all := bytes.Count(log, []byte("\n"+`{"seq":`))
	p := start(t, nil, "replay", file).Exits(6)
	programtest.Contains(t, p.Out.String(), fmt.Sprintf("the same but for a gap: %d records from ", all))
	programtest.Contains(t, p.Err.String(),
		fmt.Sprintf("the log has a gap: %d records are missing, seq %d to %d: Config.Record was too slow for ",
			gap.Count, gap.From, gap.To))

	out := start(t, nil, "replay", file, "--print").Exits(6).Out.String()
	programtest.Contains(t, out, fmt.Sprintf("\n%6d ", before),
		fmt.Sprintf("\n%6d … %d: %d records missing: Config.Record was too slow", gap.From, gap.To, gap.Count),
		fmt.Sprintf("checkpoint of record %d", gap.To), fmt.Sprintf("\n%6d ", gap.To+1), "the same but for a gap: ")
	out = start(t, nil, "replay", file, "--print", "--until", fmt.Sprint(before)).Exits(0).Out.String()
	programtest.Contains(t, out, fmt.Sprintf("the same: %d records", before))
	if strings.Contains(out, "missing") {
		t.Errorf("it went on after --until")
	}

	objects := start(t, nil, "replay", file, "--json").Exits(6).Objects()
	if o := objects[0]; len(objects) != 1 || o["same"] != false || o["records"] != float64(all) ||
		o["gap"].(map[string]any)["count"] != float64(gap.Count) || o["error"] == nil {
		t.Errorf("--json: %v", objects)
	}
	objects = start(t, nil, "replay", file, "--json", "--print").Exits(6).Objects()
	shown, isGap := objects[before]["gap"].(map[string]any)
	if !isGap || shown["to"] != float64(gap.To) || objects[before+1]["checkpoint"] == nil ||
		objects[before+2]["seq"] != float64(gap.To+1) || objects[len(objects)-1]["gap"] == nil {
		t.Errorf("--json --print: %v and then %v", objects[before], objects[before+1])
	}
}

// What is found before a gap keeps its own exit code.
func testReplayOfAGapAndMore(t *testing.T, file string, gap events.Gap) {
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(good, []byte("\n"))
	with := func(line int, old, new string) []byte {
		changed := append([][]byte(nil), lines...)
		changed[line] = bytes.Replace(lines[line], []byte(old), []byte(new), 1)
		if bytes.Equal(changed[line], lines[line]) {
			t.Fatalf("no %q in %s", old, lines[line])
		}
		return seal.Again(bytes.Join(changed, nil))
	}
	last := slices.IndexFunc(lines, func(line []byte) bool { return bytes.HasPrefix(line, []byte(`{"gap":`)) }) - 1
	for name, c := range map[string]struct {
		log  []byte
		code int
		says string
	}{
		"divergence before it":      {with(last, `"row":"`, `"from":"x","row":"`), 3, "first divergence"},
		"damage before it":          {with(last, `"seq":`, `"sek":`), 2, "log damaged at line"},
		"damage behind it":          {with(last+3, `"seq":`, `"sek":`), 2, "log damaged at line"},
		"divergence behind it":      {with(last+3, `"to":"`, `"to":"x`), 3, "first divergence"},
		"no checkpoint behind it":   {with(last+2, `"state":`, `"stat":`), 6, "--print shows it"},
		"a checkpoint that is none": {with(last+2, `"version":1`, `"version":7`), 2, "its version is 7"},
		"a gap that does not fit":   {with(last+1, `"count":`, `"count":1`), 2, "cannot follow seq"},
		"a gap with a hostile why":  {with(last+1, "too slow", `\u001b[2J\u202e\nfine`), 6, `\x1b[2J\u202e`},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "log")
			if err := os.WriteFile(file, c.log, 0o600); err != nil {
				t.Fatal(err)
			}
			p := start(t, nil, "replay", file).Exits(c.code)
			programtest.Contains(t, p.Err.String(), c.says)
			if strings.ContainsAny(p.Said(), "\x1b\u202e") {
				t.Errorf("what others wrote came out as it is: %q", p.Said())
			}
		})
	}
}
