package prom

// Metric is one family that a Collector exports.
type Metric struct {
	Name, Help string
	Labels     []string
}

const masterStatus = "leader_election_master_status"

// Metrics returns the families that a Collector exports: what dashboards and alerts may name.
func Metrics() []Metric {
	of := func(name, help string, labels ...string) Metric { return Metric{"incumbent_" + name, help, labels} }
	return []Metric{
		of("leading", "Whether this process believes at the scrape that it leads.", "path", "recipe"),
		of("token", "The token of the present term, 0 without one.", "path", "recipe"),
		of("term_began_timestamp_seconds", "When the present term began, 0 without one.", "path", "recipe"),
		of("draining_seconds", "How long work goes on after its term.", "path", "recipe"),
		of("terms_ended_total", "Terms that ended, by reason; locks have no path.", "path", "recipe", "reason"),
		of("term_duration_seconds", "How long terms lasted.", "recipe"),
		of("takeover_duration_seconds", "From the deletion of the node ahead to the term.", "recipe"),
		of("handles", "Handles by state.", "recipe", "phase"),
		of("paths_capped", "Whether there are more paths than labels: the rest has the path other."),
		of("connected", "Whether a server has confirmed the session and is connected."),
		of("session_timeout_seconds", "The session timeout that the ensemble granted."),
		of("belief_budget_seconds", "How long belief lasts without a confirmation; nobody can lead below 0."),
		of("connection_events_total", "What happened to the connection.", "event"),
		of("heartbeat_duration_seconds", "From the sending of a heartbeat to its answer.", "strength"),
		of("heartbeats_failed_total", "Heartbeats that confirmed nothing."),
		of("belief_margin_ratio", "The share of the budget that was left when a heartbeat was answered."),
		of("request_duration_seconds", "From the sending of a request to its answer.", "operation"),
		of("requests_total", "Requests by result; refused includes what is usual, as a missing node.", "operation", "result"),
		of("inbox_events", "Events that wait for the loop."),
		of("process_pauses_total", "Times in which this process did not run."),
		of("process_paused_seconds_total", "For how long this process did not run."),
		of("queue_items", "Items of the last listing that are not done.", "path"),
		of("queue_oldest_item_age_seconds", "Since this process first saw the oldest item.", "path"),
		of("queue_deliveries_total", "Items that were handed to the handler, by result.", "path", "result"),
		of("queue_handler_duration_seconds", "How long the handler took.", "path"),
		of("recorder_bytes_total", "Bytes of the flight recorder's log."),
		of("recorder_dropped_total", "Records that are not in the log."),
		of("observer_dropped_total", "Events that Config.Observe was too slow for."),
		of("build_info", "The versions of the library and of Go; 1.", "version", "goversion"),
		{masterStatus, "Whether this process is the leader (1) or not (0).", []string{"name"}},
	}
}
