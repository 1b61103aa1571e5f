package story

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// cell is what is known of one kind in one scenario at one timeout, over all runs.
type cell struct {
	runs, overlapped int
	least, most      time.Duration // of the runs that overlapped, for certain
	gap              time.Duration // the least time without any believer, where none overlapped
}

func summary(all []outcome, scenario string, timeout time.Duration, k kind) (c cell) {
	for _, o := range all {
		if o.scenario != scenario || o.timeout != timeout || o.kind != k {
			continue
		}
		sure, most := o.overlap()
		c.runs++
		if gap := o.gap(); c.runs == 1 || gap < c.gap {
			c.gap = gap
		}
		if sure == 0 && most == 0 {
			continue
		}
		if c.overlapped == 0 || sure < c.least {
			c.least = sure
		}
		c.overlapped++
		c.most = max(c.most, sure)
	}
	return c
}

func (c cell) String() string {
	switch {
	case c.runs == 0:
		return "–"
	case c.overlapped == 0:
		return fmt.Sprintf("0, %.1f s apart", c.gap.Seconds())
	case c.least == c.most:
		return fmt.Sprintf("**%.1f s** (%d of %d)", c.most.Seconds(), c.overlapped, c.runs)
	}
	return fmt.Sprintf("**%.1f–%.1f s** (%d of %d)", c.least.Seconds(), c.most.Seconds(), c.overlapped, c.runs)
}

// table shows for how long two believed at once, in Markdown.
func table(all []outcome) string {
	var b strings.Builder
	b.WriteString("| scenario | T |")
	for _, k := range kinds {
		fmt.Fprintf(&b, " %s |", k)
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", len(kinds)) + "\n")
	for _, s := range scenarios {
		for _, timeout := range timeoutsOf(all) {
			if summary(all, s.name, timeout, byUs).runs == 0 {
				continue
			}
			fmt.Fprintf(&b, "| %s | %.0f s |", s.name, timeout.Seconds())
			for _, k := range kinds {
				fmt.Fprintf(&b, " %s |", summary(all, s.name, timeout, k))
			}
			b.WriteString("\n")
		}
	}
	var blur time.Duration
	for _, o := range all {
		sure, most := o.overlap()
		blur = max(blur, most-sure)
	}
	fmt.Fprintf(&b, "\nEvery overlap is known to %s or better.\n", blur.Round(100*time.Microsecond))
	return b.String()
}

func timeoutsOf(all []outcome) (ts []time.Duration) {
	for _, o := range all {
		if !slices.Contains(ts, o.timeout) {
			ts = append(ts, o.timeout)
		}
	}
	slices.Sort(ts)
	return ts
}

// The timeline: this much before the cut and after it, and what one column is.
const (
	before, after = time.Second, 20 * time.Second
	column        = 250 * time.Millisecond
)

// timeline draws outcomes as text: who believed when.
func timeline(all []outcome) string {
	var b strings.Builder
	last := ""
	for _, o := range all {
		if head := fmt.Sprintf("%s, session timeout %.0f s", o.scenario, o.timeout.Seconds()); head != last {
			last = head
			fmt.Fprintf(&b, "\n%s\n%22s%s\n", head, "", ruler())
		}
		fmt.Fprintf(&b, "%-20s A %s\n%-20s B %s", o.kind, lane(o.a, '█'), "", lane(o.b, '▒'))
		if sure, _ := o.overlap(); sure > 0 {
			fmt.Fprintf(&b, "  both for %.1f s", sure.Seconds())
		}
		b.WriteString("\n")
	}
	b.WriteString("\nA leads and is at the server that is cut off; B waits at the others. Seconds from the cut.\n")
	return b.String()
}

func ruler() string {
	marks := []rune(strings.Repeat(" ", int((before+after)/column)+2))
	for s := time.Duration(0); s <= after; s += 2 * time.Second {
		copy(marks[int((s+before)/column):], []rune(fmt.Sprint(int(s.Seconds()))))
	}
	return string(marks)
}

func lane(spans []span, mark rune) string {
	cells := []rune(strings.Repeat("·", int((before+after)/column)))
	for i := range cells {
		from := time.Duration(i)*column - before
		for _, s := range spans {
			if s.fromBy < from+column/2 && s.to > from+column/2 {
				cells[i] = mark
			}
		}
	}
	return string(cells)
}
