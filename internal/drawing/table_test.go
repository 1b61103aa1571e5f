package drawing

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

func TestTable(t *testing.T) {
	d := engine.Description{Name: "door", Doc: "Opens.\n- And closes.",
		Kinds: []events.Kind{"command.start", "reply.create", "command.close"}, Final: "shut",
		States: []engine.StateDoc{{Name: "new", Doc: "Not asked."}, {Name: "choosing", Doc: "Never rests."},
			{Name: "shut", Doc: "Over."}},
		Composites: []engine.Composite{{Name: "OPEN", States: []engine.State{"new", "choosing"}}},
		Rows: []engine.RowDoc{
			{From: []engine.State{"new"}, On: []events.Kind{"command.close"}, To: "shut"},
			{From: []engine.State{"new"}, On: []events.Kind{"command.start"}, Guard: "ready", To: "choosing",
				Actions: []string{"begin", "ask"}},
			{From: []engine.State{"choosing", "new"}, On: []events.Kind{"command.start"}, To: engine.Stay,
				Actions: []string{"refuse"}},
			{From: []engine.State{"choosing"}, On: []events.Kind{"at once"}, Guard: "bad", To: "shut"},
			{From: []engine.State{"choosing"}, On: []events.Kind{"at once"}, To: "new"},
		},
		Ignored: []engine.IgnoreDoc{{State: "new", Kind: "reply.create", Why: "nothing was asked"},
			{State: "choosing", Kind: "reply.create", Why: "it never rests"},
			{State: "choosing", Kind: "command.close", Why: "it never rests"}},
	}
	want := `door: 3 states, 5 rows

Opens.
- And closes.

In each state, the rows of an event are tried from the top, and the first whose guard holds is taken. # is a row's place
in the chart. An answer or a timer that a state does not list is late: nobody awaits it any more.

  event          #  guard  to        action

new (OPEN)
  Not asked. Where a machine begins.
  command.start  2  ready  choosing  begin, ask
                 3  else   stays     refuse
  command.close  1         shut

choosing (OPEN)
  Never rests.
  command.start  3         stays     refuse
  at once        4  bad    shut
                 5  else   new
  ignored: reply.create, command.close – it never rests

shut
  Over. Where a machine ends.
`
	want = strings.Replace(want, "\nchoosing", "  ignored: reply.create – nothing was asked\n\nchoosing", 1)
	if got := Table(d); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

var tableRow = regexp.MustCompile(`^  ([a-z]+(?:[. ][a-z]+)*)? +(\d+)  `)

// Each state has each of its rows once, those of a kind in order, and each pair that
// it ignores, with the reason; and all fits.
func TestTablesAreWhole(t *testing.T) {
	for _, d := range charts() {
		found, state, kind, last := map[string]int{}, "", "", 0
		for text := range strings.Lines(StateByState(d)) {
			text = strings.TrimRight(text, "\n")
			if utf8.RuneCountInString(text) > 120 {
				t.Errorf("%s: wider than 120 columns: %s", d.Name, text)
			}
			if name, _, _ := strings.Cut(text, " "); name != "" {
				state = name
			}
			row := tableRow.FindStringSubmatch(text)
			if row == nil {
				continue
			}
			if row[1] != "" {
				kind, last = row[1], 0
			}
			n := 0
			fmt.Sscan(row[2], &n)
			if n <= last {
				t.Errorf("%s: %s, %s: row %d after row %d", d.Name, state, kind, n, last)
			}
			last = n
			found[fmt.Sprint(state, " ", kind, " ", n)]++
		}
		rows := 0
		for i, r := range d.Rows {
			for _, s := range r.From {
				for _, k := range on(r) {
					rows++
					if one := fmt.Sprint(s, " ", k, " ", i+1); found[one] != 1 {
						t.Errorf("%s: %s stands there %d times", d.Name, one, found[one])
					}
				}
			}
		}
		if rows != len(found) {
			t.Errorf("%s: %d rows of states in the table, want %d", d.Name, len(found), rows)
		}
		mustIgnore(t, d)
	}
}

// mustIgnore checks what each state says that it ignores.
func mustIgnore(t *testing.T, d engine.Description) {
	t.Helper()
	flat := strings.Join(strings.Fields(StateByState(d)), " ")
	for i, s := range d.States {
		_, block, _ := strings.Cut(flat,
			" "+string(s.Name)+enclosing(d, s.Name)+" "+strings.Join(strings.Fields(s.Doc), " "))
		if i+1 < len(d.States) {
			next := d.States[i+1]
			block, _, _ = strings.Cut(block,
				" "+string(next.Name)+enclosing(d, next.Name)+" "+strings.Join(strings.Fields(next.Doc), " "))
		}
		for _, ig := range d.Ignored {
			if ig.State != s.Name {
				continue
			}
			if !regexp.MustCompile(`ignored: [a-z., ]*\b` + regexp.QuoteMeta(string(ig.Kind)) + `\b[a-z., ]* – ` +
				regexp.QuoteMeta(strings.Join(strings.Fields(ig.Why), " "))).MatchString(block) {
				t.Errorf("%s: %s does not say that it ignores %s: %s\n%s", d.Name, s.Name, ig.Kind, ig.Why, block)
			}
		}
	}
}
