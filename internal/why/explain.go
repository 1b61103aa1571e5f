package why

import (
	"cmp"
	"slices"

	"github.com/incumbent-go/incumbent/internal/why/txnlog"
)

// Explain returns why leadership moved in the lines of these logs. Txns are the ensemble's, as
// txnlog.Merge returns them; nil for none.
func Explain(logs []*Log, txns []txnlog.Txn, o Options) *Report {
	h := newHistory(logs, txns, cmp.Or(o.MaxDrift, defaultDrift))
	r := &Report{logs: logs, h: h, lines: h.findLines()}
	r.strange = h.commandsOf(o.Commands)
	r.byClock = h.chooseReference(logs, o.Clock)
	if o.OwnClocks {
		r.byClock, r.ownClocks = shownClock{clock: -1}, true
	}
	all := make([]Move, 0, r.maxMoves(o))
	for _, n := range r.lines {
		if o.wants(n) {
			all = r.addMoves(all, n)
		}
	}
	for i := range all {
		r.date(&all[i])
	}
	slices.SortStableFunc(all, func(a, b Move) int { return cmp.Compare(a.when, b.when) })
	r.Moves = r.scope(all, o)
	r.Earlier = len(all) - len(r.Moves)
	for i := range r.Moves {
		r.tell(&r.Moves[i], func(string, ...Ref) {}) // for what the move has of it
	}
	r.judge(o)
	r.judgeWork()
	r.Writes = r.writes()
	r.Summaries = r.summarize(o)
	if o.Shard == nil {
		r.Groups = r.groups()
	}
	if len(r.Moves) == 0 {
		r.Troubles = r.troubles(func(path string) bool { return o.Path == "" || path == o.Path }, -endless, endless)
	}
	r.doubt(o)
	return r
}

// wants reports whether a line is asked for.
func (o Options) wants(n *line) bool {
	return (o.Path == "" || under(o.Path, n)) && (o.Shard == nil || n.shard == *o.Shard+1)
}

// Open reports whether the logs do not show all that was asked for.
func (r *Report) Open() bool {
	return r.Verdict == CannotTell || slices.ContainsFunc(r.Summaries, LineSummary.open)
}

// maxMoves returns how many moves the lines that were asked for may have.
func (r *Report) maxMoves(o Options) (most int) {
	for _, n := range r.lines {
		if o.wants(n) {
			most += len(n.terms) + 1
			if n.permits || n.shared {
				most += len(n.terms)
			}
		}
	}
	return most
}

// date sets the times of a move.
func (r *Report) date(m *Move) {
	if m.From != nil {
		m.began = r.wall(m.From.Log, m.Ending.At)
		m.when = m.began
	}
	if m.To != nil {
		m.when = r.wall(m.To.Log, m.To.ElectedAt)
	}
	if m.From == nil {
		m.began = m.when
	}
}
