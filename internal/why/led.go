package why

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// mostLed is how many terms a summary has at most: the last.
const mostLed = 50

// sumTerms lists the terms of the moves that were asked for, the last of them with what ended them.
func (r *Report) sumTerms(s *LineSummary, moves []Move) {
	moves = moves[max(0, len(moves)-mostLed):]
	for _, m := range moves {
		if m.From != nil {
			i := slices.IndexFunc(s.Terms, func(l Led) bool { return l.term == m.From })
			if i < 0 {
				i, s.Terms = len(s.Terms), append(s.Terms, r.led(m.From))
			}
			r.endLed(&s.Terms[i], m)
		}
		if m.To != nil {
			s.Terms = append(s.Terms, r.led(m.To))
		}
		if m.From == nil && len(m.strange) > 0 && len(s.Terms) > 1 {
			s.Terms[len(s.Terms)-2].Unknown = r.missingLog(m)
		}
	}
	s.Terms = s.Terms[max(0, len(s.Terms)-mostLed):]
	for i := range s.Terms {
		if l := &s.Terms[i]; l.Until != nil || l.Unknown != "" {
			l.Text = l.text()
		}
	}
}

// inTheirOrder returns the moves of a line in the order of its terms' tokens, which clocks that cannot be aligned do
// not show.
func (r *Report) inTheirOrder(moves []Move) []Move {
	of := func(m Move) (t *Term, end int) {
		if m.To == nil {
			return m.From, 1 // behind the move to it
		}
		return m.To, 0
	}
	order := func(a, b Move) int {
		s, ends := of(a)
		t, endsToo := of(b)
		if s.Token != t.Token || s == t || s.Log != t.Log {
			return cmp.Or(cmp.Compare(s.Token, t.Token), ends-endsToo)
		}
		return cmp.Compare(s.Elected, t.Elected)
	}
	if r.h.replaced || slices.IsSortedFunc(moves, order) {
		return moves
	}
	moves = slices.Clone(moves)
	slices.SortStableFunc(moves, order)
	return moves
}

func (r *Report) led(t *Term) Led {
	return Led{Leader: t.who(), Token: t.Token, From: *at(r.wall(t.Log, t.ElectedAt)), term: t}
}

// oneEnsemble is what is taken for granted of two logs that may be of different ensembles.
const oneEnsemble = "the logs of both are of one ensemble"

// endLed says when and why a term ended.
func (r *Report) endLed(l *Led, m Move) {
	l.ended = m.Ending.At
	if m.From.Open() && m.Ending.Cause == CauseGap {
		l.Why, l.Unknown = r.reasons(m), "until when is not in its log"
		return
	}
	l.Until, l.Why = at(r.wall(m.From.Log, m.Ending.At)), r.reasons(m)
	switch {
	case len(m.strange) > 0:
		l.Unknown = r.missingLog(m)
	case m.Ending.Cause == CauseUnknown || m.Ending.Cause == CauseGap:
		l.Unknown = "why " + l.Leader + " stopped is not in the logs"
	}
	switch {
	case m.To != nil && r.h.apart.between(m.From.Log, m.To.Log):
		l.If = oneEnsemble
	case m.assumesDeath():
		l.If = l.Leader + " died where its log ends"
	}
	l.AtMost = m.assumesDeath()
	if m.To != nil {
		l.follow(r.h.gapBounds(m.From, m.To), len(m.strange) > 0)
	}
}

// follow sets for how long nobody had the right after a term. Open: somebody may have had it meanwhile.
func (l *Led) follow(gap interval, open bool) {
	if gap.hi >= endless || gap.hi <= 0 {
		return
	}
	l.Most = time.Duration(gap.hi)
	if open || gap.mid() <= 0 || !gap.known() {
		return
	}
	l.Without, l.Error = time.Duration(gap.mid()), time.Duration(gap.width()/2)
	l.Least = time.Duration(max(gap.lo, 0))
}

// mostLedLines is how many terms a summary has in text.
const mostLedLines = 4

// ledLines returns the last terms as sentences.
func (s LineSummary) ledLines(of string) (lines []string) {
	shown := s.Terms[max(0, len(s.Terms)-mostLedLines):]
	for _, l := range shown {
		if l.Text == "" { // the first line says who leads
			continue
		}
		lines = append(lines, of+l.Text)
	}
	return lines
}

// text returns a term that has ended as a sentence.
func (l Led) text() string {
	until := "until "
	if l.AtMost {
		until = "until at most "
	}
	what := "Led"
	if l.term.Recipe == shardRecipe {
		what = "Owned"
	}
	text := fmt.Sprintf("%s: %s (token %d) from %s", what, l.Leader, l.Token, clockText(l.From.UnixNano()))
	if l.Until != nil {
		text += " " + until + clockText(l.Until.UnixNano())
	}
	if l.Without > 0 {
		text += ", then nobody for " + between(l.Least, l.Most)
	}
	if l.If != "" {
		text += ", if " + l.If
	}
	for _, role := range []Role{RoleEnded, RoleDelayed, RoleNeither} {
		first := true
		for _, one := range joined(l.Why) {
			if one.Role != role {
				continue
			}
			text += "; "
			if first {
				text += roleNames[role] + ": "
			}
			text, first = text+one.Text, false
		}
	}
	if l.Unknown != "" {
		text += "; cannot tell: " + l.Unknown
	}
	return text
}

// roleNames are what stands before the causes of a role.
var roleNames = map[Role]string{RoleEnded: "why", RoleDelayed: "the next came later", RoleNeither: "also wrong then"}

// joined returns reasons with one sentence for each cause, and the first role that it had.
func joined(all []Because) (some []Because) {
	at := map[Cause]int{}
	var others [][]string
	for _, b := range all {
		i, said := at[b.Cause]
		if !said {
			at[b.Cause] = len(some)
			some, others = append(some, b), append(others, nil)
			continue
		}
		others[i] = append(others[i], b.Participant)
	}
	for i, names := range others {
		if len(names) > 0 {
			some[i].Text += " (the same: " + strings.Join(names[:min(3, len(names))], ", ") + ")"
		}
	}
	return some
}
