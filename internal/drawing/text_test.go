package drawing

import (
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/engine"
)

func TestMermaid(t *testing.T) {
	d := worker()
	d.Composites = []engine.Composite{{Name: "BUSY", States: states("asking holding pausing")}}
	want(t, "mermaid", Mermaid(d), `stateDiagram-v2
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
	d := worker()
	d.Rows = append(d.Rows, row("one two three four", "command.open", `"odd"`, "pausing", ""))
	d.States = append(d.States, engine.StateDoc{Name: "one", Doc: `So "called".`}, engine.StateDoc{Name: "two"},
		engine.StateDoc{Name: "three"}, engine.StateDoc{Name: "four"})
	got := DOT(d)
	mustHave(t, "the drawing", got,
		`"ready" -> "asking" [label="command.start", color="#1a7f37", penwidth=2.5, weight=20];`,
		`"holding" -> "over" [label="command.close", color="#1a7f37", penwidth=2.5, weight=20];`,
		`"over" [tooltip="Over.", fillcolor="#d3f2dc", color="#1a7f37", penwidth=2.5, group=happy, peripheries=2];`,
		`"one" [tooltip="So \"called\"."`,
		`label="from 5 states:\ncommand.open [\"odd\"]\nreply.create\ntimer.fired"];`,
		`shared_1 -> "pausing" [style=dashed];`)
	if strings.Count(got, "{") != strings.Count(got, "}") {
		t.Error("the braces do not match")
	}
}

// Arrows that many states share are drawn once, and each state keeps a way on.
func TestPictureDrawsSharedArrowsOnce(t *testing.T) {
	const all = "a b c d e f"
	d := engine.Description{Happy: states("a b")}
	for _, s := range states(all) {
		d.States = append(d.States, engine.StateDoc{Name: s})
	}
	d.Rows = []engine.RowDoc{
		row("a", "command.start", "", "b", ""),
		row(all, "connection.lost", "", "f", ""),
		row("b c d", "watch.deleted", "gone", "f", ""),
		row("e", "timer.fired", "", "f", ""),
		row("a b", "timer.fired", "", "c", ""),
		row("c", "timer.fired", "", "d", ""),
		row("c", "timer.fired", "", "e", ""),
		row(all, "work.returned", "", engine.Stay, ""),
	}
	p := PictureOf(d)
	want(t, "stays", p.Stays, 1)
	want(t, "shared arrows", len(p.Shared), 1)
	want(t, "sources", p.Shared[0].From, states("a b c"))
	want(t, "what most have in common comes first", p.Shared[0].Labels,
		[]string{"connection.lost", "watch.deleted [gone]"})
	for _, s := range states("d e") {
		found := false
		for _, a := range p.Arrows {
			found = found || a.From[0] == s && a.To == "f"
		}
		if !found {
			t.Errorf("%s has no way on", s)
		}
	}
	want(t, "list", strings.SplitN(SharedList(d), "\n", 4)[2], "- into **f** from a, b, c")
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

func TestMarkdownTables(t *testing.T) {
	d := worker()
	d.Composites = []engine.Composite{{Name: "BUSY", States: states("asking")}}
	got := MarkdownTables(d, map[string]string{"made": "a node | ours.", "note": "writes down."})
	mustHave(t, "the page", got,
		"| 1 | ready | `command.start` |  | asking | ask |\n",
		"| 3 | asking | `reply.create` | taken | *stays* | note |\n",
		"| 10 | holding | `watch.deleted` |  | *stays* | note |\n",
		"| `watch.deleted` | ready, asking, pausing | nothing is watched |\n",
		"| **ready** |  | Not asked. Where a machine begins. |\n",
		"| **asking** | BUSY | Asked. |\n",
		"| **over** |  | Over. Where a machine ends. |\n",
		`| made | a node \| ours. |`+"\n",
		"| note | writes down. |\n",
		"| dawdle | dawdle. |\n")
	want(t, "spelled out", spelled("counterEndsSoon"), "counter ends soon")
}

// The kinds of a row on several of them stand in one line, and on one arrow.
func TestARowOnSeveralKindsIsDrawnOnce(t *testing.T) {
	d := worker()
	d.Rows[7] = row("pausing", "timer.fired, reply.stat", "", "asking", "ask")
	d.Rows[9] = row("holding", "watch.deleted, reply.stat", "", engine.Stay, "note")
	mustHave(t, "Mermaid", Mermaid(d), "    pausing --> asking : timer.fired<br/>reply.stat\n")
	mustHave(t, "the page", MarkdownTables(d, nil),
		"| 10 | holding | `watch.deleted`, `reply.stat` |  | *stays* | note |\n")
}

// A choice is drawn as one, with the guards on the arrows that leave it.
func TestAChoiceIsDrawn(t *testing.T) {
	inside := chooser()
	inside.Composites = []engine.Composite{{Name: "BUSY", States: states("asking choosing")}}
	for what, d := range map[string]engine.Description{"in a composite": inside, "alone": chooser()} {
		mustHave(t, what+", Mermaid", Mermaid(d), "    state choosing <<choice>>\n",
			"    choosing --> pausing : [unlucky]\n", "    choosing --> asking : [taken]\n",
			"    choosing --> ready : else\n")
		mustHave(t, what+", the drawing", DOT(d),
			`"choosing" [tooltip="What comes next is decided at once.", shape=diamond, style=filled];`)
		mustHave(t, what+", the page", MarkdownTables(d, nil),
			"| 12 | choosing | `at once` | unlucky | pausing | dawdle |\n",
			"| 14 | choosing | `at once` |  | ready | note |\n",
			"| **choosing** | ", "What comes next is decided at once. A choice: no machine rests there. |\n")
	}
}

func TestMarkdown(t *testing.T) {
	mustHave(t, "the page", Markdown(worker()), "# worker\n\nA toy.\n\n```mermaid\n"+Mermaid(worker())+"```\n")
}
