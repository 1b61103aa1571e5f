package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/bench/driver"
	"github.com/incumbent-go/incumbent/bench/servers"
)

func TestAPartsTablesReplaceTheOldOnes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "page.md")
	page := "# A\n<!-- part quick -->\nold\n<!-- /part quick -->\nb\n<!-- part scale -->\nkept\n<!-- /part scale -->\n"
	if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"new\n", "newer\n"} {
		if err := embed(file, "quick", text); err != nil {
			t.Fatal(err)
		}
		got, _ := os.ReadFile(file)
		if want := strings.Replace(page, "\nold\n", "\n"+text, 1); string(got) != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
	if err := embed(file, "network", "x"); err == nil {
		t.Error("tables were put where no marks are")
	}
}

// The page has a place for each part, and explains each scenario.
func TestThePageHasEveryPart(t *testing.T) {
	text, err := os.ReadFile("results.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range parts() {
		if _, err := between(string(text), p.name, ""); err != nil {
			t.Error(err)
		}
		for _, s := range p.scenarios {
			if !strings.Contains(string(text), "| `"+s.Name+"` |") {
				t.Errorf("bench/results.md does not say what %s is", s.Name)
			}
		}
	}
}

// Wrong flags are found before anything is measured.
func TestBadFlagsAreRefused(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(page, []byte("<!-- part quick -->\n<!-- /part quick -->\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	good := options{part: "quick", rounds: 8, most: 12, into: page}
	for want, change := range map[string]func(*options){
		`-part "quik"`:                      func(o *options) { o.part = "quik" },
		`-scenario "cicle": the part quick`: func(o *options) { o.scenario = "cicle" },
		"-rounds 0":                         func(o *options) { o.rounds = 0 },
		"-most -1":                          func(o *options) { o.most = -1 },
		`"network": there are flags only`:   func(o *options) { o.extra = []string{"network"} },
		"-into: open":                       func(o *options) { o.into = page + ".not" },
		"-into: the file has no marks <!-- part scale -->": func(o *options) { o.part = "scale" },
	} {
		bad := good
		change(&bad)
		if _, err := bad.check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %s", err, want)
		}
	}
	if p, err := good.check(); err != nil || p.name != "quick" {
		t.Errorf("%s, %v", p.name, err)
	}
}

// Each scenario has a title of its own within its part, the units of its ratios, and no entrant twice.
func TestPartsAreComplete(t *testing.T) {
	for _, p := range parts() {
		titles := map[string]bool{}
		for _, s := range p.scenarios {
			for _, table := range tablesOf(&driver.Result{Scenario: s}, 0) {
				if table.Title == "" || table.Metric == "" || titles[table.Title] {
					t.Errorf("%s: %s has the title %q again, or no metric", p.name, s.Name, table.Title)
				}
				titles[table.Title] = true
			}
			if !slices.Contains(s.Entrants, lock) ||
				!slices.ContainsFunc(s.Entrants, func(e driver.Entrant) bool { return e.Program == incumbent }) {
				t.Errorf("%s: %s has no unit, or not this library", p.name, s.Name)
			}
			seen := map[driver.Entrant]bool{}
			for _, e := range s.Entrants {
				if seen[e] {
					t.Errorf("%s: %s has %s twice", p.name, s.Name, e.Label)
				}
				seen[e] = true
			}
		}
	}
}

func TestTheHeadingSaysWhenAndHow(t *testing.T) {
	s := &session{
		options: options{seed: 7, scenario: "line"}, part: part{name: "scale", title: "Many"},
		programs: &programs{missing: map[string]string{etcd: "etcd (no etcd)"}},
		versions: []string{"ZooKeeper 3.8.0", "kazoo 2.8.0"},
	}
	got := s.heading(time.Date(2026, 11, 23, 21, 5, 0, 0, time.UTC))
	for _, want := range []string{"\n### Many\n", "`make bench-peers PART=scale ARGS=\"-scenario line\"`, 23 " +
		"November 2026, 21:05 UTC, ", "seed 7. ZooKeeper 3.8.0; kazoo 2.8.0.", "Not run: etcd (no etcd)."} {
		if !strings.Contains(got, want) {
			t.Errorf("want %q in\n%s", want, got)
		}
	}
}

// What is missing has no entrants and no address. A slow network has other addresses than the servers.
func TestWhatIsMissingIsLeftOut(t *testing.T) {
	s := &session{
		part: parts()[0],
		programs: &programs{args: map[string][]string{incumbent: {"x"}, zookeeper: {"x"}, kazoo: {"x"}},
			missing: map[string]string{etcd: "no", curator: "no"}},
		zk: &servers.Group{Addrs: []string{"127.0.0.1:1", "127.0.0.1:2"}},
	}
	for _, scenario := range s.entered() {
		for _, e := range scenario.Entrants {
			if e.Program == etcd || e.Program == curator {
				t.Errorf("%s plays %s", e.Label, scenario.Name)
			}
		}
	}
	if !slices.ContainsFunc(s.scenarios[0].Entrants, func(e driver.Entrant) bool { return e.Program == etcd }) {
		t.Error("the part itself was changed")
	}
	direct, end, err := s.links(0)
	if err != nil || len(direct) != 3 || !slices.Equal(direct[kazoo], s.zk.Addrs) {
		t.Errorf("the addresses are %v, %v", direct, err)
	}
	end()
	slow, end, err := s.links(time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	if len(slow) != 3 || len(slow[kazoo]) != 2 || slices.Contains(s.zk.Addrs, slow[kazoo][0]) ||
		slow[kazoo][0] == slow[incumbent][0] {
		t.Errorf("the slow addresses are %v", slow)
	}
}
