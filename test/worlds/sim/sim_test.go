package sim

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/test/kit/selection"
)

var (
	worlds = flag.Int64("worlds", 0, "how many worlds to run, if not as many as test/kit/selection says")
	first  = flag.Int64("first", 1, "the seed of the first")
)

// howMany returns how many worlds a test runs: as many as -worlds says, or else test/kit/selection. Each world runs in
// one goroutine, so the race detector sees in a few what it sees in many.
func howMany(t *testing.T, things string, quick, test, all int64) int64 {
	t.Helper()
	switch {
	case *worlds < 0:
		t.Fatalf("-worlds %d: want a number of worlds", *worlds)
	case *worlds > 0:
		return *worlds
	case selection.Raced():
		quick = max(quick/8, min(quick, 4))
	}
	return selection.Of(t, things, quick, test, all)
}

// TestWorlds runs thousands of seeds. Every world keeps every promise, and in a long run
// every row of every chart and every fault has fired.
func TestWorlds(t *testing.T) {
	n := howMany(t, "worlds", 150, 200, 500)
	sum := NewSum(*first)
	Many(t.Context(), sum, n, Options{}, nil)
	t.Log(sum)
	for _, r := range sum.Failed {
		t.Error(r.Report())
	}
	if absent := Absent(); len(absent) > 0 {
		t.Logf("recipes without a place in the simulation: %s", absent)
	}
	_, _, missing := sum.Cover.Goals()
	for _, m := range missing {
		if n >= 20_000 {
			t.Errorf("never fired: %s", m)
		} else {
			t.Logf("not fired in so few worlds: %s", m)
		}
	}
}

// TestKeptWorlds plays the worlds that make explore found.
func TestKeptWorlds(t *testing.T) {
	for seed, fault := range map[int64]string{
		998382807: "a server that stood still applied to restored data what had come for it before",
	} {
		if r := Run(seed, Options{}); len(r.Broken) > 0 {
			t.Errorf("%s: %s", fault, r.Report())
		}
	}
}

// TestSameSeed checks that the same seed gives the same records, byte for byte, with any
// number of processors and with the race detector, and that a replay of each client's log
// gives the same effects.
func TestSameSeed(t *testing.T) {
	n := howMany(t, "worlds", 12, 14, 40)
	one, two := NewSum(900), NewSum(900)
	Many(t.Context(), one, n, Options{}, nil)
	before := runtime.GOMAXPROCS(1)
	Many(t.Context(), two, n, Options{}, nil)
	runtime.GOMAXPROCS(before)
	if one.Digest != two.Digest || one.Moments != two.Moments {
		t.Errorf("%x after %d moments, then %x after %d", one.Digest, one.Moments, two.Digest, two.Moments)
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

// mustReplay writes a log, reads it, and feeds it to new machines.
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

var rewrite = flag.Bool("rewrite", false, "write the digests of some worlds again")

// TestDigests checks that the same seed gives the same records on another day, on
// another machine, in another build. The digests change with the product: then write them
// with "make golden", together with the golden traces.
func TestDigests(t *testing.T) {
	const table, seeds = "testdata/digests.tsv", 24
	var b strings.Builder
	for seed := int64(1); seed <= seeds; seed++ {
		fmt.Fprintf(&b, "%d\t%016x\n", seed, Run(seed, Options{Story: seed%2 == 0}).Digest)
	}
	if *rewrite {
		if err := os.WriteFile(table, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	recorded, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	if string(recorded) != b.String() {
		t.Errorf("the worlds of %s are others now; if the product was to change, make golden\n%s", table, b.String())
	}
}

var most = flag.Int64("most", 50_000, "how many worlds to search for one plant")

var (
	search = flag.Bool("plants", false, "search for the plants, up to -most worlds each, and write the table")
	only   = flag.String("only", "", "search for those whose names this expression matches")
)

// TestPlants checks that every planted bug is found in the world of the table, which
// breaks no promise without it. A change of the machines moves some to other worlds. Those
// are searched for in the first ones, and "make plants" writes the table.
func TestPlants(t *testing.T) {
	if len(Plants()) < 25 {
		t.Errorf("%d plants", len(Plants()))
	}
	const table = "testdata/plants.tsv"
	nearby := selection.Of(t, "worlds for a bug that has moved", int64(20), 200, 2000)
	b, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	found, err := ReadPlants(b)
	if err != nil {
		t.Fatal(err)
	}
	if *search {
		var lines bytes.Buffer
		wanted, err := regexp.Compile(*only)
		if err != nil {
			t.Fatalf("-only: %v", err)
		}
		if !slices.ContainsFunc(Plants(), func(p Plant) bool { return wanted.MatchString(p.Name) }) {
			t.Fatalf("-only %q matches no name in %s", *only, table)
		}
		if err := SearchPlants(t.Context(), io.MultiWriter(&lines, os.Stdout), *most, wanted.MatchString, found); err !=
			nil {
			t.Error(err)
		}
		if err := os.WriteFile(table, lines.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, p := range selection.Some(t, "planted bugs", 8, 20, Plants()) {
		i := slices.IndexFunc(found, func(f Found) bool { return f.Plant == p.Name })
		if i < 0 {
			t.Errorf("no world is on record for %q: make plants", p.Name)
			continue
		}
		if p.Shows(found[i].Seed) {
			continue
		}
		f, err := SearchPlant(t.Context(), p, nearby)
		switch {
		case err == nil:
			t.Logf("%q has moved from world %d to %d: make plants", p.Name, found[i].Seed, f.Seed)
		case nearby < 2000:
			t.Logf("%q is not found in world %d any more; make prove decides", p.Name, found[i].Seed)
		default:
			t.Errorf("%q is not found in world %d any more: make plants", p.Name, found[i].Seed)
		}
	}
}

// TestShrink checks that a failing world becomes a smaller one that fails at the same
// check, and that one of the first three keeps only the faults that the bug needs. (Others
// may stop before, since one fault goes at a time.)
func TestShrink(t *testing.T) {
	type small struct {
		plant  string
		faults int // that the bug needs
	}
	for _, c := range selection.Some(t, "bugs", 1, 1, []small{
		{"CURATOR-171", 1},
		{"CURATOR-604", 2},
		{"CURATOR-653", 2},
	}) {
		i := slices.IndexFunc(Plants(), func(p Plant) bool { return strings.HasPrefix(p.Name, c.plant) })
		p := Plants()[i]
		least := math.MaxInt
		for _, r := range failing(t, p, 3) {
			small := Shrink(r, Options{Plant: &p})
			if len(small.Broken) == 0 || small.Broken[0].Check != r.Broken[0].Check ||
				small.Plan.size() > r.Plan.size() {
				t.Errorf("%s\nbecame\n%s", r.Report(), small.Report())
			}
			n := len(small.Plan.Faults) - len(small.Plan.Without)
			least = min(least, n)
			t.Logf("%s: %d moments with %d faults became %d with %d:\n%s", p.Name, r.Moments, len(r.Plan.Faults),
				small.Moments, n, small.Report())
		}
		if least > c.faults {
			t.Errorf("%s: at least %d faults are left", p.Name, least)
		}
	}
}

// failing returns the first worlds that find a plant.
func failing(t *testing.T, p Plant, n int) (all []Result) {
	t.Helper()
	for seed := int64(1); len(all) < n; seed++ {
		if seed > 2000 {
			t.Fatalf("%d of 2000 worlds find %q", len(all), p.Name)
		}
		if r := Run(seed, Options{Plant: &p}); len(r.Broken) > 0 {
			all = append(all, r)
		}
	}
	return all
}
