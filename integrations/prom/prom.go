// Package prom shows the Stats of a client to Prometheus. It may change in any release.
//
// No label takes a value from nodes or sessions. The label path is only on lines that this client has
// participants in, and on its queues: at most 1000 of each, and then "other".
package prom

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/incumbent-go/incumbent"
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
	p := &Collector{client: c, options: o, descs: map[string]*prometheus.Desc{}}
	for _, m := range Metrics() {
		p.descs[m.Name] = prometheus.NewDesc(m.Name, m.Help, m.Labels, constant)
	}
	return p, nil
}

// Describe is prometheus.Collector's.
func (p *Collector) Describe(ch chan<- *prometheus.Desc) {
	for _, m := range Metrics() {
		if m.Name != masterStatus || p.options.MasterStatus {
			ch <- p.descs[m.Name]
		}
	}
}

// Collect is prometheus.Collector's.
func (p *Collector) Collect(ch chan<- prometheus.Metric) {
	s, out := p.client.Stats(), scrape{p, ch}
	out.connection(s)
	out.handles(s)
	out.terms(s)
	for _, h := range s.Heartbeats {
		out.histogram("heartbeat_duration_seconds", h.Took, h.Strength)
	}
	for _, r := range s.Requests {
		out.histogram("request_duration_seconds", r.Took, r.Operation)
		out.counter("requests_total", r.OK, r.Operation, "ok")
		out.counter("requests_total", r.Refused, r.Operation, "refused")
		out.counter("requests_total", r.Lost, r.Operation, "lost")
	}
	for _, q := range s.Queues {
		out.gauge("queue_items", float64(q.Items), q.Path)
		out.gauge("queue_oldest_item_age_seconds", q.Oldest.Seconds(), q.Path)
		out.counter("queue_deliveries_total", q.Done, q.Path, "done")
		out.counter("queue_deliveries_total", q.Failed, q.Path, "failed")
		out.counter("queue_deliveries_total", q.Withdrawn, q.Path, "withdrawn")
		out.histogram("queue_handler_duration_seconds", q.Took, q.Path)
	}
	out.counter("heartbeats_failed_total", s.HeartbeatsFailed)
	out.histogram("belief_margin_ratio", s.Margin)
	out.gauge("inbox_events", float64(s.Inbox))
	out.counter("process_pauses_total", s.Pauses)
	out.send("process_paused_seconds_total", prometheus.CounterValue, s.Paused.Seconds())
	out.counter("recorder_bytes_total", s.Recording.Bytes)
	out.counter("recorder_dropped_total", s.Recording.Dropped)
	out.counter("observer_dropped_total", s.EventsDropped)
	out.gauge("build_info", 1, s.Version, s.Go)
}

// scrape is one scrape's output.
type scrape struct {
	*Collector
	ch chan<- prometheus.Metric
}

func (s scrape) connection(st incumbent.Stats) {
	up := st.Connection == incumbent.Connected || st.Connection == incumbent.Reconnected
	s.gauge("connected", one(up))
	s.gauge("session_timeout_seconds", st.Granted.Seconds())
	s.gauge("belief_budget_seconds", st.Budget.Seconds())
	for event, n := range map[string]uint64{"attached": st.Attached, "suspended": st.Suspended, "lost": st.Lost, "refused": st.Refused} {
		s.counter("connection_events_total", n, event)
	}
}

// line is a path and a recipe: handles of one line are shown together.
type line struct{ path, recipe string }

func (s scrape) handles(st incumbent.Stats) {
	for _, p := range st.Phases {
		s.gauge("handles", float64(p.Count), p.Recipe, p.Phase)
	}
	type sum struct {
		leads    bool
		token    int64
		began    time.Time
		draining time.Duration
	}
	sums, paths, leaders, capped := map[line]sum{}, map[string]bool{}, map[string]bool{}, false
	for _, h := range st.Handles {
		if h.Holds {
			continue
		}
		if path := h.Path; !paths[path] && len(paths) >= s.options.MaxPaths {
			h.Path, capped = "other", true
		} else {
			paths[path] = true
		}
		at := sums[line{h.Path, h.Recipe}]
		at.leads, at.draining = at.leads || h.Leads, max(at.draining, h.Draining)
		if h.Leads {
			at.token, at.began = max(at.token, h.Token), h.Began
		}
		sums[line{h.Path, h.Recipe}] = at
	}
	for l, at := range sums {
		s.gauge("leading", one(at.leads), l.path, l.recipe)
		s.gauge("token", float64(at.token), l.path, l.recipe)
		s.gauge("draining_seconds", at.draining.Seconds(), l.path, l.recipe)
		began := 0.0
		if !at.began.IsZero() {
			began = float64(at.began.UnixMilli()) / 1000
		}
		s.gauge("term_began_timestamp_seconds", began, l.path, l.recipe)
		leaders[l.path] = leaders[l.path] || at.leads
	}
	if s.options.MasterStatus {
		for path, leads := range leaders {
			s.ch <- prometheus.MustNewConstMetric(s.descs[masterStatus], prometheus.GaugeValue, one(leads), path)
		}
	}
	s.gauge("paths_capped", one(capped))
}

func (s scrape) terms(st incumbent.Stats) {
	for _, t := range st.Terms {
		s.counter("terms_ended_total", t.Count, t.Path, t.Recipe, string(t.Reason))
	}
	for _, r := range st.Recipes {
		s.histogram("term_duration_seconds", r.Led, r.Recipe)
		s.histogram("takeover_duration_seconds", r.Takeover, r.Recipe)
	}
}

func (s scrape) gauge(name string, v float64, labels ...string) {
	s.send(name, prometheus.GaugeValue, v, labels...)
}

func (s scrape) counter(name string, v uint64, labels ...string) {
	s.send(name, prometheus.CounterValue, float64(v), labels...)
}

func (s scrape) send(name string, kind prometheus.ValueType, v float64, labels ...string) {
	s.ch <- prometheus.MustNewConstMetric(s.descs["incumbent_"+name], kind, v, labels...)
}

func (s scrape) histogram(name string, h incumbent.Histogram, labels ...string) {
	buckets, total := map[float64]uint64{}, uint64(0)
	for i, n := range h.Counts {
		if total += n; i < len(h.Bounds) {
			buckets[h.Bounds[i]] = total
		}
	}
	s.ch <- prometheus.MustNewConstHistogram(s.descs["incumbent_"+name], total, h.Sum, buckets, labels...)
}

func one(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
