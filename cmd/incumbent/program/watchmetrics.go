package program

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/metrics"
)

// onlooker exports a line that it only looks at. Its methods are safe for concurrent use.
type onlooker struct {
	client  *incumbent.Client
	dir     string
	plains  prefixes
	servers *asker
	file    *leaderFile
	reads   chan struct{} // one for each scrape that reads the line: more of them wait

	mu    sync.Mutex
	lines map[lineKey]lineSeen
}

// lineKey is one line of a directory: the prefix is only that of a plain election.
type lineKey struct{ recipe, prefix string }

// lineSeen is what was seen of a line.
type lineSeen struct {
	vacant  time.Time // since when nobody is in line; zero: somebody is
	changes float64   // after the first
}

// lineFamilies are what docs/operations.md says of incumbent watch --metrics.
var lineFamilies = []metrics.Family{
	{Name: "incumbent_line_leader", Kind: metrics.Gauge,
		Help:   "Whether a participant with a session is first in line; only it knows whether it leads.",
		Labels: lineLabels},
	{Name: "incumbent_line_blocked", Kind: metrics.Gauge,
		Help: "Whether a persistent node is at the head, behind which nobody can lead.", Labels: lineLabels},
	{Name: "incumbent_line_participants", Kind: metrics.Gauge, Help: "Nodes in line, the first included.",
		Labels: lineLabels},
	{Name: "incumbent_line_vacant_seconds", Kind: metrics.Gauge,
		Help: "For how long this program has seen nobody in line.", Labels: lineLabels},
	{Name: "incumbent_line_changes_total", Kind: metrics.Counter,
		Help: "Changes of the first in line that this program has seen.", Labels: lineLabels},
	{Name: "incumbent_line_forged", Kind: metrics.Gauge,
		Help: "Whether the order in line is one that ZooKeeper cannot have made.", Labels: lineLabels},
	{Name: "incumbent_watch_connected", Kind: metrics.Gauge,
		Help: "Whether this program has a connection to the ensemble."},
}

var lineLabels = []string{"path", "recipe", "prefix"}

func keyOf(recipe, prefix string) lineKey {
	if recipe != "election" {
		prefix = ""
	}
	return lineKey{recipe, prefix}
}

// changed notes a change. A directory that was never used is a line without a recipe, until it has one.
func (o *onlooker) changed(now time.Time, c incumbent.Change) {
	o.mu.Lock()
	defer o.mu.Unlock()
	key := keyOf(c.Recipe, c.Prefix)
	seen, known := o.lines[key]
	if !known {
		seen, known = o.lines[lineKey{}]
	}
	if known {
		seen.changes++
	}
	switch {
	case !c.Vacant:
		seen.vacant = time.Time{}
	case seen.vacant.IsZero():
		seen.vacant = now
	}
	delete(o.lines, lineKey{})
	o.lines[key] = seen
}

// ServeHTTP answers a scrape. It reads the line from the ensemble; without an answer in three seconds it says
// nothing of the line.
func (o *onlooker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 3*time.Second)
	defer cancel()
	samples := []metrics.Sample{{Name: "incumbent_watch_connected"}}
	if s := o.client.Connection(); s == incumbent.Connected || s == incumbent.Reconnected {
		if line, err := o.read(ctx); err == nil {
			samples[0].Value = 1
			samples = append(samples, o.samples(time.Now(), line)...)
		}
	}
	writeMetrics(w, lineFamilies, samples)
}

// read reads the line, when it is the scrape's turn.
func (o *onlooker) read(ctx context.Context) (incumbent.Line, error) {
	select {
	case o.reads <- struct{}{}:
		defer func() { <-o.reads }()
		return o.client.Line(ctx, o.dir, o.plains...)
	case <-ctx.Done():
		return incumbent.Line{}, ctx.Err()
	}
}

// samples returns what is exported of a line that was just read.
func (o *onlooker) samples(now time.Time, read incumbent.Line) (all []metrics.Sample) {
	of := map[lineKey][]incumbent.Participant{}
	for _, p := range read.Participants {
		key := keyOf(p.Recipe, p.Prefix)
		of[key] = append(of[key], p)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	var keys []lineKey
	for key := range o.lines {
		keys = append(keys, key)
	}
	for key := range of {
		if _, known := o.lines[key]; !known {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b lineKey) int {
		return strings.Compare(a.recipe+"/"+a.prefix, b.recipe+"/"+b.prefix)
	})
	for _, key := range keys {
		line, seen := incumbent.Line{Participants: of[key]}, o.lines[key]
		_, first := line.First()
		_, blocked := line.Blocker()
		_, _, forged := line.Forged()
		vacant := 0.0
		if len(of[key]) == 0 && !seen.vacant.IsZero() {
			vacant = now.Sub(seen.vacant).Seconds()
		}
		labels := []string{metrics.Label(o.dir), key.recipe, metrics.Label(key.prefix)}
		for i, v := range []float64{flag(first), flag(blocked), float64(len(of[key])), vacant,
			seen.changes, flag(forged)} {
			all = append(all, metrics.Sample{Name: lineFamilies[i].Name, Labels: labels, Value: v})
		}
	}
	return all
}

func flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
