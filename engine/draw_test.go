package engine

import (
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/events"
)

func TestMermaid(t *testing.T) {
	c := workerTable()
	c.Composites = []Composite{{"BUSY", []State{asking, holding, pausing}}}
	want(t, "mermaid", Describe(MustCompile(c)).Mermaid(), `stateDiagram-v2
    state "BUSY" as composite1 {
        asking
        holding
        pausing
    }
    ready
    over
    [*] --> ready
    ready --> asking : command.start
    ready --> over : command.close
    asking --> ready : connection.lost
    asking --> holding : reply.create [made]
    asking --> pausing : reply.create<br/>timer.fired
    asking --> over : command.close
    holding --> ready : connection.lost
    holding --> over : command.close
    pausing --> ready : connection.lost
    pausing --> asking : timer.fired
    pausing --> over : command.close
    over --> [*]
    classDef happy fill:#d3f2dc,stroke:#1a7f37,stroke-width:3px,color:#0b3d1b
    class ready, asking, holding, over happy
`)
}

func TestDOT(t *testing.T) {
	d := Describe(workerChart)
	d.Rows = append(d.Rows, RowDoc{From: []State{"one", "two", "three", "four"}, On: []events.Kind{"command.open"},
		Guard: `"odd"`, To: pausing})
	d.States = append(d.States, StateDoc{Name: "one", Doc: `So "called".`}, StateDoc{Name: "two"},
		StateDoc{Name: "three"}, StateDoc{Name: "four"})
	got := d.DOT()
	for _, line := range []string{
		`"ready" -> "asking" [label="command.start", color="#1a7f37", penwidth=2.5, weight=20];`,
		`"holding" -> "over" [label="command.close", color="#1a7f37", penwidth=2.5, weight=20];`,
		`"over" [tooltip="Over.", fillcolor="#d3f2dc", color="#1a7f37", penwidth=2.5, group=happy, peripheries=2];`,
		`"one" [tooltip="So \"called\"."`,
		`label="from 5 states:\ncommand.open [\"odd\"]\nreply.create\ntimer.fired"];`,
		`shared_1 -> "pausing" [style=dashed];`,
	} {
		if !strings.Contains(got, line) {
			t.Errorf("%q is not in the drawing:\n%s", line, got)
		}
	}
	if strings.Count(got, "{") != strings.Count(got, "}") {
		t.Error("the braces do not match")
	}
}

// Arrows that many states share are drawn once, and each state keeps a way on.
func TestPictureDrawsSharedArrowsOnce(t *testing.T) {
	d := Description{Happy: []State{"a", "b"}}
	all := []State{"a", "b", "c", "d", "e", "f"}
	for _, s := range all {
		d.States = append(d.States, StateDoc{Name: s})
	}
	d.Rows = []RowDoc{
		{From: []State{"a"}, On: []events.Kind{"command.start"}, To: "b"},
		{From: all, On: []events.Kind{"connection.lost"}, To: "f"},
		{From: []State{"b", "c", "d"}, On: []events.Kind{"watch.deleted"}, Guard: "gone", To: "f"},
		{From: []State{"e"}, On: []events.Kind{"timer.fired"}, To: "f"},
		{From: []State{"a", "b"}, On: []events.Kind{"timer.fired"}, To: "c"},
		{From: []State{"c"}, On: []events.Kind{"timer.fired"}, To: "d"},
		{From: []State{"c"}, On: []events.Kind{"timer.fired"}, To: "e"},
		{From: all, On: []events.Kind{"work.returned"}, To: Stay},
	}
	p := d.Picture()
	want(t, "stays", p.Stays, 1)
	want(t, "shared arrows", len(p.Shared), 1)
	want(t, "sources", p.Shared[0].From, []State{"a", "b", "c"})
	want(t, "what most have in common comes first", p.Shared[0].Labels,
		[]string{"connection.lost", "watch.deleted [gone]"})
	for _, s := range []State{"d", "e"} {
		found := false
		for _, a := range p.Arrows {
			found = found || a.From[0] == s && a.To == "f"
		}
		if !found {
			t.Errorf("%s has no way on", s)
		}
	}
	want(t, "list", strings.SplitN(d.SharedList(), "\n", 4)[2], "- into **f** from a, b, c")
}

func TestBrief(t *testing.T) {
	for _, c := range []struct{ labels, brief string }{
		{"a.b", "a.b"},
		{"a.b [x]|a.b [y]", "a.b [x, y]"},
		{"a.b [x]|a.b [y]|a.b [z]|a.b [w]|a.b [v]", "a.b [x, y, z, …]"},
		{"a.b [x]|c.d|a.b", "a.b|c.d"},
		{"a.b [x]|a.bc", "a.b [x]|a.bc"},
		{"a|b|c", "a|b|c"},
		{"a|b|c|d|e", "a|b|… 3 more"},
	} {
		a := Arrow{Labels: strings.Split(c.labels, "|")}
		want(t, c.labels, strings.Join(a.Brief(3), "|"), c.brief)
		want(t, "labels after Brief", strings.Join(a.Labels, "|"), c.labels)
	}
}

func TestTables(t *testing.T) {
	got := Describe(workerChart).Tables(map[string]string{"made": "a node | ours.", "note": "writes down."})
	for _, line := range []string{
		"| 1 | ready | `command.start` |  | asking | ask |",
		"| 3 | asking | `reply.create` | taken | *stays* | note |",
		"| 10 | holding | `watch.deleted` |  | *stays* | note |",
		"| `watch.deleted` | ready, asking, pausing | nothing is watched |",
		"| **ready** |  | Not asked. Where a machine begins. |",
		"| **over** |  | Over. Where a machine ends. |",
		`| made | a node \| ours. |`,
		"| note | writes down. |",
		"| dawdle | dawdle. |",
	} {
		if !strings.Contains(got, line+"\n") {
			t.Errorf("the tables lack %s", line)
		}
	}
	want(t, "spelled out", spelled("counterEndsSoon"), "counter ends soon")
}

func TestDraw(t *testing.T) {
	d := Describe(workerChart)
	for _, format := range Formats() {
		if got, err := Draw(d, format); err != nil || got == "" {
			t.Errorf("%s: %q, %v", format, got, err)
		}
	}
	if got, _ := Draw(d, "markdown"); !strings.Contains(got, "```mermaid\n"+d.Mermaid()+"```\n") {
		t.Error("the page has no picture")
	}
	if _, err := Draw(d, "gif"); err == nil ||
		err.Error() != `engine: no format "gif", want one of markdown, mermaid, dot, xstate` {
		t.Error(err)
	}
}
