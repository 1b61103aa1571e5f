package otel_test

import (
	"context"
	"testing"
	"time"

	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/integrations/otel"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// Two participants of one line in one process are one point: a backend takes only one for each set of attributes.
func TestALineIsOnePoint(t *testing.T) {
	c, err := incumbent.Open(t.Context(), incumbent.Config{Servers: zkmem.Start(t).Addr()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_ = c.Close(ctx)
	}()
	for _, id := range []string{"a", "b"} {
		l, err := c.Latch("/jobs/x", incumbent.LatchOptions{ID: id})
		if err == nil {
			err = l.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	p, err := otel.NewProducer(c)
	if err != nil {
		t.Fatal(err)
	}
	scopes, err := p.Produce(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, m := range scopes[0].Metrics {
		if m.Name != "incumbent.leading" && m.Name != "incumbent.draining" {
			continue
		}
		found++
		if n := len(m.Data.(metricdata.Gauge[float64]).DataPoints); n != 1 {
			t.Errorf("%s has %d points", m.Name, n)
		}
	}
	if found != 2 {
		t.Errorf("%d metrics", found)
	}
}
