package prom_test

// query is one expression of a panel. In it, LINE stands for the selector of one line's series, and PROCESS
// for that of a process.
type query struct{ legend, expr string }

// panel is a panel of the dashboard: a row's title if it has no queries.
type panel struct {
	kind, title, unit string // of Grafana
	width             int    // of 24
	about             string // what it shows, and what is right
	queries           []query
}

const (
	leaders = `sum by (job, path) (incumbent_leading{LINE,path!="other"})`
	// nobodyFor is since when no process of a line was seen to lead: its last leader in an hour, or its first scrape.
	nobodyFor = `(time() - (max by (job, path) (max_over_time(((incumbent_leading{LINE,path!="other"} == 1) * ` +
		`time())[1h:5s])) ` +
		`or min by (job, path) (min_over_time((incumbent_leading{LINE,path!="other"} * 0 + time())[1h:5s])))) ` +
		`* on (job, path) (` + leaders + ` == bool 0)`
)

// panels are the dashboard's, from left to right and from top to bottom.
var panels = []panel{
	{kind: "row", title: "Now"},
	{"stat", "Leaders now", "none", 12, "How many processes believe that they lead, for each line. One is right.",
		[]query{{"{{path}}", leaders}}},
	{"stat", "Nobody for", "s", 12, "How long no process of the line has led; 0 if one leads. It looks back one hour.",
		[]query{{"{{path}}", nobodyFor}}},
	{kind: "row", title: "Who led, and when"},
	{"state-timeline", "Leaders of each line", "none", 24, "Nobody, one or two. Scrapes are not simultaneous: a " +
		"planned hand-over may show nobody or two for one interval.",
		[]query{{"{{path}}", leaders}}},
	{"state-timeline", "Who leads", "none", 24, "Each process in line. Its bar has a gap when it did not lead.",
		[]query{{"{{path}} {{instance}}", `incumbent_leading{LINE}`}}},
	{"timeseries", "Ends of terms, by reason", "none", 12, "docs/on-call.md says what each reason means. Planned: " +
		"closed, resigned, returned, revoked.",
		[]query{{"{{path}} {{reason}}", `sum by (path, reason) (increase(incumbent_terms_ended_total{LINE}[15m]))`}}},
	{"timeseries", "Takeover: 99 of 100 take less", "s", 12, "From the deletion of the node ahead to the next term.",
		[]query{{"{{recipe}}", `histogram_quantile(0.99, sum by (recipe, le) ` +
			`(rate(incumbent_takeover_duration_seconds_bucket{PROCESS}[1h])))`}}},
	{"timeseries", "Work after its term", "s", 12, "Work that goes on after its term ended. Nobody else leads " +
		"before it returns, unless the session expires.",
		[]query{{"{{path}} {{instance}}", `incumbent_draining_seconds{LINE}`}}},
	{"timeseries", "This process did not run", "s", 12, "Seconds of 15 minutes in which the process was stopped, " +
		"throttled or suspended. Only a token protects stores from it.",
		[]query{{"{{instance}}", `increase(incumbent_process_paused_seconds_total{PROCESS}[15m])`}}},
	{kind: "row", title: "Belief and connection"},
	{"timeseries", "Margin of belief: the lowest of 20", "percentunit", 12,
		"One heartbeat in 20 came back with less than this share of the budget left. About a half is usual; below " +
			"a quarter is too little.",
		[]query{{"{{instance}}", `histogram_quantile(0.05, sum by (instance, le) ` +
			`(rate(incumbent_belief_margin_ratio_bucket{PROCESS}[10m])))`}}},
	{"timeseries", "Heartbeats: 99 of 100 take less", "s", 12, "What the ensemble needs to confirm leadership.",
		[]query{{"{{instance}} {{strength}}", `histogram_quantile(0.99, sum by (instance, strength, le) ` +
			`(rate(incumbent_heartbeat_duration_seconds_bucket{PROCESS}[10m])))`}}},
	{"timeseries", "Heartbeats that confirmed nothing", "none", 12, "Failed heartbeats of 15 minutes.",
		[]query{{"{{instance}}", `sum by (instance) (increase(incumbent_heartbeats_failed_total{PROCESS}[15m]))`}}},
	{"timeseries", "Belief and session timeout", "s", 12, "How long belief lasts without a confirmation, and the " +
		"timeout that the ensemble granted. Nobody can lead with a belief of 0 or less.",
		[]query{{"{{instance}} belief", `incumbent_belief_budget_seconds{PROCESS}`}, {"{{instance}} timeout",
			`incumbent_session_timeout_seconds{PROCESS}`}}},
	{"state-timeline", "Connected", "none", 12, "Whether a server has confirmed the session of the process.",
		[]query{{"{{instance}}", `incumbent_connected{PROCESS}`}}},
	{"timeseries", "Events of the connection", "none", 12, "Events of 15 minutes.",
		[]query{{"{{instance}} {{event}}", `sum by (instance, event) ` +
			`(increase(incumbent_connection_events_total{PROCESS}[15m]))`}}},
	{kind: "row", title: "Requests, queues, losses"},
	{"timeseries", "Requests, by result", "reqps", 12, "refused includes what is usual, such as a missing node; " +
		"lost had no reply.",
		[]query{{"{{operation}} {{result}}", `sum by (operation, result) ` +
			`(rate(incumbent_requests_total{PROCESS}[5m]))`}}},
	{"timeseries", "Requests: 99 of 100 take less", "s", 12, "From the sending of a request to its reply.",
		[]query{{"{{operation}}", `histogram_quantile(0.99, sum by (operation, le) ` +
			`(rate(incumbent_request_duration_seconds_bucket{PROCESS}[5m])))`}}},
	{"timeseries", "Queues: items", "none", 12, "Items of the last listing that are not done.",
		[]query{{"{{path}}", `max by (path) (incumbent_queue_items{QUEUE})`}}},
	{"timeseries", "Queues: age of the oldest item", "s", 12, "Since a process first saw the oldest item.",
		[]query{{"{{path}}", `max by (path) (incumbent_queue_oldest_item_age_seconds{QUEUE})`}}},
	{"timeseries", "Queues: deliveries", "ops", 12, "Items that were handed to the handler, by result.",
		[]query{{"{{path}} {{result}}", `sum by (path, result) (rate(incumbent_queue_deliveries_total{QUEUE}[5m]))`}}},
	{"timeseries", "Dropped", "none", 12, "What was too much for the log, observers, listeners or the logger. 0 is " +
		"right.",
		[]query{{"{{instance}} records", `incumbent_recorder_dropped_total{PROCESS}`}, {"{{instance}} events",
			`incumbent_observer_dropped_total{PROCESS}`},
			{"{{instance}} calls", `incumbent_calls_dropped_total{PROCESS}`}, {"{{instance}} log lines",
				`incumbent_log_dropped_total{PROCESS}`}}},
}
