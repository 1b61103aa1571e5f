package engine

import (
	"slices"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/events"
)

// mergedTable is workerTable with two of its rows in one: those that note, in
// every state.
func mergedTable() Chart[worker] {
	c := workerTable()
	c.Rows[9] = Row[worker]{From: []State{holding}, On: On(events.WatchDeleted, events.ReplyStat), To: Stay,
		Do: (*worker).note}
	c.Rows[4].From = []State{asking}
	return c
}

// A row on several kinds is as many arrows, each with its own name in the log.
func TestARowOnSeveralKinds(t *testing.T) {
	c := MustCompile(mergedTable())
	d := Describe(c)
	want(t, "label", d.Rows[9].Label(), "watch.deleted, reply.stat")
	want(t, "labels", d.Rows[9].Labels(), []string{"watch.deleted", "reply.stat"})
	want(t, "rows by kind", len(d.ByKind()), len(d.Rows)+1)
	want(t, "one of them", d.ByKind()[10].Label(), "reply.stat")
	for _, kind := range d.Rows[9].On {
		model, out := &worker{}, &Outbox{pending: &pending{}}
		got := newStepper(c.compiled).step(model, holding, &events.Event{Kind: kind}, out)
		want(t, "row", got.Row, string(kind))
		want(t, "what ran", model.did, []string{"note"})
		if e := (Edge{holding, string(kind), holding}); !slices.Contains(c.Looplab(), e) ||
			!slices.Contains(d.Edges(), e) {
			t.Errorf("looplab or the description lacks %s", e)
		}
	}
}

// Fewer rows that say the same are the same chart to a log.
func TestTheDigestIsOfWhatRowsDo(t *testing.T) {
	want(t, "digest of the merged table", MustCompile(mergedTable()).Digest(), workerChart.Digest())
	c := mergedTable()
	c.Rows[9].On = On(events.WatchDeleted)
	c.Rows[4].From = []State{asking, holding}
	c.Rows[4].From = []State{asking}
	if MustCompile(c).Digest() == workerChart.Digest() {
		t.Error("a kind was taken out of a row, and the digest is the same")
	}
}

func TestMustCompileRefusesTriggers(t *testing.T) {
	for says, on := range map[string]Trigger{
		"row 1 (in ready): has no On: name the kinds": {},
		"row 1 (command.start, command.start in ready): names command.start twice": On(
			events.CommandStart, events.CommandStart),
		"row 1 (command.start, at once in ready): is AtOnce, and about events: a choice gets no event": On(
			events.CommandStart, AtOnce),
		"row 1 (command.start, heartbeat.unneeded in ready): kind heartbeat.unneeded is not declared in Kinds": On(
			events.CommandStart, events.HeartbeatUnneeded),
	} {
		c := workerTable()
		c.Rows[0].On = on
		if got := refusal(func() { MustCompile(c) }); !strings.Contains(got, says) {
			t.Errorf("got  %s\nwant %s", got, says)
		}
	}
}
