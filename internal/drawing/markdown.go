package drawing

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// Markdown returns a chart as a page: the picture in Mermaid, then MarkdownTables.
func Markdown(d engine.Description) string {
	return fmt.Sprintf("# %s\n\n%s\n\n```mermaid\n%s```\n\n%s\n%s", d.Name, d.Doc, Mermaid(d), SharedList(d),
		MarkdownTables(d, nil))
}

// SharedList returns a list of the arrows that the picture draws once, and the number
// of rows that it leaves out.
func SharedList(d engine.Description) string {
	var b strings.Builder
	p := PictureOf(d)
	if len(p.Shared) > 0 {
		b.WriteString("Arrows that the picture draws once:\n\n")
	}
	for _, a := range p.Shared {
		fmt.Fprintf(&b, "- into **%s** from %s\n", a.To, joined(a.From, ", "))
	}
	fmt.Fprintf(&b, "\n%d of the %d rows leave the state as it is; they are in the table only.\n", p.Stays, len(d.Rows))
	return b.String()
}

// MarkdownTables returns everything in a chart: its rows in order, what it ignores and
// why, its states, and a glossary of guards and actions. Words has a sentence for each of
// their names; a name without one is spelled out.
func MarkdownTables(d engine.Description, words map[string]string) string {
	var b strings.Builder
	b.WriteString("## Rows\n\nTried from the top; the first whose guard holds is taken.\n\n")
	rowsTable(&b, d)
	ignoredTable(&b, d)
	b.WriteString("\n## States\n\n")
	statesTable(&b, d)
	glossary(&b, d, words)
	return b.String()
}

func statesTable(b *strings.Builder, d engine.Description) {
	b.WriteString("| state | as users see it | what is true in it |\n|---|---|---|\n")
	for i, s := range d.States {
		var in []string
		for _, c := range d.Composites {
			for _, member := range c.States {
				if member == s.Name {
					in = append(in, c.Name)
				}
			}
		}
		doc := withEnds(d, i)
		if d.Choice(s.Name) {
			doc += " A choice: no machine rests there."
		}
		fmt.Fprintf(b, "| **%s** | %s | %s |\n", s.Name, strings.Join(in, ", "), cell(doc))
	}
}

func rowsTable(b *strings.Builder, d engine.Description) {
	b.WriteString("| # | from | event | guard | to | action |\n|--:|---|---|---|---|---|\n")
	for i, r := range d.Rows {
		to := string(r.To)
		if r.To == engine.Stay || len(r.From) == 1 && r.From[0] == r.To {
			to = "*stays*"
		}
		fmt.Fprintf(b, "| %d | %s | `%s` | %s | %s | %s |\n", i+1, joined(r.From, ", "), joined(r.On, "`, `"),
			cell(r.Guard), to, cell(r.Action()))
	}
}

// ignoredTable writes one line for all states that ignore a kind for the same reason.
func ignoredTable(b *strings.Builder, d engine.Description) {
	if len(d.Ignored) == 0 {
		return
	}
	b.WriteString("\n## What is ignored where, and why\n\n| event | in | why |\n|---|---|---|\n")
	type line struct {
		kind   events.Kind
		why    string
		states []engine.State
	}
	var all []*line
	for _, ig := range d.Ignored {
		var found *line
		for _, l := range all {
			if l.kind == ig.Kind && l.why == ig.Why {
				found = l
			}
		}
		if found == nil {
			found = &line{kind: ig.Kind, why: ig.Why}
			all = append(all, found)
		}
		found.states = append(found.states, ig.State)
	}
	for _, l := range all {
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", l.kind, joined(l.states, ", "), cell(l.why))
	}
	b.WriteString("\nAn answer or a timer for which the state has no row is late: the machine no longer awaits it.\n")
}

func glossary(b *strings.Builder, d engine.Description, words map[string]string) {
	b.WriteString("\n## Glossary\n\n| guard | holds if |\n|---|---|\n")
	define(b, d, words, func(r engine.RowDoc) []string { return []string{r.Guard} })
	b.WriteString("\n| action | does |\n|---|---|\n")
	define(b, d, words, func(r engine.RowDoc) []string { return r.Actions })
}

func define(b *strings.Builder, d engine.Description, words map[string]string, names func(engine.RowDoc) []string) {
	seen := map[string]bool{"": true}
	for _, r := range d.Rows {
		for _, n := range names(r) {
			if seen[n] {
				continue
			}
			seen[n] = true
			meaning := strings.TrimPrefix(words[n], "reports whether ")
			if meaning == "" {
				meaning = spelled(n) + "."
			}
			fmt.Fprintf(b, "| %s | %s |\n", n, cell(meaning))
		}
	}
}

// spelled returns a name's words: of counterEnds, "counter ends".
func spelled(name string) string {
	var b strings.Builder
	for _, r := range name {
		if unicode.IsUpper(r) {
			b.WriteByte(' ')
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}

func cell(s string) string { return strings.NewReplacer("|", `\|`, "\n", " ").Replace(s) }
