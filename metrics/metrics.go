package metrics

import (
	"fmt"
	"hash/fnv"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
)

// Options are the options of Of. The zero value is good.
type Options struct {
	// MaxPaths is how many paths of present participants are labels: by default, 1000. Counters of terms and
	// of queues have at most 1000 in any case.
	MaxPaths int
	// MasterStatus adds leader_election_master_status, which dashboards of Kubernetes' client-go use: the
	// label name is the path.
	MasterStatus bool
}

// Of returns the samples of a client's Stats.
func Of(s incumbent.Stats, o Options) []Sample {
	if o.MaxPaths <= 0 {
		o.MaxPaths = 1000
	}
	b := &batch{options: o}
	b.connection(s)
	b.handles(s)
	b.terms(s)
	for _, h := range s.Heartbeats {
		b.histogram("heartbeat_duration_seconds", h.Took, h.Strength)
	}
	b.add("heartbeats_failed_total", float64(s.HeartbeatsFailed))
	b.histogram("belief_margin_ratio", s.Margin)
	b.requests(s)
	b.queues(s)
	b.add("other_histories_total", float64(s.OtherHistories))
	b.add("inbox_events", float64(s.Inbox))
	b.histogram("loop_lag_seconds", s.LoopLag)
	b.add("process_pauses_total", float64(s.Pauses))
	b.add("process_paused_seconds_total", s.Paused.Seconds())
	b.add("recorder_bytes_total", float64(s.Recording.Bytes))
	b.add("recorder_dropped_total", float64(s.Recording.Dropped))
	b.add("observer_dropped_total", float64(s.EventsDropped))
	b.add("calls_dropped_total", float64(s.CallsDropped))
	b.add("log_dropped_total", float64(s.LinesDropped))
	if !s.CertificateEnd.IsZero() {
		b.add("tls_certificate_expiry_seconds", time.Until(s.CertificateEnd).Seconds())
	}
	b.add("build_info", 1, s.Version, s.Go)
	return b.samples
}

// batch is the samples of one Stats.
type batch struct {
	options Options
	samples []Sample
}

func (b *batch) add(name string, v float64, labels ...string) {
	b.put(Sample{Name: "incumbent_" + name, Labels: labels, Value: v})
}

func (b *batch) histogram(name string, h incumbent.Histogram, labels ...string) {
	b.put(Sample{Name: "incumbent_" + name, Labels: labels, Histogram: &h})
}

// Label returns text that others may have written, such as a path, as a label's value: printable, and of about 1 KiB
// at most. What differs from the text has a number at its end, so that no two texts have the same label.
func Label(text string) string {
	shown := events.Foreign(text, events.MaxText)
	if shown == text {
		return text
	}
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(text)) // it cannot fail
	return fmt.Sprintf("%s~%016x", shown, sum.Sum64())
}

// put adds a sample.
func (b *batch) put(s Sample) {
	for i, v := range s.Labels {
		s.Labels[i] = Label(v)
	}
	b.samples = append(b.samples, s)
}

func (b *batch) connection(s incumbent.Stats) {
	up := s.Connection == incumbent.Connected || s.Connection == incumbent.Reconnected
	b.add("connected", one(up))
	b.add("session_timeout_seconds", s.Granted.Seconds())
	b.add("belief_budget_seconds", s.Budget.Seconds())
	b.add("connection_events_total", float64(s.Attached), "attached")
	b.add("connection_events_total", float64(s.Suspended), "suspended")
	b.add("connection_events_total", float64(s.Lost), "lost")
	b.add("connection_events_total", float64(s.Refused), "refused")
}

func (b *batch) requests(s incumbent.Stats) {
	for _, r := range s.Requests {
		b.histogram("request_duration_seconds", r.Took, r.Operation)
		b.add("requests_total", float64(r.OK), r.Operation, "ok")
		b.add("requests_total", float64(r.Refused), r.Operation, "refused")
		b.add("requests_total", float64(r.Lost), r.Operation, "lost")
	}
	for _, l := range s.Lanes {
		b.add("requests_waiting", float64(l.Waiting), l.Lane)
		b.add("requests_pending", float64(l.Pending), l.Lane)
	}
}

func (b *batch) queues(s incumbent.Stats) {
	for _, q := range s.Queues {
		b.add("queue_items", float64(q.Items), q.Path)
		b.add("queue_oldest_item_age_seconds", q.Oldest.Seconds(), q.Path)
		b.add("queue_deliveries_total", float64(q.Done), q.Path, "done")
		b.add("queue_deliveries_total", float64(q.Failed), q.Path, "failed")
		b.add("queue_deliveries_total", float64(q.Withdrawn), q.Path, "withdrawn")
		b.histogram("queue_handler_duration_seconds", q.Took, q.Path)
	}
}

func (b *batch) terms(s incumbent.Stats) {
	for _, t := range s.Terms {
		b.add("terms_ended_total", float64(t.Count), t.Path, t.Recipe, string(t.Reason))
	}
	for _, r := range s.Recipes {
		b.histogram("term_duration_seconds", r.Led, r.Recipe)
		b.histogram("takeover_duration_seconds", r.Takeover, r.Recipe)
	}
}

// line is a path and a recipe: handles of one line are shown together.
type line struct{ path, recipe string }

// lineSum is what is shown of a line.
type lineSum struct {
	leads    bool
	token    int64
	began    time.Time
	draining time.Duration
	owned    int
}

func (b *batch) handles(s incumbent.Stats) {
	for _, p := range s.Phases {
		b.add("handles", float64(p.Count), p.Recipe, p.Phase)
	}
	lines, sums, capped := b.sum(s.Handles)
	var paths []string
	leaders := map[string]bool{}
	for _, l := range lines {
		at := sums[l]
		b.add("draining_seconds", at.draining.Seconds(), l.path, l.recipe)
		if l.recipe == "shards" { // many own shards at a time
			b.add("shards_owned", float64(at.owned), l.path)
			continue
		}
		b.add("leading", one(at.leads), l.path, l.recipe)
		b.add("token", float64(at.token), l.path, l.recipe)
		began := 0.0
		if !at.began.IsZero() {
			began = float64(at.began.UnixMilli()) / 1000
		}
		b.add("term_began_timestamp_seconds", began, l.path, l.recipe)
		if _, known := leaders[l.path]; !known {
			paths = append(paths, l.path)
		}
		leaders[l.path] = leaders[l.path] || at.leads
	}
	if b.options.MasterStatus {
		for _, path := range paths {
			b.put(Sample{Name: MasterStatus, Labels: []string{path}, Value: one(leaders[path])})
		}
	}
	b.add("paths_capped", one(capped))
}

// sum returns the lines that participants are in, in the order of the handles, and what is shown of
// each. Locks are left out. Capped says that some lines share the path "other".
func (b *batch) sum(handles []incumbent.HandleStats) (lines []line, sums map[line]lineSum, capped bool) {
	sums, paths := map[line]lineSum{}, map[string]bool{}
	for _, h := range handles {
		if h.Holds {
			continue
		}
		if !paths[h.Path] && len(paths) >= b.options.MaxPaths {
			h.Path, capped = "other", true
		} else {
			paths[h.Path] = true
		}
		l := line{h.Path, h.Recipe}
		at, known := sums[l]
		if !known {
			lines = append(lines, l)
		}
		at.leads, at.draining, at.owned = at.leads || h.Leads, max(at.draining, h.Draining), at.owned+h.Owned
		if h.Leads {
			at.token, at.began = max(at.token, h.Token), h.Began
		}
		sums[l] = at
	}
	return lines, sums, capped
}

func one(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
