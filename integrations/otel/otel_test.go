package otel_test

import (
	"context"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.uber.org/goleak"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/integrations/otel"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Two terms: the first is lost by an expiry, the second ends when the work returns and Run closes the latch. Each is a
// span, with a link from the second to the first, and the work's own span is a child of its term's.
func TestSpans(t *testing.T) {
	srv := zkmem.Start(t)
	exported := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exported))
	spans, err := otel.NewSpans(provider)
	if err != nil {
		t.Fatal(err)
	}
	var ended, all = make(chan bool, 8), []string{}
	c, err := incumbent.Open(context.Background(),
		incumbent.Config{Servers: srv.Addr(), Observe: func(e incumbent.Event) {
			spans.Observe(e)
			if _, is := e.Detail.(incumbent.TermEnded); is {
				ended <- true
			}
		}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(context.Background()) }()
	l, err := c.Latch("/jobs/x", incumbent.LatchOptions{ID: "a"})
	if err != nil {
		t.Fatal(err)
	}
	terms := 0
	err = l.Run(t.Context(), spans.Work(func(ctx context.Context, lead *incumbent.Leadership) error {
		_, child := provider.Tracer("work").Start(ctx, "work")
		child.End()
		if terms++; terms == 1 {
			srv.ExpireSession(c.SessionID())
			<-lead.Context().Done()
		}
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		<-ended
	}
	var led, work []tracetest.SpanStub
	for _, s := range exported.GetSpans() {
		all = append(all, s.Name)
		if s.Name == "work" {
			work = append(work, s)
		} else {
			led = append(led, s)
		}
	}
	if len(led) != 2 || len(work) != 2 || led[0].Name != "leadership /jobs/x" {
		t.Fatalf("%q", all)
	}
	for i := range led {
		if work[i].Parent.SpanID() != led[i].SpanContext.SpanID() ||
			value(led[i].Attributes, "incumbent.token").AsInt64() == 0 ||
			value(led[i].Attributes, "incumbent.log.seq").AsInt64() == 0 {
			t.Errorf("term %d: %+v", i, led[i])
		}
	}
	if led[0].Status.Code != codes.Error || led[1].Status.Code != codes.Unset ||
		value(led[1].Attributes, "incumbent.reason").AsString() != "closed" {
		t.Errorf("status %+v and %+v", led[0].Status, led[1].Status)
	}
	if len(led[1].Links) != 1 || led[1].Links[0].SpanContext.SpanID() != led[0].SpanContext.SpanID() {
		t.Errorf("links %+v", led[1].Links)
	}
}

func value(all []attribute.KeyValue, key attribute.Key) attribute.Value {
	for _, a := range all {
		if a.Key == key {
			return a.Value
		}
	}
	return attribute.Value{}
}

// A collection has each metric once, with the values of Stats.
func TestMetrics(t *testing.T) {
	srv := zkmem.Start(t)
	c, err := incumbent.Open(context.Background(), incumbent.Config{Servers: srv.Addr()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(context.Background()) }()
	l, err := c.Latch("/jobs/x", incumbent.LatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Start(); err != nil {
		t.Fatal(err)
	}
	held, err := l.Await(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	p, err := otel.NewProducer(c)
	if err != nil {
		t.Fatal(err)
	}
	reader := metric.NewManualReader(metric.WithProducer(p))
	meters := metric.NewMeterProvider(metric.WithReader(reader))
	defer func() { _ = meters.Shutdown(context.Background()) }()
	var got metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &got); err != nil {
		t.Fatal(err)
	}
	found := map[string]metricdata.Aggregation{}
	for _, s := range got.ScopeMetrics {
		for _, m := range s.Metrics {
			if found[m.Name] != nil {
				t.Errorf("%s is there twice", m.Name)
			}
			found[m.Name] = m.Data
		}
	}
	leading, ok := found["incumbent.leading"].(metricdata.Gauge[float64])
	if !ok || len(leading.DataPoints) != 1 || leading.DataPoints[0].Value != 1 {
		t.Errorf("incumbent.leading: %+v", found["incumbent.leading"])
	}
	requests, ok := found["db.client.operation.duration"].(metricdata.Histogram[float64])
	if !ok || len(requests.DataPoints) != 6 || requests.DataPoints[0].Time.Before(time.Now().Add(-time.Minute)) {
		t.Errorf("%+v", requests)
	}
	if _, err := otel.NewProducer(nil); err == nil {
		t.Error("a nil client is accepted")
	}
	if _, err := otel.NewSpans(nil); err == nil {
		t.Error("a nil provider is accepted")
	}
}
