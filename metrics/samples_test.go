package metrics_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/metrics"
)

// values returns the samples without buckets: their names and labels in one word, and their values.
func values(s incumbent.Stats, o metrics.Options, prefixes ...string) map[string]float64 {
	all := map[string]float64{}
	for _, one := range metrics.Of(s, o) {
		name := strings.Join(append([]string{strings.TrimPrefix(one.Name, "incumbent_")}, one.Labels...), " ")
		begins := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
		if one.Histogram == nil && (len(prefixes) == 0 || slices.ContainsFunc(prefixes, begins)) {
			all[name] = one.Value
		}
	}
	return all
}

func same(t *testing.T, what string, got, want map[string]float64) {
	t.Helper()
	if !maps.Equal(got, want) {
		t.Errorf("%s:\n%v\nwant\n%v", what, got, want)
	}
}

// A client is connected in two of its states.
func TestConnectedIsWhatTheStateSays(t *testing.T) {
	for state, want := range map[incumbent.ConnectionState]float64{
		incumbent.Connecting: 0, incumbent.Connected: 1, incumbent.Suspended: 0,
		incumbent.Reconnected: 1, incumbent.Lost: 0,
	} {
		got := values(incumbent.Stats{Connection: state}, metrics.Options{}, "connected")
		same(t, string(state), got, map[string]float64{"connected": want})
	}
}

// Each number of Stats has a sample of its own, and is in no other one.
func TestEachNumberHasItsOwnSample(t *testing.T) {
	s := incumbent.Stats{
		Granted: 2 * time.Second, Budget: 3 * time.Second, OtherHistories: 4,
		Attached: 5, Suspended: 6, Lost: 7, Refused: 8,
		Phases: []incumbent.PhaseStats{{Recipe: "latch", Phase: "leading", Count: 9}},
		Terms: []incumbent.TermStats{{Path: "/a", Recipe: "latch", Count: 10,
			Reason: incumbent.ReasonResigned}},
		HeartbeatsFailed: 11,
		Requests:         []incumbent.RequestStats{{Operation: "get", OK: 12, Refused: 13, Lost: 14}},
		Queues: []incumbent.QueueStats{{Path: "/q", Items: 15, Oldest: 16 * time.Second, Done: 17, Failed: 18,
			Withdrawn: 19}},
		Lanes: []incumbent.LaneStats{{Lane: "urgent", Waiting: 20, Pending: 21}},
		Inbox: 22, Pauses: 23, Paused: 24 * time.Second, Recording: incumbent.Recording{Bytes: 25, Dropped: 26},
		EventsDropped: 27, CallsDropped: 28, LinesDropped: 29, Version: "v", Go: "go",
	}
	same(t, "a client with all numbers", values(s, metrics.Options{}), map[string]float64{
		"connected": 0, "session_timeout_seconds": 2, "belief_budget_seconds": 3, "other_histories_total": 4,
		"connection_events_total attached": 5, "connection_events_total suspended": 6,
		"connection_events_total lost":    7,
		"connection_events_total refused": 8, "handles latch leading": 9, "terms_ended_total /a latch resigned": 10,
		"heartbeats_failed_total": 11,
		"requests_total get ok":   12, "requests_total get refused": 13, "requests_total get lost": 14,
		"queue_items /q": 15, "queue_oldest_item_age_seconds /q": 16, "queue_deliveries_total /q done": 17,
		"queue_deliveries_total /q failed": 18, "queue_deliveries_total /q withdrawn": 19,
		"requests_waiting urgent": 20,
		"requests_pending urgent": 21, "inbox_events": 22, "process_pauses_total": 23,
		"process_paused_seconds_total": 24,
		"recorder_bytes_total":         25, "recorder_dropped_total": 26, "observer_dropped_total": 27,
		"calls_dropped_total": 28,
		"log_dropped_total":   29, "build_info v go": 1, "paths_capped": 0,
	})
}

// A member of shards has how many it owns, and leads nothing: many do that at a time.
func TestOwnedShards(t *testing.T) {
	s := incumbent.Stats{Handles: []incumbent.HandleStats{
		{Path: "/a", Recipe: "shards", ID: "1", Owned: 3, Draining: 2 * time.Second},
		{Path: "/a", Recipe: "shards", ID: "2", Owned: 4, Draining: time.Second},
		{Path: "/b", Recipe: "shards", ID: "1"},
	}}
	got := values(s, metrics.Options{MasterStatus: true}, "lead", "token", "draining", "term_began", "shards")
	same(t, "three members", got,
		map[string]float64{"draining_seconds /a shards": 2, "shards_owned /a": 7, "draining_seconds /b shards": 0,
			"shards_owned /b": 0})
}

// Participants of one path and recipe are one line: it leads if one of them does, and has the leader's token and begin,
// and the longest time in which work goes on. Other recipes on the path are lines of their own, and locks are none.
func TestHandlesOfOneLineAreShownTogether(t *testing.T) {
	began := time.UnixMilli(1_700_000_000_500)
	leader := incumbent.HandleStats{Path: "/a", Recipe: "latch", Leads: true, Token: 7, Began: began}
	waits := incumbent.HandleStats{Path: "/a", Recipe: "latch", Token: 9, Draining: 3 * time.Second}
	drains := incumbent.HandleStats{Path: "/a", Recipe: "latch", Draining: 2 * time.Second}
	lock := incumbent.HandleStats{Path: "/a", Recipe: "mutex", Holds: true, Leads: true, Token: 99}
	other := incumbent.HandleStats{Path: "/a", Recipe: "selector"}
	want := map[string]float64{
		"leading /a latch": 1, "token /a latch": 7, "draining_seconds /a latch": 3,
		"term_began_timestamp_seconds /a latch": 1_700_000_000.5,
		"leading /a selector":                   0, "token /a selector": 0, "draining_seconds /a selector": 0,
		"term_began_timestamp_seconds /a selector": 0,
		"leader_election_master_status /a":         1, "paths_capped": 0,
	}
	for i, handles := range [][]incumbent.HandleStats{
		{leader, waits, drains, lock, other}, {other, lock, drains, waits, leader},
		{waits, leader, other, drains, lock},
	} {
		got := values(incumbent.Stats{Handles: handles}, metrics.Options{MasterStatus: true},
			"lead", "token", "draining", "term_", "paths")
		same(t, fmt.Sprint("order ", i), got, want)
	}
	nobody := incumbent.Stats{Handles: []incumbent.HandleStats{other}}
	alone := values(nobody, metrics.Options{MasterStatus: true}, "lead")
	same(t, "nobody leads", alone, map[string]float64{"leading /a selector": 0, "leader_election_master_status /a": 0})
	unasked := values(nobody, metrics.Options{}, "leader_")
	if len(unasked) != 0 {
		t.Errorf("nobody asked for %v", unasked)
	}
}

// Each path has one master status, whatever the order of its recipes.
func TestAPathHasOneMasterStatus(t *testing.T) {
	s := incumbent.Stats{Handles: []incumbent.HandleStats{
		{Path: "/a", Recipe: "latch"}, {Path: "/b", Recipe: "latch", Leads: true},
		{Path: "/a", Recipe: "selector", Leads: true}, {Path: "/b", Recipe: "selector"},
	}}
	counts := map[string]int{}
	for _, one := range metrics.Of(s, metrics.Options{MasterStatus: true}) {
		if one.Name == metrics.MasterStatus {
			counts[fmt.Sprint(one.Labels[0], " ", one.Value)]++
		}
	}
	if !maps.Equal(counts, map[string]int{"/a 1": 1, "/b 1": 1}) {
		t.Errorf("%v", counts)
	}
}

// As many paths as the cap are labels, by default 1000: a path that is known stays one when others are beyond it.
func TestTheCapOfPaths(t *testing.T) {
	s := incumbent.Stats{}
	for n := range 1001 {
		s.Handles = append(s.Handles, incumbent.HandleStats{Path: fmt.Sprintf("/%04d", n), Recipe: "latch"})
	}
	s.Handles = append(s.Handles, incumbent.HandleStats{Path: "/0000", Recipe: "selector"})
	for most, want := range map[int]int{-1: 1000, 0: 1000, 1: 1, 1000: 1000, 1001: 1001, 2000: 1001} {
		got := values(s, metrics.Options{MaxPaths: most}, "leading", "paths_capped")
		_, last := got[fmt.Sprintf("leading /%04d latch", want-1)]
		_, known := got["leading /0000 selector"]
		_, other := got["leading other latch"]
		samples := want + len([]string{"leading /0000 selector", "paths_capped"})
		if want < 1001 {
			samples++ // "other"
		}
		if !last || !known || other != (want < 1001) || (got["paths_capped"] == 1) != other || len(got) != samples {
			t.Errorf("at most %d: %d samples, other: %t, the known path: %t, capped: %v",
				most, len(got), other, known, got["paths_capped"])
		}
	}
}
