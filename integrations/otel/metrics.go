package otel

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/metrics"
)

// producer reads Stats at each collection.
type producer struct {
	client *incumbent.Client
	start  time.Time
}

// NewProducer returns a producer of a client's metrics, for metric.WithProducer. The error says that there
// is no client.
func NewProducer(c *incumbent.Client) (metric.Producer, error) {
	if c == nil {
		return nil, errors.New("otel: the client is nil: pass the one that incumbent.Open returned")
	}
	return &producer{c, time.Now()}, nil
}

// Produce is metric.Producer's.
func (p *producer) Produce(context.Context) ([]metricdata.ScopeMetrics, error) {
	s, b := p.client.Stats(), batch{start: p.start, now: time.Now()}
	up := s.Connection == incumbent.Connected || s.Connection == incumbent.Reconnected
	b.gauge("incumbent.connected", "1", point{v: flag(up)})
	b.gauge("incumbent.belief.budget", "s", point{v: s.Budget.Seconds()})
	var leading, draining, ended []point
	// Participants of one line are one point, and lines have as many names as for Prometheus.
	for _, one := range metrics.Of(incumbent.Stats{Handles: s.Handles}, metrics.Options{}) {
		switch one.Name {
		case "incumbent_leading":
			leading = append(leading, point{one.Value, line(one)})
		case "incumbent_draining_seconds":
			draining = append(draining, point{one.Value, line(one)})
		}
	}
	for _, t := range s.Terms {
		ended = append(ended, point{float64(t.Count), []attribute.KeyValue{attribute.String("incumbent.path", t.Path),
			attribute.String("incumbent.recipe", t.Recipe), attribute.String("incumbent.reason", string(t.Reason))}})
	}
	b.gauge("incumbent.leading", "1", leading...)
	b.gauge("incumbent.draining", "s", draining...)
	b.counter("incumbent.terms.ended", "{term}", ended...)
	for _, h := range s.Heartbeats {
		b.histogram("incumbent.heartbeat.duration", "s", h.Took, attribute.String("incumbent.strength", h.Strength))
	}
	b.histogram("incumbent.belief.margin", "1", s.Margin)
	for _, r := range s.Requests {
		b.histogram("db.client.operation.duration", "s", r.Took, attribute.String("db.system.name", "zookeeper"),
			attribute.String("db.operation.name", r.Operation))
	}
	b.counter("incumbent.heartbeats.failed", "{heartbeat}", point{v: float64(s.HeartbeatsFailed)})
	b.counter("incumbent.process.paused", "s", point{v: s.Paused.Seconds()})
	return []metricdata.ScopeMetrics{{Scope: instrumentation.Scope{Name: scope}, Metrics: b.metrics}}, nil
}

// line returns the attributes of a sample with a path and a recipe.
func line(s metrics.Sample) []attribute.KeyValue {
	return []attribute.KeyValue{attribute.String("incumbent.path", s.Labels[0]),
		attribute.String("incumbent.recipe", s.Labels[1])}
}

// point is a value with its attributes.
type point struct {
	v          float64
	attributes []attribute.KeyValue
}

// batch is one collection's output.
type batch struct {
	start, now time.Time
	metrics    []metricdata.Metrics
}

func (b *batch) points(points []point) (all []metricdata.DataPoint[float64]) {
	for _, p := range points {
		all = append(all, metricdata.DataPoint[float64]{Attributes: attribute.NewSet(p.attributes...),
			StartTime: b.start, Time: b.now, Value: p.v})
	}
	return all
}

func (b *batch) gauge(name, unit string, points ...point) {
	if len(points) > 0 {
		b.metrics = append(b.metrics,
			metricdata.Metrics{Name: name, Unit: unit, Data: metricdata.Gauge[float64]{DataPoints: b.points(points)}})
	}
}

func (b *batch) counter(name, unit string, points ...point) {
	if len(points) > 0 {
		b.metrics = append(b.metrics, metricdata.Metrics{Name: name, Unit: unit,
			Data: metricdata.Sum[float64]{Temporality: metricdata.CumulativeTemporality, IsMonotonic: true,
				DataPoints: b.points(points)}})
	}
}

// histogram adds a point to the metric of this name, which may be there already.
func (b *batch) histogram(name, unit string, h incumbent.Histogram, attributes ...attribute.KeyValue) {
	one := metricdata.HistogramDataPoint[float64]{Attributes: attribute.NewSet(attributes...), StartTime: b.start,
		Time: b.now, Count: h.Count(), Sum: h.Sum, Bounds: h.Bounds, BucketCounts: h.Counts}
	if n := len(b.metrics); n > 0 && b.metrics[n-1].Name == name {
		data := b.metrics[n-1].Data.(metricdata.Histogram[float64])
		data.DataPoints = append(data.DataPoints, one)
		b.metrics[n-1].Data = data
		return
	}
	b.metrics = append(b.metrics, metricdata.Metrics{Name: name, Unit: unit,
		Data: metricdata.Histogram[float64]{Temporality: metricdata.CumulativeTemporality,
			DataPoints: []metricdata.HistogramDataPoint[float64]{one}}})
}

func flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
