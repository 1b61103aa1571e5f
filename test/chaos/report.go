package chaos

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// outcome is what came of one line.
type outcome struct {
	kind kind
	verdict
	clients  []client
	arrivals []arrival
	linear   string           // porcupine's word on the register
	settled  bool             // in the end everybody was in line, once, and somebody led
	surplus  int              // nodes too many by then
	missing  int              // clients without a node by then
	seen     map[string]int64 // nodes by then, with their czxid
	seenAt   int64
	left     []string      // nodes and watches after all had closed
	whole    time.Duration // from the first fault to the last
}

// borneOut reports whether the truth has every node that was seen at rest, with its czxid: else it was not read right.
func (o *outcome) borneOut(nodes []node) bool {
	for _, n := range nodes {
		if o.seen[n.path] == n.czxid && n.deleted.latest > o.seenAt {
			delete(o.seen, n.path)
		}
	}
	return len(o.seen) == 0
}

// tables shows what came of each line, in Markdown: the elections in one table, the other recipes in another.
func tables(all []*outcome) (text string) {
	var elections, others []*outcome
	for _, o := range all {
		if slices.Contains(recipes, o.kind) {
			others = append(others, o)
		} else {
			elections = append(elections, o)
		}
	}
	if len(elections) > 0 {
		text = electionTable(elections) + "\n"
	}
	if len(others) > 0 {
		text += recipeTable(others)
	}
	return text
}

// side returns the head of a table whose columns are lines, and what adds a row to it.
func side(b *strings.Builder, all []*outcome) (row func(what string, cell func(*outcome) string)) {
	b.WriteString("| |")
	for _, o := range all {
		fmt.Fprintf(b, " %s |", o.kind)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(all)) + "\n")
	return func(what string, cell func(*outcome) string) {
		fmt.Fprintf(b, "| %s |", what)
		for _, o := range all {
			fmt.Fprintf(b, " %s |", cell(o))
		}
		b.WriteString("\n")
	}
}

// electionTable shows elections side by side.
func electionTable(all []*outcome) string {
	var b strings.Builder
	row := side(&b, all)
	row("terms", func(o *outcome) string { return fmt.Sprint(o.terms) })
	row("somebody led", func(o *outcome) string { return fmt.Sprintf("%.0f %%", 100*o.led.Seconds()/o.whole.Seconds()) })
	row("nobody led, at the longest", func(o *outcome) string { return fmt.Sprintf("%.1f s", o.longest.Seconds()) })
	row("two believed at once", func(o *outcome) string { return times(o.together) })
	row("believed without the node, or not first in line", func(o *outcome) string { return times(o.spans()) })
	row("two believed at once, one of them stopped", func(o *outcome) string { return times(o.asleep) })
	row("saves too late", func(o *outcome) string { return fmt.Sprint(o.stale) })
	row("… that were accepted", func(o *outcome) string { return bold(o.accepted) })
	row("the register is linearizable", func(o *outcome) string {
		if o.linear == "no" {
			return "**no**"
		}
		return o.linear
	})
	row("second nodes for longer than a session", func(o *outcome) string { return bold(o.orphans) })
	row("at rest in the end", atRest)
	return b.String()
}

// recipeTable shows the other recipes side by side.
func recipeTable(all []*outcome) string {
	var b strings.Builder
	row := side(&b, all)
	unless := func(is func(kind) bool, cell func(*outcome) string) func(*outcome) string {
		return func(o *outcome) string {
			if is(o.kind) {
				return "–"
			}
			return cell(o)
		}
	}
	queue := func(k kind) bool { return k == byQueue }
	lock := func(k kind) bool { return k != byQueue }
	many := func(k kind) bool { return !k.alternates() }
	row("holds; deliveries", func(o *outcome) string { return fmt.Sprint(o.terms) })
	row("somebody held", func(o *outcome) string { return fmt.Sprintf("%.0f %%", 100*o.led.Seconds()/o.whole.Seconds()) })
	row("nobody held, at the longest", func(o *outcome) string { return fmt.Sprintf("%.1f s", o.longest.Seconds()) })
	row("two believed what one may have", unless(many, func(o *outcome) string { return times(o.together) }))
	row("the same, one of them stopped", unless(many, func(o *outcome) string { return times(o.asleep) }))
	row("believed without the node, or behind another", unless(queue, func(o *outcome) string { return times(o.spans()) }))
	row("tokens that did not grow", unless(queue, func(o *outcome) string { return bold(o.shrunk) }))
	row("guarded writes; items put", func(o *outcome) string { return fmt.Sprint(o.writes) })
	row("… that were refused", func(o *outcome) string { return fmt.Sprint(o.refused) })
	row("saves too late", unless(many, func(o *outcome) string { return fmt.Sprint(o.stale) }))
	row("… that were accepted", unless(many, func(o *outcome) string { return bold(o.accepted) }))
	row("the register is linearizable", unless(many, func(o *outcome) string { return o.linear }))
	row("items among the dead letters", unless(lock, func(o *outcome) string { return fmt.Sprint(o.dead) }))
	row("items handled more than once, after the session", unless(lock, func(o *outcome) string { return fmt.Sprint(o.again) }))
	row("… at the same time", unless(lock, func(o *outcome) string { return plain(o.overlap) }))
	row("transactions against a promise", func(o *outcome) string { return bold(len(o.wrong)) })
	row("at rest in the end", atRest)
	return b.String()
}

func atRest(o *outcome) string {
	if o.settled {
		return "yes"
	}
	return fmt.Sprintf("**no**: %d nodes too many, %d missing", o.surplus, o.missing)
}

// plain shows what is no violation.
func plain(spans []span) string { return strings.ReplaceAll(times(spans), "**", "") }

func (o *outcome) spans() (all []span) {
	for _, t := range o.beyond {
		all = append(all, t.span)
	}
	return all
}

func bold(n int) string {
	if n == 0 {
		return "0"
	}
	return fmt.Sprintf("**%d**", n)
}

func times(spans []span) string {
	if len(spans) == 0 {
		return "0"
	}
	sum, longest := total(spans)
	if len(spans) == 1 {
		return fmt.Sprintf("**once, %s**", seconds(sum))
	}
	return fmt.Sprintf("**%d times, %s in all, %s at the longest**", len(spans), seconds(sum), seconds(longest))
}

func seconds(d time.Duration) string {
	switch {
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
	case d < time.Second:
		return fmt.Sprintf("%.0f ms", float64(d)/float64(time.Millisecond))
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}
