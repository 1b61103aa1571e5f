package why

import (
	"cmp"
	"fmt"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// worksBefore compares the work of a term with that of those before it whose work may run on: the last, and those of
// lingering. It returns those that may linger on.
func (h *history) worksBefore(t, last *Term, lingering []*Term) (all []Overlap, kept []*Term) {
	if last != nil {
		lingering = append(lingering, last)
	}
	for _, before := range lingering {
		if !conflict(before, t) {
			kept = append(kept, before)
			continue
		}
		o, recorded := h.workOf(before, t)
		if !recorded {
			continue
		}
		all = append(all, o)
		if o.Open != "" || !o.Known || o.After < 0 {
			kept = append(kept, before)
		}
	}
	return all, kept[max(0, len(kept)-maxLingering):]
}

// maxLingering is how many terms are looked at whose work may run on.
const maxLingering = 16

// judgeWork finds the verdict about work over all moves that were asked for.
func (r *Report) judgeWork() {
	if r.h.apart.sure() {
		return // work in different ensembles is not at once in any line
	}
	var worst Overlap
	two, open := 0, ""
	for _, m := range r.Moves {
		for _, o := range m.Work {
			r.Work = cmp.Or(r.Work, WorkAlone)
			if o.Both > 0 {
				two++
			}
			if o.Both > worst.Both {
				worst = o
			}
			open = cmp.Or(open, o.Open)
		}
	}
	switch {
	case two > 0:
		r.Work = WorkTwo
		r.WorkWhy = fmt.Sprintf("two worked at once for %s%s: check what tokens %d and %d wrote", worst.long(),
			worst.mayRun(), worst.Earlier.Token, worst.Later.Token)
		if two > 1 {
			r.WorkWhy += fmt.Sprintf(" (and %s like that)", plural(two-1, "other pair"))
		}
	case open != "":
		r.Work, r.WorkWhy = WorkUnknown, "cannot tell whether two worked at once: "+open
	case r.Work == WorkAlone:
		r.WorkWhy = "no two worked at once, as far as their work is recorded"
	}
}

// long says for how long both worked: at least so long if the end of one is not known.
func (o Overlap) long() string {
	text := span(o.Both) + plusMinus(o.Error)
	if o.Open != "" {
		return "at least " + text
	}
	return text
}

// mayRun says that the end of the earlier work is not recorded, "" if it is.
func (o Overlap) mayRun() string {
	if o.Open == "" {
		return ""
	}
	return " (the end of " + o.Earlier.who() + "'s work is not recorded, it may still run)"
}

// writes counts guarded writes, and finds one that was committed out of its term.
func (r *Report) writes() (w Writes) {
	followed := map[*Term]*Term{}
	for _, m := range r.Moves {
		if m.From != nil {
			followed[m.From] = m.To
		}
		if m.To != nil && followed[m.To] == nil {
			followed[m.To] = nil
		}
	}
	for _, l := range r.logs {
		for _, one := range l.writes {
			t := termOfWrite(l, one)
			next, asked := followed[t]
			if t == nil || !asked {
				continue
			}
			w.Verdict = cmp.Or(w.Verdict, WritesInTerm)
			switch {
			case one.Refused != "":
				w.Refused++
			case one.Zxid == 0:
				w.Unanswered++
			default:
				w.Committed++
				if why := r.h.lateWrite(t, next, one); why != "" && w.Verdict != WritesLate {
					w.Verdict, w.Why = WritesLate, why
				}
			}
		}
	}
	return w
}

// termOfWrite returns the term of a guarded write: the last of its node that had begun.
func termOfWrite(l *Log, w events.Write) (last *Term) {
	for _, t := range l.terms {
		if t.Node == w.Path && t.Token == w.Token && t.ElectedAt <= w.At {
			last = t
		}
	}
	return last
}

// lateWrite returns what shows that a guarded write was committed out of its term, "" if nothing does.
func (h *history) lateWrite(t, next *Term, w events.Write) string {
	if h.replaced {
		return ""
	}
	what := fmt.Sprintf("a guarded write with token %d (zxid %s) was committed after ", t.Token, hex(w.Zxid))
	if end := h.endOfTerm(t); end != nil && end.ended.Zxid < w.Zxid {
		return what + "its node had gone (zxid " + hex(end.ended.Zxid) + ")"
	}
	if next == nil || next.Node == t.Node {
		return ""
	}
	for i := firstSight(next.Log, next.Elected+1); i < next.Log.sights.len(); i++ {
		if s := next.Log.sights.at(i); s.write && s.sent >= next.ElectedAt {
			if s.zxid < w.Zxid {
				return what + next.who() + " led (whose write has zxid " + hex(s.zxid) + ")"
			}
			break
		}
	}
	return ""
}

// text says what became of guarded writes, "" if there were none.
func (w Writes) text() string {
	if w.Verdict == WritesLate {
		return w.Why
	}
	if w.Verdict == WritesNone {
		return ""
	}
	text := "guarded writes: " + itoa(int64(w.Committed)) + " committed, none out of its term"
	if w.Refused > 0 {
		text += ", " + itoa(int64(w.Refused)) + " refused"
	}
	if w.Unanswered > 0 {
		text += ", " + itoa(int64(w.Unanswered)) + " without an answer (read what they wrote)"
	}
	return text
}

// tellOverlap says what the work of the earlier term did in the later one. Last: nobody led in between.
func (r *Report) tellOverlap(o Overlap, last bool, add adder) {
	who, next, led := o.Earlier.who(), o.Later.who(), o.Later.led()
	what := "its work"
	if o.command != "" {
		what = who + "'s command"
	}
	both := ""
	if o.Both > 0 {
		both = fmt.Sprintf(", and both worked for %s: check what tokens %d and %d wrote", o.long(), o.Earlier.Token,
			o.Later.Token)
	}
	switch late := -o.After; {
	case o.Open != "" && !last && o.Both == 0: // it was said of the move before
	case o.Open != "":
		add(o.Open + both)
	case !o.Known:
	case o.After >= 0 && o.command == events.CommandGuarded:
		add(fmt.Sprintf("the guard ended %s %s before %s %s", what, span(o.After), next, led))
	case o.After >= 0 && o.command != "":
		add(fmt.Sprintf("%s ended %s before %s %s", what, span(o.After), next, led))
	case o.After < 0 && (late > 50*time.Millisecond || o.Both > 0):
		add(fmt.Sprintf("%s ran on for %s after %s %s%s", what, span(late), next, led, cmp.Or(both,
			": "+next+" did not work then, as far as its log shows")))
	}
}
