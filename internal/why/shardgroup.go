package why

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/machines"
)

// groups sums up the shards of each group with moves that were asked for.
func (r *Report) groups() (all []GroupSummary) {
	for i := range r.Summaries {
		s := &r.Summaries[i]
		if s.Shard == nil {
			continue
		}
		at := slices.IndexFunc(all, func(g GroupSummary) bool { return g.Path == s.Path })
		if at < 0 {
			at = len(all)
			all = append(all, GroupSummary{Path: s.Path})
		}
		all[at].add(s)
	}
	for i := range all {
		g := &all[i]
		for _, set := range []machines.ShardSet{g.Nobody, g.Unknown} {
			slices.Sort(set)
		}
		for _, o := range g.Owners {
			slices.Sort(o.Shards)
		}
		slices.SortFunc(g.Owners, func(a, b ShardsOf) int { return strings.Compare(a.Member, b.Member) })
		r.countCauses(g)
		r.readAssignments(g)
	}
	return all
}

// add adds a shard to the summary of its group.
func (g *GroupSummary) add(s *LineSummary) {
	shard := *s.Shard
	if s.AsOf.After(g.AsOf) {
		g.AsOf = s.AsOf
	}
	switch {
	case s.Leader != "":
		i := slices.IndexFunc(g.Owners, func(o ShardsOf) bool { return o.Member == s.Leader })
		if i < 0 {
			i = len(g.Owners)
			g.Owners = append(g.Owners, ShardsOf{Member: s.Leader})
		}
		g.Owners[i].Shards = append(g.Owners[i].Shards, shard)
	case s.NobodySince != nil:
		g.Nobody, g.Left = append(g.Nobody, shard), g.Left || s.Left
		if g.NobodySince == nil || s.NobodySince.Before(*g.NobodySince) {
			g.NobodySince = s.NobodySince
		}
	default:
		g.Unknown = append(g.Unknown, shard)
		g.UnknownWhy = cmp.Or(g.UnknownWhy, s.Unknown)
	}
	g.Moves += s.Moves
	g.Gaps += s.Gaps
	g.Without += s.Without
	if s.Longest > g.Longest {
		g.Longest, g.LongestFrom, g.LongestShard = s.Longest, s.LongestFrom, shard
	}
	for _, a := range s.Do {
		if len(g.Do) < mostAdvice && !slices.ContainsFunc(g.Do, func(b Advice) bool { return a.Cause == b.Cause }) {
			g.Do = append(g.Do, a)
		}
	}
}

// countCauses counts why members lost or gave up shards.
func (r *Report) countCauses(g *GroupSummary) {
	for _, m := range r.Moves {
		if m.Path != g.Path || m.From == nil || m.shard() == 0 {
			continue
		}
		c := ShardCause{Cause: m.Ending.Cause, Member: m.From.who()}
		i := slices.IndexFunc(g.Causes, func(o ShardCause) bool { return o.Cause == c.Cause && o.Member == c.Member })
		if i < 0 {
			i = len(g.Causes)
			g.Causes = append(g.Causes, c)
		}
		g.Causes[i].Shards++
	}
	slices.SortFunc(g.Causes, func(a, b ShardCause) int {
		return cmp.Or(cmp.Compare(b.Shards, a.Shards), cmp.Compare(a.Cause, b.Cause), cmp.Compare(a.Member, b.Member))
	})
}

// readAssignments says how many shards there are, which of them nobody ever owned, and when the assignment was
// written again after somebody had deleted it.
func (r *Report) readAssignments(g *GroupSummary) {
	for _, p := range r.h.plansOf(g.Path) {
		g.Shards = p.shards
		if p.afterDeletion() {
			text := fmt.Sprintf("Somebody had deleted the assignment: %s wrote it again at %s", p.whose(),
				r.time(p.log, p.at))
			g.Deleted = append(g.Deleted, Sentence{text, []Ref{{p.log.Name, p.seq}}})
		}
	}
	if r.Earlier > 0 { // what is not shown may have owners
		return
	}
	known := map[int]bool{}
	for _, s := range r.Summaries {
		if s.Path == g.Path && s.Shard != nil {
			known[*s.Shard] = true
		}
	}
	for shard := range g.Shards {
		if !known[shard] {
			g.Never = append(g.Never, shard)
		}
	}
}

// shardsText names shards.
func shardsText(set machines.ShardSet) string {
	if len(set) == 1 {
		return "shard " + itoa(int64(set[0]))
	}
	text, _ := set.MarshalText()
	if len(text) > mostShardsText {
		text = append(text[:bytes.LastIndexByte(text[:mostShardsText], ',')], ",…"...)
	}
	return "shards " + string(text)
}

// mostShardsText is how long a list of shards is at most.
const mostShardsText = 48

// text returns the summary as sentences.
func (g GroupSummary) text() (lines []string) {
	add := func(format string, args ...any) { lines = append(lines, g.Path+": "+fmt.Sprintf(format, args...)) }
	clock := func(t *time.Time) string { return clockText(t.UnixNano()) }
	if len(g.Owners) > 0 {
		var owners []string
		for _, o := range g.Owners {
			owners = append(owners, fmt.Sprintf("%s owns %d (%s)", o.Member, len(o.Shards), shardsText(o.Shards)))
		}
		add("%s as of %s: %s", plural(g.Shards, "shard"), clock(&g.AsOf),
			strings.Join(firstOf(owners, mostHolders), ", "))
	}
	switch {
	case len(g.Nobody) > 0 && g.Left && len(g.Owners) == 0:
		add("Nobody owns %s since %s: the last owners left on purpose (as of %s)", shardsText(g.Nobody),
			clock(g.NobodySince), clock(&g.AsOf))
	case len(g.Nobody) > 0:
		add("NOBODY OWNS %s, since %s or later (as of %s)", shardsText(g.Nobody), clock(g.NobodySince), clock(&g.AsOf))
	}
	if len(g.Never) > 0 {
		add("No log shows an owner of %s", shardsText(g.Never))
	}
	if len(g.Unknown) > 0 {
		add("Cannot tell who owns %s now: %s", shardsText(g.Unknown), g.UnknownWhy)
	}
	if len(g.Causes) > 0 {
		var causes []string
		for _, c := range g.Causes {
			causes = append(causes, fmt.Sprintf("%s %d (%s)", c.Member, c.Shards, c.Cause))
		}
		add("Shards lost or given up: %s", strings.Join(firstOf(causes, mostHolders), ", "))
	}
	if g.Gaps > 0 {
		add("Without an owner: %s in %s, the longest %s of shard %d from %s", span(g.Without), plural(g.Gaps, "gap"),
			span(g.Longest), g.LongestShard, clock(g.LongestFrom))
	}
	for _, s := range g.Deleted[max(0, len(g.Deleted)-1):] {
		add("%s", s)
	}
	for _, a := range g.Do {
		add("Do: %s", a)
	}
	return lines
}

// firstOf returns the first of some texts, and how many more there are.
func firstOf(all []string, most int) []string {
	if len(all) <= most {
		return all
	}
	return append(slices.Clone(all[:most]), fmt.Sprintf("%d more (--json has them)", len(all)-most))
}

// ofShards reports whether all moves that were asked for are of shards.
func (r *Report) ofShards() bool {
	return len(r.Moves) > 0 && !slices.ContainsFunc(r.Moves, func(m Move) bool { return m.shard() == 0 })
}
