package why

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// summarize returns the lines with moves that were asked for: those in trouble first.
func (r *Report) summarize(o Options) (all []LineSummary) {
	type key struct {
		path  string
		shard int
	}
	by := map[key][]Move{}
	var lines []key
	for _, m := range r.Moves {
		k := key{m.Path, m.shard()}
		if by[k] == nil {
			lines = append(lines, k)
		}
		by[k] = append(by[k], m)
	}
	for _, k := range lines {
		all = append(all, r.summarizeLine(k.path, by[k], o))
	}
	slices.SortStableFunc(all, func(a, b LineSummary) int {
		return cmp.Or(cmp.Compare(b.trouble(), a.trouble()), cmp.Compare(b.Longest, a.Longest), cmp.Compare(a.Path,
			b.Path), cmp.Compare(a.shard(), b.shard()))
	})
	return all
}

// lastRecord returns the time of the last record of the logs whose clocks can be compared with that of a log.
func (r *Report) lastRecord(of *Log) int64 {
	later := int64(0)
	for _, l := range r.logs {
		if after := r.h.clocks.between(of, of.last, l, l.last); l.Records > 0 && after.known() {
			later = max(later, after.mid())
		}
	}
	return r.wall(of, of.last) + later
}

func (r *Report) summarizeLine(path string, moves []Move, o Options) LineSummary {
	part := *r
	part.Moves, part.Work, part.WorkWhy = moves, WorkNone, ""
	part.judge(o)
	part.judgeWork()
	moves = r.inTheirOrder(moves)
	last := moves[len(moves)-1]
	t := last.To
	if t == nil {
		t = last.From
	}
	end := r.lastRecord(t.Log)
	s := LineSummary{Path: path, Shard: shardNumber(last.shard()), AsOf: *at(end), Verdict: part.Verdict,
		Work: part.Work, Moves: len(moves)}
	if r.h.apart.sure() { // what is compared across them is wrong
		s.Unknown = r.h.apart.why()
		return s
	}
	if n := r.lineAt(path); n != nil && (n.permits || n.shared) {
		s.Holders = r.holders(n)
	} else {
		r.sumTerms(&s, moves)
		r.sumGaps(&s, moves)
		r.findLeader(&s, last, end)
	}
	for _, m := range moves {
		s.Skipped = append(s.Skipped, r.skipped(m)...)
	}
	s.WithoutIs = s.withoutText()
	s.Clocks = r.clocksOff(path)
	s.Do = r.advise(&s, &part)
	return s
}

// sumGaps sums up for how long nobody had the right to lead.
func (r *Report) sumGaps(s *LineSummary, moves []Move) {
	for _, m := range moves {
		if m.From == nil || m.To == nil {
			continue
		}
		gap := r.h.gapBounds(m.From, m.To)
		switch {
		case len(m.strange) == 0 && gap.known():
			s.addGap(m.began, gap)
		case gap.hi >= endless:
			s.Bounds.Endless = true
		default:
			s.Bounds.Open += time.Duration(max(gap.hi, 0))
		}
	}
}

// withoutText says for how long nobody led, "" if somebody always did.
func (s LineSummary) withoutText() string {
	b := s.Bounds
	text := ""
	switch {
	case s.Gaps == 0 && b.Open == 0 && !b.Endless:
		return ""
	case s.Gaps > 1:
		text = fmt.Sprintf("%s in %s, the longest %s from %s", between(b.Least, b.Most), plural(s.Gaps, "gap"),
			between(b.LongestLeast, b.LongestMost), clockText(s.LongestFrom.UnixNano()))
	case s.Gaps == 1:
		text = fmt.Sprintf("%s in 1 gap, from %s", between(b.Least, b.Most), clockText(s.LongestFrom.UnixNano()))
	}
	open := ""
	switch {
	case b.Endless:
		open = "cannot tell for how long"
	case b.Open > 0:
		open = "cannot tell, at most " + span(b.Open)
	}
	switch {
	case text != "" && open != "":
		text += "; of other times: " + open
	case open != "":
		text = open
	case s.open():
		text += ", as far as the logs show"
	}
	return "Without " + map[bool]string{true: "an owner", false: "a leader"}[s.Shard != nil] + ": " + text
}

// text returns the summary as sentences.
func (s LineSummary) text(path bool) (lines []string) {
	clock := func(t *time.Time) string { return clockText(t.UnixNano()) }
	of := ""
	if path {
		of = s.name() + ": "
	}
	switch {
	case s.Leader != "":
		lines = append(lines, fmt.Sprintf("%s%s %s since %s with token %d (as of %s)", of, s.Leader, s.leads(),
			clock(s.Since), s.Token, clock(&s.AsOf)))
	case s.Left:
		lines = append(lines, fmt.Sprintf("%sNobody %s since %s: the last %s left on purpose, and nobody followed "+
			"(as of %s)", of, s.leads(), clock(s.NobodySince), s.leader(), clock(&s.AsOf)))
	case s.NobodySince != nil:
		text := fmt.Sprintf("%sNOBODY %s since %s, for %s (as of %s)", of, strings.ToUpper(s.leads()),
			clock(s.NobodySince), span(s.AsOf.Sub(*s.NobodySince)), clock(&s.AsOf))
		if s.InTheWay != nil {
			text += ": " + s.InTheWay.text()
		}
		lines = append(lines, text)
	}
	for _, h := range s.Holders {
		lines = append(lines, of+h)
	}
	if s.Unknown != "" {
		lines = append(lines, of+"Cannot tell who "+s.leads()+" now: "+s.Unknown)
	}
	lines = append(lines, s.ledLines(of)...)
	if s.WithoutIs != "" {
		lines = append(lines, of+s.WithoutIs)
	}
	for i, one := range s.Skipped {
		if i == maxSkipped {
			lines = append(lines, fmt.Sprintf("%sSkipped: %d more (--json has them)", of, len(s.Skipped)-i))
			break
		}
		lines = append(lines, of+"Skipped: "+one.Text)
	}
	for _, c := range s.Clocks {
		lines = append(lines, of+"Clock: "+c.Text)
	}
	for _, a := range s.Do {
		lines = append(lines, of+"Do: "+a.String())
	}
	return lines
}

// maxSkipped is how many participants a summary names that were skipped.
const maxSkipped = 3

func (b InTheWay) text() string {
	text := "node " + shortNode(b.Node) + " of " + b.Participant
	if b.Session != "" {
		text += " (session " + b.Session
		if b.PID != 0 {
			text += ", process " + itoa(int64(b.PID)) + " on " + oneLine(b.Host)
		}
		text += ")"
	}
	return text + " is ahead of all: " + b.Why
}

// leads and leader are what somebody does in the line, and is.
func (s LineSummary) leads() string {
	if s.Shard != nil {
		return "owns it"
	}
	return "leads"
}

func (s LineSummary) leader() string {
	if s.Shard != nil {
		return "owner"
	}
	return "leader"
}

// row returns the cells of a table of lines.
func (s LineSummary) row() []string {
	leader, since := "not known", ""
	switch {
	case s.Leader != "":
		leader, since = s.Leader, clockText(s.Since.UnixNano())
	case s.NobodySince != nil:
		leader, since = "NOBODY", clockText(s.NobodySince.UnixNano())
	}
	verdict := string(s.Verdict)
	if s.Work == WorkTwo {
		verdict += ", two worked"
	}
	longest := "-"
	if s.Longest > 0 {
		longest = span(s.Longest)
		if b := s.Bounds; b.LongestMost-b.LongestLeast > 2*smallError {
			longest = span(b.LongestLeast) + " to " + span(b.LongestMost)
		}
	}
	return []string{cut(oneLine(s.name())), leader, since, itoa(int64(s.Moves)), longest, verdict}
}

// cut returns the end of a long path, which says more than its beginning.
func cut(path string) string {
	const most = 40
	if r := []rune(path); len(r) > most {
		return "…" + string(r[len(r)-most+1:])
	}
	return path
}

// lineAt returns a line with a path, nil for none. One of permits or shared locks comes first.
func (r *Report) lineAt(path string) (found *line) {
	for _, n := range r.lines {
		if n.path == path && (found == nil || n.permits || n.shared) {
			found = n
		}
	}
	return found
}

// holders says of a line in which several may hold at once who holds where its log ends; mostHolders at most.
func (r *Report) holders(n *line) (all []string) {
	for _, t := range n.terms {
		if !t.Open() {
			continue
		}
		what := t.who() + " " + t.holds() + " with token " + itoa(t.Token) + ", as of " + r.time(t.Log, t.Log.last)
		switch r.h.endingOf(t, nil).Cause {
		case CauseLeads:
			all = append(all, what)
		case CauseGap:
			all = append(all, "cannot tell whether "+t.who()+" still "+t.holds()+": its log does not have the end")
		}
	}
	slices.Sort(all)
	if more := len(all) - mostHolders; more > 0 {
		all = append(all[:mostHolders], plural(more, "other")+" (--facts has them)")
	}
	return all
}

// mostHolders is how many a summary names that hold at once.
const mostHolders = 8
