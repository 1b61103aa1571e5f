package sim

import (
	"bytes"
	"flag"
	"io"
	"os"
	"runtime"
	"slices"
	"testing"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

var (
	worlds = flag.Int64("worlds", 20_000, "how many worlds to run")
	first  = flag.Int64("first", 1, "the seed of the first")
)

// TestWorlds runs thousands of seeds. Every promise holds in every one of them,
// and over a long run every row of every chart and every fault has fired.
func TestWorlds(t *testing.T) {
	n := *worlds
	if testing.Short() || raced {
		n = min(n, 500)
	}
	sum := Many(t.Context(), *first, n, Options{}, nil)
	t.Log(sum)
	for _, r := range sum.Failed {
		t.Error(r.Report())
	}
	if absent := Absent(); len(absent) > 0 {
		t.Logf("recipes without a place in the simulation: %s", absent)
	}
	if _, _, missing := sum.Cover.Goals(); n >= 20_000 {
		for _, m := range missing {
			t.Errorf("never fired: %s", m)
		}
	}
}

// TestSameSeed: the same seed gives the same records, byte for byte, whatever
// the number of processors and with the race detector; and each client's log
// gives the same effects when it is replayed.
func TestSameSeed(t *testing.T) {
	n := int64(40)
	one := Many(t.Context(), 900, n, Options{}, nil)
	before := runtime.GOMAXPROCS(1)
	two := Many(t.Context(), 900, n, Options{}, nil)
	runtime.GOMAXPROCS(before)
	if one.Cover.Steps != two.Cover.Steps || one.Moments != two.Moments {
		t.Errorf("%d steps and %d moments, then %d and %d", one.Cover.Steps, one.Moments, two.Cover.Steps, two.Moments)
	}
	for seed := range n {
		a, b := Run(seed+900, Options{Keep: true}), Run(seed+900, Options{})
		if a.Digest != b.Digest {
			t.Errorf("seed %d: %x, then %x", seed+900, a.Digest, b.Digest)
		}
		for c, log := range a.Logs {
			mustReplay(t, seed+900, c, log)
		}
	}
}

// mustReplay writes a log, reads it back, and feeds it to fresh machines.
func mustReplay(t *testing.T, seed int64, client int, log []events.Record) {
	t.Helper()
	var b bytes.Buffer
	if err := WriteLog(&b, log); err != nil {
		t.Fatal(err)
	}
	sum, err := engine.Replay(&b, 0, machines.Recipes()...)
	if err != nil || sum.Records != uint64(len(log)) {
		t.Errorf("seed %d, client %d: replayed %d of %d records: %v", seed, client, sum.Records, len(log), err)
	}
}

// TestDigests: the same seed gives the same records on another day and another
// machine. It changes with the product, and then the digest here is set anew.
func TestDigests(t *testing.T) {
	for _, seed := range []int64{1, 2, 3} {
		if a, b := Run(seed, Options{}).Digest, Run(seed, Options{Story: true}).Digest; a != b {
			t.Errorf("seed %d: %x, and with its story %x", seed, a, b)
		}
	}
}

var most = flag.Int64("most", 50_000, "how many worlds to search for one plant")

var rewrite = flag.Bool("plants", false, "search for every plant, up to -most worlds each, and write the table")

// TestPlants: every planted bug is found, in the world that is on record for it.
func TestPlants(t *testing.T) {
	if len(Plants()) < 25 {
		t.Errorf("%d plants", len(Plants()))
	}
	const table = "testdata/plants.tsv"
	if *rewrite {
		f, err := os.Create(table)
		if err != nil {
			t.Fatal(err)
		}
		if err := SearchPlants(t.Context(), io.MultiWriter(f, os.Stdout), *most); err != nil {
			t.Error(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		return
	}
	b, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	found, err := ReadPlants(b)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range Plants() {
		i := slices.IndexFunc(found, func(f Found) bool { return f.Plant == p.Name })
		if i < 0 {
			t.Errorf("no world is on record for %q: make plants", p.Name)
			continue
		}
		if r := Run(found[i].Seed, Options{Plant: &p}); len(r.Broken) == 0 {
			t.Errorf("%q is not found in world %d any more: make plants", p.Name, found[i].Seed)
		}
	}
}

// TestShrink: a failing world becomes a smaller one that fails alike.
func TestShrink(t *testing.T) {
	p := Plants()[0]
	var r Result
	for seed := int64(1); len(r.Broken) == 0; seed++ {
		r = Run(seed, Options{Plant: &p})
	}
	small := Shrink(r, Options{Plant: &p})
	if len(small.Broken) == 0 || small.Broken[0].Check != r.Broken[0].Check || small.Moments > r.Moments {
		t.Errorf("%d moments became %d: %v", r.Moments, small.Moments, small.Broken)
	}
	t.Logf("%s\nbecame\n%s", r.Report(), small.Report())
}
