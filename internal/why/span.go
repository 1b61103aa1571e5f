package why

import "time"

// gapBounds returns for how long at least and at most nobody had the right to lead between two terms: from the end of
// the right of one, which may be known up to bounds, to the beginning of the next. It is less than 0 for terms that
// overlap.
func (h *history) gapBounds(a, b *Term) interval {
	end := a.endBounds()
	if a.Open() && h.livedOn(a, b) != "" {
		end.hi = endless // it went on, and the log does not have until when
	}
	between := interval{-endless, endless}
	if end.hi < endless {
		between.lo = h.clocks.between(a.Log, end.hi, b.Log, b.ElectedAt).lo
	}
	between.hi = h.clocks.between(a.Log, end.lo, b.Log, b.ElectedAt).hi
	return between
}

// smallError is the error up to which a duration is shown with it, and not as two bounds.
const smallError = 50 * time.Millisecond

// between returns a duration that is known up to bounds, for people.
func between(least, most time.Duration) string {
	half := (most - least) / 2
	switch {
	case most < least: // there is no upper bound
		return "at least " + span(least)
	case span(least) == span(most):
		return span(most)
	case least <= 0:
		return "at most " + span(most)
	case half <= smallError:
		return span(least+half) + plusMinus(half)
	}
	return "at least " + span(least) + ", at most " + span(most)
}

// nobody says for how long nobody had the right in a move, "" if the logs do not show it.
func (r *Report) nobody(m Move) string {
	if m.From == nil || m.To == nil || m.Permits != nil || len(m.strange) > 0 {
		return ""
	}
	gap := r.h.gapBounds(m.From, m.To)
	if !gap.known() || gap.mid() <= 0 {
		return ""
	}
	return "nobody for " + between(time.Duration(gap.lo), time.Duration(gap.hi))
}
