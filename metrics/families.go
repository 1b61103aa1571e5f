// Package metrics has what Client.Stats counts as families of metrics, and writes them in Prometheus's text
// format. It needs no library of Prometheus; integrations/prom hands the same families to one. It may change in any
// release.
//
// No label takes a value from nodes or sessions. The label path is only on lines that the client has
// participants in, and on its queues: at most 1000 of each, and then "other".
package metrics

import "github.com/incumbent-go/incumbent"

// Kind is a kind of metric, as Prometheus names it.
type Kind string

// The kinds.
const (
	Gauge     Kind = "gauge"
	Counter   Kind = "counter"
	Histogram Kind = "histogram"
)

// Family is all metrics of one name.
type Family struct {
	Name   string
	Kind   Kind
	Help   string // a sentence for operators
	Labels []string
}

// Sample is one metric: a gauge or counter with a Value, or a histogram.
type Sample struct {
	Name      string // of its Family
	Labels    []string
	Value     float64
	Histogram *incumbent.Histogram // nil unless it is one
}

// MasterStatus is the family that Options.MasterStatus adds.
const MasterStatus = "leader_election_master_status"

// Families returns all families that Of returns samples of: what dashboards and alerts may name.
func Families() []Family {
	of := func(name string, kind Kind, help string, labels ...string) Family {
		return Family{"incumbent_" + name, kind, help, labels}
	}
	return []Family{
		of("leading", Gauge, "Whether this process believes at the scrape that it leads.", "path", "recipe"),
		of("token", Gauge, "The token of the present term, 0 without one.", "path", "recipe"),
		of("term_began_timestamp_seconds", Gauge, "When the present term began, 0 without one.", "path", "recipe"),
		of("draining_seconds", Gauge, "How long work goes on after its term.", "path", "recipe"),
		of("shards_owned", Gauge, "How many shards this process owns.", "path"),
		of("terms_ended_total", Counter, "Terms that ended, by reason; locks have no path.", "path",
			"recipe", "reason"),
		of("term_duration_seconds", Histogram, "How long terms lasted.", "recipe"),
		of("takeover_duration_seconds", Histogram, "From the deletion of the node ahead to the term.", "recipe"),
		of("handles", Gauge, "Handles by state.", "recipe", "phase"),
		of("paths_capped", Gauge, "Whether there are more paths than labels: the rest has the path other."),
		of("connected", Gauge, "Whether a server has confirmed the session and is connected."),
		of("session_timeout_seconds", Gauge, "The session timeout that the ensemble granted."),
		of("belief_budget_seconds", Gauge, "How long belief lasts without a confirmation; nobody can lead below 0."),
		of("connection_events_total", Counter, "What happened to the connection.", "event"),
		of("heartbeat_duration_seconds", Histogram, "From the sending of a heartbeat to its answer.", "strength"),
		of("heartbeats_failed_total", Counter, "Heartbeats that confirmed nothing."),
		of("belief_margin_ratio", Histogram, "The share of the budget that was left when a heartbeat was answered."),
		of("request_duration_seconds", Histogram, "From the sending of a request to its answer.", "operation"),
		of("requests_total", Counter, "Requests by result; refused includes what is usual, as a missing node.",
			"operation", "result"),
		of("requests_waiting", Gauge, "Requests that wait to be sent.", "lane"),
		of("requests_pending", Gauge, "Requests that were sent and have no answer yet.", "lane"),
		of("other_histories_total", Counter,
			"Sessions that began with a lower zxid than was seen before: another ensemble, or a restored one."),
		of("inbox_events", Gauge, "Events that wait for the loop."),
		of("loop_lag_seconds", Histogram, "How long the first event of each batch waited for the loop."),
		of("process_pauses_total", Counter, "Times in which this process did not run."),
		of("process_paused_seconds_total", Counter, "For how long this process did not run."),
		of("queue_items", Gauge, "Items of the last listing that are not done.", "path"),
		of("queue_oldest_item_age_seconds", Gauge, "Since this process first saw the oldest item.", "path"),
		of("queue_deliveries_total", Counter, "Items that were handed to the handler, by result.", "path", "result"),
		of("queue_handler_duration_seconds", Histogram, "How long the handler took.", "path"),
		of("recorder_bytes_total", Counter, "Bytes of the flight recorder's log."),
		of("recorder_dropped_total", Counter, "Records that are not in the log."),
		of("observer_dropped_total", Counter, "Events that Config.Observe was too slow for."),
		of("calls_dropped_total", Counter, "Calls that listeners, OnConnection and OnFailure were too slow for."),
		of("log_dropped_total", Counter, "Lines that Config.Logger was too slow for."),
		of("tls_certificate_expiry_seconds", Gauge, "Until the client's own certificate ends; below 0 it has ended."),
		of("build_info", Gauge, "The versions of the library and of Go; 1.", "version", "goversion"),
		{MasterStatus, Gauge, "Whether this process is the leader (1) or not (0).", []string{"name"}},
	}
}
