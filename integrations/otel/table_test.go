package otel_test

import (
	"context"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/integrations/otel"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// instruments returns the table of docs/operations.md: by name, the kind, the unit and the attributes.
func instruments(t *testing.T) map[string]string {
	t.Helper()
	page, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(strings.ReplaceAll(string(page), "\r", ""), "\n### For OpenTelemetry\n")
	text, _, _ = strings.Cut(text, "\n### ")
	rows := map[string]string{}
	for _, line := range strings.Split(text, "\n") {
		if cells := strings.Split(strings.Trim(line, "| "), " | "); len(cells) == 4 &&
			strings.HasPrefix(cells[0], "`") {
			rows[strings.Trim(cells[0], "`")] = cells[1] + " " + strings.Trim(cells[2], "`") + " " +
				strings.Join(strings.Fields(strings.NewReplacer("`", "", "–", "").Replace(cells[3])), " ")
		}
	}
	return rows
}

// described returns the same of what was collected, and the recipes that are among the attributes.
func described(t *testing.T, all metricdata.ResourceMetrics) (rows map[string]string, recipes []string) {
	t.Helper()
	rows = map[string]string{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			kind, sets := "", []attribute.Set{}
			switch data := m.Data.(type) {
			case metricdata.Gauge[float64]:
				kind = "gauge"
				for _, p := range data.DataPoints {
					sets = append(sets, p.Attributes)
				}
			case metricdata.Sum[float64]:
				kind = "counter"
				for _, p := range data.DataPoints {
					sets = append(sets, p.Attributes)
				}
			case metricdata.Histogram[float64]:
				kind = "histogram"
				for _, p := range data.DataPoints {
					sets = append(sets, p.Attributes)
				}
			}
			for _, set := range sets {
				keys := map[string]bool{}
				for _, a := range set.ToSlice() {
					keys[string(a.Key)] = true
					if a.Key == "incumbent.recipe" && !slices.Contains(recipes, a.Value.AsString()) {
						recipes = append(recipes, a.Value.AsString())
					}
				}
				rows[m.Name] = kind + " " + m.Unit + " " + strings.Join(slices.Sorted(maps.Keys(keys)), " ")
			}
		}
	}
	slices.Sort(recipes)
	return rows, recipes
}

// A collection has the instruments of docs/operations.md, with their units and attributes, and no other. Recipes have
// the names of their charts.
func TestTheTableIsWhatIsCollected(t *testing.T) {
	c, err := incumbent.Open(context.Background(), incumbent.Config{Servers: zkmem.Start(t).Addr()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_ = c.Close(ctx)
	})
	work := func(*incumbent.Leadership) error { return nil }
	latch, err := c.Latch("/jobs/x", incumbent.LatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	job, err := c.JobElection("/jobs/y", incumbent.JobElectionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := latch.Run(t.Context(), work); err != nil { // a term has ended
		t.Fatal(err)
	}
	for _, start := range []func() error{job.Start, func() error { // and these are in line
		again, err := c.Latch("/jobs/x", incumbent.LatchOptions{})
		if err != nil {
			return err
		}
		return again.Start()
	}} {
		if err := start(); err != nil {
			t.Fatal(err)
		}
	}
	p, err := otel.NewProducer(c)
	if err != nil {
		t.Fatal(err)
	}
	reader := metric.NewManualReader(metric.WithProducer(p))
	provider := metric.NewMeterProvider(metric.WithReader(reader))
	defer func() { _ = provider.Shutdown(context.Background()) }()
	var got metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &got); err != nil {
		t.Fatal(err)
	}
	rows, recipes := described(t, got)
	want := instruments(t)
	for name, row := range rows {
		if want[name] != row {
			t.Errorf("%s is %q, the table has %q", name, row, want[name])
		}
		delete(want, name)
	}
	for name := range want {
		t.Errorf("the table has %s, which is not collected", name)
	}
	if !slices.Equal(recipes, []string{"jobelection", "latch"}) {
		t.Errorf("recipes %q", recipes)
	}
}
