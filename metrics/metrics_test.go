package metrics_test

import (
	"context"
	"errors"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/metrics"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// row is a family as docs/operations.md has it.
type row struct {
	kind, help string
	labels     []string
	values     map[string][]string // of labels that have few
	bounds     []float64
}

var labelOf = regexp.MustCompile("`(\\w+)`(?: \\(([^)]*)\\))?")

// table returns the rows of a section of docs/operations.md.
func table(t *testing.T, section string) map[string]row {
	t.Helper()
	page, err := os.ReadFile("../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(strings.ReplaceAll(string(page), "\r", ""), "\n### "+section+"\n")
	if !found {
		t.Fatalf("docs/operations.md has no section %q", section)
	}
	text, _, _ = strings.Cut(text, "\n### ")
	rows := map[string]row{}
	for _, line := range strings.Split(text, "\n") {
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if len(cells) != 5 || !strings.HasPrefix(cells[0], "`") {
			continue
		}
		r := row{kind: cells[1], help: cells[4], values: map[string][]string{}}
		for _, m := range labelOf.FindAllStringSubmatch(cells[2], -1) {
			r.labels = append(r.labels, m[1])
			if m[2] != "" {
				r.values[m[1]] = strings.Fields(m[2])
			}
		}
		for _, b := range strings.Fields(strings.Trim(cells[3], "–")) {
			v, err := strconv.ParseFloat(b, 64)
			if err != nil {
				t.Fatal(line, err)
			}
			r.bounds = append(r.bounds, v)
		}
		rows[strings.Trim(cells[0], "`")] = r
	}
	return rows
}

// docs/operations.md has the families that are exported, with their kinds, labels, values of labels, buckets and
// sentences, and no other.
func TestTheTableIsWhatIsExported(t *testing.T) {
	rows, seen := table(t, "For Prometheus"), map[string]map[string]bool{}
	for _, f := range metrics.Families() {
		r, there := rows[f.Name]
		if !there {
			t.Errorf("docs/operations.md has no %s", f.Name)
		}
		if r.kind != string(f.Kind) || r.help != f.Help || !slices.Equal(r.labels, f.Labels) {
			t.Errorf("%s: the table has %q %q %q, the code %q %q %q", f.Name, r.kind, r.labels, r.help, f.Kind,
				f.Labels, f.Help)
		}
		seen[f.Name] = map[string]bool{}
		delete(rows, f.Name)
	}
	for name := range rows {
		t.Errorf("docs/operations.md has %s, which is not exported", name)
	}
	rows = table(t, "For Prometheus")
	stats := busy(t).Stats()
	stats.CertificateEnd = time.Now().Add(time.Hour) // the client has no certificate
	for _, s := range metrics.Of(stats, metrics.Options{MasterStatus: true}) {
		r, labels := rows[s.Name], rows[s.Name].labels
		seen[s.Name][""] = true
		if len(labels) != len(s.Labels) || (s.Histogram != nil) != (r.kind == "histogram") {
			t.Fatalf("%s has the labels %q, of %q, and a histogram: %t", s.Name, s.Labels, labels, s.Histogram != nil)
		}
		if s.Histogram != nil && !slices.Equal(s.Histogram.Bounds, r.bounds) {
			t.Errorf("%s has the buckets %v, the table %v", s.Name, s.Histogram.Bounds, r.bounds)
		}
		for i, v := range s.Labels {
			seen[s.Name][labels[i]+"="+v] = true
			if few := r.values[labels[i]]; few != nil && !slices.Contains(few, v) {
				t.Errorf("%s has %s=%q, the table %q", s.Name, labels[i], v, few)
			}
		}
	}
	for name, r := range rows {
		if len(seen[name]) == 0 {
			t.Errorf("a busy client has no sample of %s", name)
		}
		for label, few := range r.values {
			for _, v := range few {
				if !seen[name][label+"="+v] {
					t.Errorf("%s has no %s=%q, which is in the table", name, label, v)
				}
			}
		}
	}
}

// busy returns a client with a latch that leads after a term that has ended, and a queue with an item that has failed.
func busy(t *testing.T) *incumbent.Client {
	t.Helper()
	c, err := incumbent.Open(context.Background(), incumbent.Config{Servers: zkmem.Start(t).Addr()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_ = c.Close(ctx)
	})
	for range 2 {
		l, err := c.Latch("/jobs/x", incumbent.LatchOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Run(t.Context(), func(*incumbent.Leadership) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	l, err := c.Latch("/jobs/x", incumbent.LatchOptions{})
	if err = errors.Join(err, l.Start()); err != nil {
		t.Fatal(err)
	}
	owns := make(chan bool, 1)
	ctx, cancel := context.WithCancel(context.Background())
	shards, err := c.Shards("/shared", 1, incumbent.ShardsOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		ended <- shards.Run(ctx, func(s *incumbent.Shard) error { owns <- true; <-s.Context().Done(); return nil })
	}()
	t.Cleanup(func() { cancel(); <-ended })
	<-owns
	q, err := incumbent.NewQueue(c, "/mail", incumbent.QueueOptions[string]{Codec: incumbent.Text()})
	if err != nil {
		t.Fatal(err)
	}
	failed := make(chan bool, 9)
	consumer, err := q.AtLeastOnce(func(context.Context, incumbent.Delivery[string]) error {
		failed <- true
		return errors.New("not yet")
	}, incumbent.ConsumerOptions{})
	if err = errors.Join(err, consumer.Start(), q.Put(t.Context(), "one")); err != nil {
		t.Fatal(err)
	}
	<-failed
	return c
}

// The text is Prometheus's: escaped, in families, with cumulative buckets, and without what has no family.
func TestText(t *testing.T) {
	families := []metrics.Family{{"b", metrics.Histogram, "of a\n\\", []string{"x"}}, {"a", metrics.Counter, "n", nil},
		{"none", metrics.Gauge, "n", nil}}
	h := &incumbent.Histogram{Bounds: []float64{.5, 2}, Counts: []uint64{1, 2, 3}, Sum: 7.25}
	samples := []metrics.Sample{{Name: "a", Value: 1e9}, {Name: "b", Labels: []string{"p\"\\\nq"}, Histogram: h},
		{Name: "stranger"}, {Name: "a", Value: .5}}
	var got strings.Builder
	if err := metrics.Write(&got, families, samples); err != nil {
		t.Fatal(err)
	}
	const v = `{x="p\"\\\nq"`
	want := "# HELP b of a\\n\\\\\n# TYPE b histogram\n" +
		"b_bucket" + v + ",le=\"0.5\"} 1\nb_bucket" + v + ",le=\"2\"} 3\nb_bucket" + v + ",le=\"+Inf\"} 6\nb_sum" + v +
		"} 7.25\nb_count" + v + "} 6\n" +
		"# HELP a n\n# TYPE a counter\na 1e+09\na 0.5\n"
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
	if err := metrics.Write(full{}, families, samples); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a writer that fails: %v", err)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, os.ErrClosed }

// A path that is no UTF-8 does not break a scrape, and paths beyond the cap share one label.
func TestPathsOfLabels(t *testing.T) {
	s := incumbent.Stats{Handles: []incumbent.HandleStats{{Path: "/a\xff", Leads: true, Token: 3}, {Path: "/b"},
		{Path: "/c", Leads: true, Token: 5}, {Path: "/lock", Holds: true}}}
	got := map[string]float64{}
	for _, one := range metrics.Of(s, metrics.Options{MaxPaths: 1}) {
		if one.Name == "incumbent_token" || one.Name == "incumbent_paths_capped" {
			got[strings.Join(one.Labels, " ")] = one.Value
		}
	}
	if len(got) != 3 || got[`/a\xff~ee2ae417e6861fd6 `] != 3 || got["other "] != 5 || got[""] != 1 {
		t.Errorf("%v", got)
	}
}

// How long the client's certificate lasts is exported if it has one.
func TestTheEndOfACertificate(t *testing.T) {
	of := func(s incumbent.Stats) (values []float64) {
		for _, one := range metrics.Of(s, metrics.Options{}) {
			if one.Name == "incumbent_tls_certificate_expiry_seconds" {
				values = append(values, one.Value)
			}
		}
		return values
	}
	if got := of(incumbent.Stats{}); got != nil {
		t.Errorf("without a certificate: %v", got)
	}
	if got := of(incumbent.Stats{CertificateEnd: time.Now().Add(-time.Hour)}); len(got) != 1 || got[0] > -3600 ||
		got[0] < -4000 {
		t.Errorf("an hour after its end: %v", got)
	}
}
