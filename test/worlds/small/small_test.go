package small

import (
	"bytes"
	"flag"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/test/kit/selection"
)

var full = flag.Bool("full", false, "search the worlds of make small: tens of minutes")

// everyTime are the worlds of make prove; the first of them are those of every test run.
var everyTime = []Config{
	{Participants: 1, Faults: 1},
	{Participants: 1, Faults: 1, Settled: true, Hung: true},
	{Participants: 2, Faults: 1, Settled: true},
	{Participants: 2, Faults: 1, Settled: true, RideOut: true},
	{Participants: 2, Faults: 1, Settled: true, Hung: true},
	{Participants: 2, Faults: 2, Settled: true, Kinds: []string{"delete", Refusals[once]}},
	{Participants: 2, Faults: 1, Settled: true, Kinds: []string{Refusals[noList]}},
	{Participants: 2, Faults: 1, Settled: true, Kinds: []string{Refusals[noRead]}},
	{Participants: 2, Faults: 1, Settled: true, Kinds: []string{Refusals[byCode]}},
}

// refusing is a world in which an operator forbids one participant to list the line, while the reply to
// its create is lost. It does not know the name of its node, so nothing but the end of its session deletes
// that. The handle ends it, and the handle is not searched: see TestANodeWithoutANameIsKept.
var refusing = Config{Participants: 2, Faults: 2, Settled: true, Kinds: []string{Refusals[noList], "cut"}}

// atLeisure are the worlds of make small.
var atLeisure = []Config{
	{Participants: 1, Faults: 2, Settled: true},
	{Participants: 2, Faults: 1, Settled: true, Plain: true},
	{Participants: 2, Faults: 1},
	{Participants: 2, Faults: 1, RideOut: true},
	{Participants: 2, Faults: 1, Settled: true, Every: true},
	{Participants: 3, Faults: 1, Settled: true},
	{Participants: 3, Faults: 1, Settled: true, Hung: true},
	{Participants: 3, Faults: 1, Depth: 40},
	{Participants: 2, Faults: 2, Settled: true, Kinds: []string{"cut", Refusals[once]}},
	{Participants: 2, Faults: 2, Settled: true},
	{Participants: 2, Faults: 2, Settled: true, RideOut: true},
	{Participants: 2, Faults: 2, Settled: true, Hung: true},
}

// TestWorlds: all promises hold in every state that can be reached, and every fair run
// without faults reaches a leader if a client is able to lead.
func TestWorlds(t *testing.T) {
	worlds, progress := atLeisure, io.Writer(os.Stderr)
	if !*full {
		worlds, progress = everyTime[:selection.Of(t, "small worlds", 2, 2, len(everyTime))], nil
	}
	searchAll(t, worlds, progress)
}

// searchAll goes through worlds in full, which must break nothing.
func searchAll(t *testing.T, worlds []Config, progress io.Writer) {
	t.Helper()
	for _, cfg := range worlds {
		if cfg.States == 0 && !*full {
			cfg.States = 200_000 // there are far fewer: more means that something grows without end
		}
		r := Search(cfg, progress)
		t.Log(r)
		if r.Broken != nil {
			t.Error(tale(t, r))
		}
		if r.Truncated > 0 && cfg.Depth == 0 && (cfg.States == 0 || cfg.States == 200_000) {
			t.Errorf("%s: not in full", cfg)
		}
	}
}

// tale returns a counterexample in words, and where its logs are.
func tale(t *testing.T, r Result) string {
	t.Helper()
	story, logs, _ := Replay(r)
	folder, err := os.MkdirTemp("", "small-")
	if err != nil {
		t.Error(err)
	}
	files, err := WriteLogs(folder, logs)
	if err != nil {
		t.Error(err)
	}
	return r.String() + "\n" + strings.Join(story, "\n") + "\nopen with incumbent replay: " + strings.Join(files, " ")
}

// TestPlants: every planted bug is found, with one fault at the most. Its trace
// can be taken again, and its logs are good for incumbent replay: so engines
// that were forked at every step did what fresh ones do.
func TestPlants(t *testing.T) {
	for _, p := range Plants {
		cfg := Config{Participants: 2, Settled: true, Plant: &p, Kinds: p.Kinds}
		if p.Alone {
			cfg.Participants = 1
		}
		mustFind(t, cfg)
	}
}

// mustFind searches for a world's plant, without a fault and then with one.
func mustFind(t *testing.T, cfg Config) {
	t.Helper()
	p := cfg.Plant
	r := Search(cfg, nil)
	if r.Broken == nil {
		cfg.Faults = 1
		r = Search(cfg, nil)
	}
	t.Logf("%s: %s\n", p.Name, r)
	if r.Broken == nil {
		t.Errorf("not found: %s", p.Name)
		return
	}
	story, logs, again := Replay(r)
	if len(again) == 0 && !strings.HasPrefix(r.Broken[0], "progress") {
		t.Errorf("%s: its trace breaks nothing when it is taken again", p.Name)
	}
	if !strings.Contains(strings.Join(story, "\n"), "connecting --connection.attached--> connected") {
		t.Errorf("%s: a poor story: %s", p.Name, story)
	}
	for _, log := range logs {
		mustReplay(t, log)
	}
}

// mustReplay feeds a log to fresh machines.
func mustReplay(t *testing.T, log []events.Record) {
	t.Helper()
	var b bytes.Buffer
	if err := writeLog(&b, log); err != nil {
		t.Fatal(err)
	}
	sum, err := engine.Replay(&b, 0, machines.Recipes()...)
	if err != nil || sum.Records != uint64(len(log)) {
		t.Errorf("replayed %d of %d records: %v", sum.Records, len(log), err)
	}
}

// TestOneDigestOneState: worlds that are taken for one state, though they came
// about on different ways, go on alike.
func TestOneDigestOneState(t *testing.T) {
	states := selection.Of(t, "states", 1500, 1500, 12_000)
	for _, cfg := range []Config{
		{Participants: 2, Faults: 1, Settled: true, Prove: 25, States: states},
		{Participants: 2, Shards: 2, Settled: true, Prove: 10, States: states},
	} {
		r := Search(cfg, nil)
		t.Logf("%s; %d of %d merged were compared", r, r.Proved, r.Merged)
		if r.Broken != nil {
			t.Error(tale(t, r))
		}
		if r.Proved < 10 {
			t.Errorf("only %d compared", r.Proved)
		}
	}
}

// TestDecided: a field of a model that cannot be written as it is stops the
// search until it is listed; all others are written.
func TestDecided(t *testing.T) {
	if got := decide(reflect.TypeOf(struct {
		fresh int
		named string
		inner struct{ on bool }
		list  []string
	}{})); !slices.Equal(got, []how{value, value, inside, printed}) {
		t.Error(got)
	}
	defer func() {
		if recover() == nil {
			t.Error("nobody complained of a pointer that is not listed")
		}
	}()
	decide(reflect.TypeOf(struct{ fresh *int }{}))
}
