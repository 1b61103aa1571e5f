// Package statecharts checks that the pictures and tables in docs/statecharts are those of
// the charts that run.
package statecharts

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/incumbent-go/incumbent/cmd/gencharts/pages"
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/internal/drawing"
	"github.com/incumbent-go/incumbent/machines"
)

var docs = filepath.Join("..", "..", "..", "docs", "statecharts")

// once draws the charts once for all tests.
var once = sync.OnceValues(draw)

func draw() (map[string]string, error) {
	var charts []engine.Description
	for _, r := range machines.Recipes() {
		charts = append(charts, r.Describe())
	}
	return pages.All(filepath.Join("..", "..", "..", "machines"), charts...)
}

func drawn(t *testing.T) map[string]string {
	t.Helper()
	all, err := once()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// The docs are generated, so they can be compared byte for byte, also the pictures.
func TestDocsAreCurrent(t *testing.T) {
	want := drawn(t)
	for name, page := range want {
		got, err := os.ReadFile(filepath.Join(docs, name))
		if err != nil || string(got) != page {
			t.Errorf("docs/statecharts/%s is stale: run go run ./cmd/gencharts (%v)", name, err)
		}
	}
	playground, err := os.ReadFile(filepath.Join(docs, "..", "playground.md"))
	if err != nil {
		t.Fatal(err)
	}
	if page, err := pages.WithLessons(string(playground)); err != nil || page != string(playground) {
		t.Errorf("docs/playground.md has other lessons: run go run ./cmd/gencharts (%v)", err)
	}
	files, err := filepath.Glob(filepath.Join(docs, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if _, ok := want[filepath.Base(file)]; !ok {
			t.Errorf("%s belongs to no chart", file)
		}
	}
}

// A picture that differs from run to run would be stale at random.
func TestPagesAreDeterministic(t *testing.T) {
	again, err := draw()
	if err != nil {
		t.Fatal(err)
	}
	for name, page := range drawn(t) {
		if again[name] != page {
			t.Fatalf("%s came out differently", name)
		}
	}
}

// Every row, state and reason is on the page, also those that the picture leaves out.
func TestPagesTellEverything(t *testing.T) {
	all := drawn(t)
	for _, r := range machines.Recipes() {
		d := r.Describe()
		page := all[d.Name+".md"]
		for _, row := range d.Rows {
			for _, kind := range row.On {
				mustSay(t, d.Name, page, "`"+string(kind)+"`")
			}
			mustSay(t, d.Name, page, "`"+string(row.On[len(row.On)-1])+"` | "+row.Guard+" |")
			for _, name := range append([]string{row.Guard}, row.Actions...) {
				if name != "" {
					mustSay(t, d.Name, page, "\n| "+name+" | ")
				}
			}
		}
		for _, s := range d.States {
			mustSay(t, d.Name, page, "\n| **"+string(s.Name)+"** |")
			mustSay(t, d.Name, all[d.Name+".svg"], ">"+string(s.Name)+"</text>")
		}
		for _, ig := range d.Ignored {
			mustSay(t, d.Name, page, ig.Why)
		}
		table := drawing.Table(d)
		mustSay(t, d.Name, page, table[strings.Index(table, "\n  event "):])
	}
}

func mustSay(t *testing.T, chart, page, what string) {
	t.Helper()
	if !strings.Contains(page, what) {
		t.Errorf("%s: the page does not say %q", chart, what)
	}
}

// What is drawn, what is drawn once and what is only counted are together all
// arrows of the chart.
func TestPictureLosesNoArrow(t *testing.T) {
	for _, r := range machines.Recipes() {
		d := r.Describe()
		p := drawing.PictureOf(d)
		drawn := map[engine.Edge]bool{}
		for _, a := range append(p.Arrows, p.Hidden...) {
			for _, label := range a.Labels {
				drawn[engine.Edge{From: a.From[0], Name: label, To: a.To}] = true
			}
		}
		for _, e := range d.Edges() {
			if e.From != e.To && !drawn[e] {
				t.Errorf("%s: the picture lost %s --%s--> %s", d.Name, e.From, e.Name, e.To)
			}
			delete(drawn, e)
		}
		for e := range drawn {
			t.Errorf("%s: the picture made up %s --%s--> %s", d.Name, e.From, e.Name, e.To)
		}
		for _, a := range p.Hidden {
			if !shared(p, a) {
				t.Errorf("%s: %s -> %s is in no shared arrow", d.Name, a.From[0], a.To)
			}
		}
	}
}

func shared(p drawing.Picture, a drawing.Arrow) bool {
	for _, s := range p.Shared {
		for _, from := range s.From {
			if s.To == a.To && from == a.From[0] {
				return true
			}
		}
	}
	return false
}
