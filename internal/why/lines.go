package why

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"
)

// mostLines is how many lines Lines returns without full: what a small terminal shows.
const mostLines = 24

// Lines returns the report as text: the verdicts, the summary, then a line for each move and each doubt. Without full
// they are at most mostLines, of which the last moves are kept; with it, each move is followed by the records that
// led to it.
func (r *Report) Lines(full bool) []string { return slices.Collect(r.EachLine(full)) }

// EachLine is Lines without a list of all of them: with full there are many.
func (r *Report) EachLine(full bool) iter.Seq[string] {
	return func(yield func(string) bool) {
		r.eachLine(full, func(text string) bool { return yield(harmless(text)) })
	}
}

func (r *Report) eachLine(full bool, yield func(string) bool) {
	lines := []string{r.verdictLine()}
	var doubts []string
	for _, d := range r.Doubts {
		text := capital(d.String()) + "."
		if strings.HasPrefix(d.Text, timesAre) {
			lines = append(lines, text)
			continue
		}
		doubts = append(doubts, text)
	}
	lines = append(lines, r.summaryLines()...)
	moves := merged(r.Moves)
	if !full {
		doubts = doubts[:min(len(doubts), 3)]
	}
	if room := min(mostMoves, mostLines-len(lines)-len(doubts)); !full && len(moves) > room {
		left := len(moves) - (room - 1)
		lines = append(lines,
			fmt.Sprintf("(%s before these: --full, --around or --token shows them)", plural(left, "move")))
		moves = moves[left:]
	}
	all := func(some []string) bool {
		return !slices.ContainsFunc(some, func(text string) bool { return !yield(text) })
	}
	if !all(lines) {
		return
	}
	for _, m := range moves {
		if !yield(r.paragraph(m.name(), m.Move)) || full && !all(r.chains(m.Move)) {
			return
		}
	}
	all(doubts)
}

// Bounds of what is shown without full.
const (
	mostMoves   = 8
	mostInTable = 8
)

// summaryLines returns the summaries of groups of shards, and those of other lines.
func (r *Report) summaryLines() (lines []string) {
	for _, g := range r.Groups {
		for _, text := range g.text() {
			lines = append(lines, stopped(text))
		}
	}
	all := r.Summaries
	if len(r.Groups) > 0 {
		all = slices.DeleteFunc(slices.Clone(all), func(s LineSummary) bool { return s.Shard != nil })
	}
	return append(lines, lineSummaries(all)...)
}

// lineSummaries returns the summary of a line as sentences, of several as a table.
func lineSummaries(all []LineSummary) (lines []string) {
	if len(all) == 1 {
		for _, text := range all[0].text(false) {
			lines = append(lines, stopped(text))
		}
		return lines
	}
	if len(all) == 0 {
		return nil
	}
	rows := [][]string{{"line", "leader", "since", "moves", "longest without", "verdict"}}
	for i, s := range all {
		if i == mostInTable {
			break
		}
		rows = append(rows, s.row())
	}
	lines = table(rows)
	if more := len(all) - mostInTable; more > 0 {
		lines = append(lines, fmt.Sprintf("(%s more: --json has them, --path shows one)", plural(more, "line")))
	}
	for _, text := range all[0].text(true) { // of the one in the worst trouble
		if len(lines) >= mostLines-mostMoves-4 {
			break
		}
		lines = append(lines, stopped(text))
	}
	return lines
}

// stopped returns a sentence with its full stop. A command at its end has none, so that it can be copied.
func stopped(text string) string {
	if strings.Contains(text, commandNote) {
		return text
	}
	return text + "."
}

// table aligns the cells of rows.
func table(rows [][]string) (lines []string) {
	wide := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			wide[i] = max(wide[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			b.WriteString(cell)
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", wide[i]-utf8.RuneCountInString(cell)+2))
			}
		}
		lines = append(lines, b.String())
	}
	return lines
}

// verdictLine is the first line.
func (r *Report) verdictLine() string {
	text := map[Verdict]string{
		NeverProven:   "never two with the right at once: proven by records and zxids",
		NeverMeasured: "never two with the right at once: measured by clocks",
		TwoAtOnce:     "TWO AT ONCE",
		CannotTell:    "cannot tell whether two ever had the right at once",
	}[r.Verdict]
	if r.ofShards() {
		text = map[Verdict]string{
			NeverProven:   "never two owners of a shard at once: proven by records and zxids",
			NeverMeasured: "never two owners of a shard at once: measured by clocks",
			TwoAtOnce:     "TWO OWNERS OF A SHARD AT ONCE",
			CannotTell:    "cannot tell whether two ever owned a shard at once",
		}[r.Verdict]
	}
	if r.several() {
		text = map[Verdict]string{
			NeverProven:   "never more at once than allowed: proven by records and zxids",
			NeverMeasured: "never more at once than allowed: measured by clocks",
			TwoAtOnce:     "MORE AT ONCE THAN ALLOWED",
			CannotTell:    "cannot tell whether more ever held at once than allowed",
		}[r.Verdict]
	}
	switch {
	case r.Why == "":
	case strings.HasPrefix(r.Why, assumes):
		text += ", " + r.Why
	default:
		text += ": " + r.Why
	}
	text = capital(text) + "."
	for _, more := range []string{r.WorkWhy, r.Writes.text()} {
		if more != "" {
			text += " " + strings.ToUpper(more[:1]) + more[1:] + "."
		}
	}
	return text
}

// paragraph is a move of what has a name.
func (r *Report) paragraph(name string, m Move) string {
	var b strings.Builder
	b.WriteString(name + ": ")
	for i, s := range r.story(m) {
		if i > 0 {
			b.WriteByte(' ')
		}
		text := s.String()
		if i > 0 {
			text = capital(text)
		}
		b.WriteString(text + ".")
	}
	return b.String()
}

// capital returns a sentence with a capital letter at its beginning, unless it begins with the
// name of a participant or a log.
func capital(s string) string {
	first, _, _ := strings.Cut(s, " ")
	switch first {
	case "it", "its", "nobody", "whether", "the", "times", "both", "session", "meanwhile", "against", "as", "clocks",
		"and", "never", "cannot", "no", "these", "when", "a", "records":
		return strings.ToUpper(s[:1]) + s[1:]
	}
	return s
}

// chains returns the records that led to a move, heartbeats folded.
func (r *Report) chains(m Move) (lines []string) {
	if t := m.From; t != nil {
		last := t.Stopped
		if last == 0 {
			last = t.Log.lastSeq
		}
		lines = append(lines, r.chainLines(t, last, max(t.Elected, min(last, t.untilSeq)))...)
	}
	if t := m.To; t != nil {
		lines = append(lines, r.chainLines(t, t.Elected, 0)...)
	}
	return lines
}

// chainLines returns the chain of causes of a record, from the outside event on, but nothing
// before a record.
func (r *Report) chainLines(t *Term, seq, from uint64) (lines []string) {
	chain, beats := t.Log.chain(seq), 0
	for i := len(chain) - 1; i >= 0; i-- {
		c := chain[i]
		if c.seq < from {
			beats++
			continue
		}
		if beats > 0 {
			lines = append(lines, fmt.Sprintf("    (%s before)", plural(beats, "record")))
			beats = 0
		}
		lines = append(lines,
			fmt.Sprintf("    %s  %s  %s  %s", Ref{t.Log.Name, c.seq}, r.time(t.Log, c.at), c.machine, c.row))
	}
	return lines
}
