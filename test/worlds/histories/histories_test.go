// Package histories keeps what the proofs have found: README.md lists every fault, and the
// test here checks that the product has none of them.
package histories

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/test/worlds/sim"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var rewrite = flag.Bool("rewrite", false,
	"write the logs again, from the events in them; read the diff before committing it")

const root = "../../.."

// history is one line of the table.
type history struct {
	what  string
	forms []string
}

var form = regexp.MustCompile("`([^`]+)`")

// table reads the second half of README.md.
func table(t *testing.T) []history {
	t.Helper()
	b, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(b), "\n## The histories\n")
	if !found {
		t.Fatal("README.md has no table of histories")
	}
	var all []history
	for line := range strings.Lines(rest) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) < 4 || strings.HasPrefix(cells[0], "---") || strings.TrimSpace(cells[0]) == "what" {
			continue
		}
		h := history{what: strings.TrimSpace(cells[0])}
		for _, m := range form.FindAllStringSubmatch(cells[len(cells)-1], -1) {
			h.forms = append(h.forms, m[1])
		}
		all = append(all, h)
	}
	return all
}

func TestHistories(t *testing.T) {
	all := table(t)
	if len(all) < 11 {
		t.Fatalf("%d histories: none is ever taken away", len(all))
	}
	for _, h := range all {
		if len(h.forms) == 0 {
			t.Errorf("%q is kept in no form", h.what)
		}
		for _, f := range h.forms {
			t.Run(h.what+"/"+f, func(t *testing.T) {
				kind, rest, _ := strings.Cut(f, " ")
				switch kind {
				case "seed":
					seed(t, rest)
				case "plant":
					plant(t, rest)
				case "log":
					replay(t, rest)
				case "trace":
					mustExist(t, filepath.Join(root, "machines", "testdata", filepath.FromSlash(rest)))
				case "test":
					dir, name, _ := strings.Cut(rest, " ")
					mustHave(t, dir, name)
				default:
					t.Errorf("%q is none of seed, plant, log, trace and test", f)
				}
			})
		}
	}
}

// Every log is in the table: a log that is not would not be replayed.
func TestEveryLogIsListed(t *testing.T) {
	files, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !slices.ContainsFunc(table(t), func(h history) bool {
			return slices.Contains(h.forms, "log "+file.Name())
		}) {
			t.Errorf("testdata/%s is not in README.md", file.Name())
		}
	}
}

// seed runs a world: every promise holds in it.
func seed(t *testing.T, number string) {
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	if r := sim.Run(n, sim.Options{}); len(r.Broken) > 0 {
		t.Error(r.Report())
	}
}

// plant runs the world that shows a planted fault, without it and with it. If a change of
// the machines has moved the fault to another world, plant searches that.
func plant(t *testing.T, name string) {
	i := slices.IndexFunc(sim.Plants(), func(p sim.Plant) bool { return p.Name == name })
	if i < 0 {
		t.Fatalf("there is no plant %q", name)
	}
	p := sim.Plants()[i]
	b, err := os.ReadFile(filepath.Join(root, "test", "worlds", "sim", "testdata", "plants.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	found, err := sim.ReadPlants(b)
	if err != nil {
		t.Fatal(err)
	}
	i = slices.IndexFunc(found, func(f sim.Found) bool { return f.Plant == name })
	if i < 0 {
		t.Fatalf("no world is on record for %q: make plants", name)
	}
	with := sim.Run(found[i].Seed, sim.Options{Plant: &p})
	if len(with.Broken) == 0 {
		moved, err := sim.SearchPlant(t.Context(), p, 1000)
		if err != nil {
			t.Fatal(err)
		}
		with = sim.Run(moved.Seed, sim.Options{Plant: &p})
	}
	if r := sim.Run(with.Plan.Seed, sim.Options{Plan: &with.Plan}); len(r.Broken) > 0 {
		t.Error(r.Report())
	}
}

// replay feeds a log's events to the machines, and compares their states and effects. The
// guards that were tried, and the names of rows, may change.
func replay(t *testing.T, name string) {
	path := filepath.Join("testdata", name)
	logged := readLog(t, path)
	e := engine.New(true, machines.Recipes()...)
	var now []events.Record
	for _, r := range logged {
		if !r.Internal {
			e.Step(events.Envelope{To: r.Machine, Event: r.Event})
			now = append(now, e.Records()...)
		}
	}
	if *rewrite {
		var out bytes.Buffer
		if err := errors.Join(sim.WriteLog(&out, now), os.WriteFile(path, out.Bytes(), 0o600)); err != nil {
			t.Fatal(err)
		}
		return
	}
	for i, r := range logged {
		if i >= len(now) || doing(now[i]) != doing(r) {
			t.Fatalf("record %d was\n%s\nand is\n%s", r.Seq, doing(r), doing(now[min(i, len(now)-1)]))
		}
	}
	if len(now) != len(logged) || len(logged) == 0 {
		t.Errorf("%d records were logged, and %d are made", len(logged), len(now))
	}
}

// doing returns the part of a record that replay compares.
func doing(r events.Record) string {
	return fmt.Sprintf("%s: %s --%s--> %s\n  %s", r.Machine, r.From, r.Event.Kind, r.To,
		strings.Join(r.Effects.Strings(), "\n  "))
}

func readLog(t *testing.T, path string) (all []events.Record) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	reader, err := events.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for {
		r, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
}

func mustExist(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

// mustHave looks for a test by its name in a folder of the module.
func mustHave(t *testing.T, dir, name string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(dir), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(b, []byte("\nfunc "+name+"(")) {
			return
		}
	}
	t.Errorf("%s has no %s: a history is never taken away; if the test has another name now, say so in README.md", dir,
		name)
}
