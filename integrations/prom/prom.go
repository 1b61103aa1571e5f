// Package prom shows the Stats of a client to Prometheus: package metrics has the families. It may change in any
// release.
package prom

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/metrics"
)

// Options are the options of a Collector. The zero value is good.
type Options struct {
	// Client is the constant label client: Config.Name, if there are several clients in one process.
	Client string
	// MaxPaths is how many paths of present participants are labels: by default, 1000. Counters of terms and
	// of queues have at most 1000 in any case.
	MaxPaths int
	// MasterStatus adds leader_election_master_status, which dashboards of Kubernetes' client-go use: the
	// label name is the path.
	MasterStatus bool
}

// Collector reads Stats at each scrape. Between scrapes it does nothing.
type Collector struct {
	client  *incumbent.Client
	options Options
	descs   map[string]*prometheus.Desc
	kinds   map[string]prometheus.ValueType
}

// New returns a collector of a client. Register it with a prometheus.Registerer.
func New(c *incumbent.Client, o Options) (*Collector, error) {
	switch {
	case c == nil:
		return nil, errors.New("prom: the client is nil: pass the one that incumbent.Open returned")
	case o.MaxPaths < 0:
		return nil, errors.New("prom: Options.MaxPaths must not be below zero")
	case o.MaxPaths == 0:
		o.MaxPaths = 1000
	}
	constant := prometheus.Labels{}
	if o.Client != "" {
		constant["client"] = o.Client
	}
	p := &Collector{client: c, options: o, descs: map[string]*prometheus.Desc{},
		kinds: map[string]prometheus.ValueType{}}
	for _, m := range metrics.Families() {
		p.descs[m.Name] = prometheus.NewDesc(m.Name, m.Help, m.Labels, constant)
		p.kinds[m.Name] = prometheus.GaugeValue
		if m.Kind == metrics.Counter {
			p.kinds[m.Name] = prometheus.CounterValue
		}
	}
	return p, nil
}

// Describe is prometheus.Collector's.
func (p *Collector) Describe(ch chan<- *prometheus.Desc) {
	for _, m := range metrics.Families() {
		if m.Name != metrics.MasterStatus || p.options.MasterStatus {
			ch <- p.descs[m.Name]
		}
	}
}

// Collect is prometheus.Collector's.
func (p *Collector) Collect(ch chan<- prometheus.Metric) {
	for _, s := range metrics.Of(p.client.Stats(),
		metrics.Options{MaxPaths: p.options.MaxPaths, MasterStatus: p.options.MasterStatus}) {
		if s.Histogram != nil {
			ch <- histogram(p.descs[s.Name], s)
		} else {
			ch <- prometheus.MustNewConstMetric(p.descs[s.Name], p.kinds[s.Name], s.Value, s.Labels...)
		}
	}
}

func histogram(desc *prometheus.Desc, s metrics.Sample) prometheus.Metric {
	buckets, total := map[float64]uint64{}, uint64(0)
	for i, n := range s.Histogram.Counts {
		if total += n; i < len(s.Histogram.Bounds) {
			buckets[s.Histogram.Bounds[i]] = total
		}
	}
	return prometheus.MustNewConstHistogram(desc, total, s.Histogram.Sum, buckets, s.Labels...)
}
