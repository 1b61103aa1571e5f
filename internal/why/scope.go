package why

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// days returns the days of the moves, or of the logs if there are none: times are shown without them.
func (r *Report) days() string {
	from, to := endless, -endless
	for _, m := range r.Moves {
		from, to = min(from, m.began), max(to, m.when)
	}
	if len(r.Moves) == 0 {
		for _, l := range r.logs {
			from, to = min(from, r.wall(l, l.Header.StartAt)), max(to, r.wall(l, l.last))
		}
	}
	if from > to {
		return ""
	}
	first, last := time.Unix(0, from).UTC().Format(time.DateOnly), time.Unix(0, to).UTC().Format(time.DateOnly)
	if first == last {
		return " of " + first
	}
	return " from " + first + " to " + last
}

// scope returns the moves that were asked for.
func (r *Report) scope(all []Move, o Options) (kept []Move) {
	if o.Token == 0 && o.Since.IsZero() && o.Until.IsZero() && o.Around.IsZero() {
		return all
	}
	var since, until int64 = -endless, endless
	if !o.Since.IsZero() {
		since = o.Since.UnixNano()
	}
	if !o.Until.IsZero() {
		until = o.Until.UnixNano()
	}
	for _, m := range all {
		switch {
		case o.Token != 0 && (m.From == nil || m.From.Token != o.Token) && (m.To == nil || m.To.Token != o.Token):
		case max(m.began, m.when) < since || min(m.began, m.when) >= until: // of two at once the next began first
		default:
			kept = append(kept, m)
		}
	}
	if o.Around.IsZero() {
		return kept
	}
	return r.around(kept, o.Around.UnixNano())
}

// NoneAround returns the time that Options.Around asked for if no move is in that minute, by any host's
// clock; else zero.
func (r *Report) NoneAround() time.Time {
	if r.nearestTo == 0 {
		return time.Time{}
	}
	return time.Unix(0, r.nearestTo).UTC()
}

// around returns the moves of a minute; if there is none, the nearest.
func (r *Report) around(all []Move, at int64) (kept []Move) {
	nearest, best := -1, endless
	for i, m := range all {
		from, to := min(m.began, m.when), max(m.began, m.when) // of two at once the next began first
		if to >= at && from < at+int64(time.Minute) {
			kept = append(kept, m)
		}
		if far := min(abs(from-at), abs(to-at)); far < best {
			nearest, best = i, far
		}
	}
	if len(kept) == 0 {
		kept = r.aroundElsewhere(all, at)
	}
	if len(kept) == 0 && nearest >= 0 {
		kept, r.nearestTo = all[nearest:nearest+1], at
	}
	return kept
}

// aroundElsewhere returns the moves of a minute by the clock of a host, or of the ensemble's leader, that shows
// another time.
func (r *Report) aroundElsewhere(all []Move, at int64) (kept []Move) {
	for _, c := range r.h.hostAheads(r.logs, r.byClock) {
		for _, m := range all {
			from, to := min(m.began, m.when)+c.ahead, max(m.began, m.when)+c.ahead
			if to >= at && from < at+int64(time.Minute) {
				kept = append(kept, m)
			}
		}
		if len(kept) > 0 {
			r.elsewhere = c.whose
			return kept
		}
	}
	return nil
}

// noMove says what was in the minute that was asked for and that has no move: who led, or that the logs do not have it.
func (r *Report) noMove(path string) string {
	day := func(ns int64) string { return time.Unix(0, ns).UTC().Format("2006-01-02 15:04:05") }
	text := "no move is in the minute from " + day(r.nearestTo) + " UTC"
	from, to := r.covered()
	switch led := r.throughout(path, r.nearestTo, r.nearestTo+int64(time.Minute)); {
	case r.nearestTo+int64(time.Minute) <= from || r.nearestTo > to:
		text += ", and no record: the logs are from " + day(from) + " to " + day(to) + " UTC"
	case len(led) > 3:
		text += ": throughout, " + strings.Join(led[:3], ", ") + ", and " + plural(len(led)-3, "other")
	case len(led) > 0:
		text += ": throughout, " + strings.Join(led, ", ")
	default:
		text += ": nobody whose log is here led for all of it"
	}
	return text + "; the nearest move is shown, and the first line is about it alone"
}

// covered returns the times of the first and the last record of all logs.
func (r *Report) covered() (from, to int64) {
	from, to = endless, -endless
	for _, l := range r.logs {
		if l.Records > 0 {
			from, to = min(from, r.wall(l, l.first)), max(to, r.wall(l, l.last))
		}
	}
	return from, to
}

// throughout returns who led, or held, for all of a time.
func (r *Report) throughout(path string, from, to int64) (all []string) {
	for _, n := range r.lines {
		if path != "" && !under(path, n) {
			continue
		}
		for _, t := range n.terms {
			if r.wall(t.Log, t.ElectedAt) <= from && r.wall(t.Log, t.rightUntil()) >= to {
				all = append(all,
					fmt.Sprintf("%s %s (token %d)", t.who(),
						strings.Replace(strings.Replace(t.holds(), "leads", "led", 1), "holds", "held", 1), t.Token))
			}
		}
	}
	return all
}

// margin is how much of the time before the first move that was asked for is shown, and behind the last.
const margin = int64(time.Minute)

// Narrow has Picture leave out all but a time with at most so many records, and returns it: the end of that of the
// moves that were asked for. It returns nil, and changes nothing, if the logs have no more records than that.
func (r *Report) Narrow(most int) *Window {
	all := 0
	for _, l := range r.logs {
		all += l.Records
	}
	if all <= most {
		return nil
	}
	w := &Window{from: -endless, to: endless}
	if r.Earlier > 0 {
		w.from, w.to = r.asked()
	}
	begin, end := r.covered()
	lo, hi := max(begin, w.from), min(end, w.to)+1
	if r.count(w.from, w.to) > most {
		for w.from = lo; lo < hi; { // the first time from which there are not too many
			if w.from = lo + (hi-lo)/2; r.count(w.from, w.to) > most {
				lo = w.from + 1
			} else {
				hi = w.from
			}
		}
		w.from = hi
	}
	w.Left = all - r.count(w.from, w.to)
	for _, l := range r.logs {
		first, last := r.indexes(l, w.from, w.to)
		p := Part{From: math.MaxUint64}
		if first < last {
			p = Part{l.recs.at(first).seq, l.recs.at(last - 1).seq}
		}
		w.Parts = append(w.Parts, p)
	}
	r.window = w
	return w
}

// asked returns the time of the moves that were asked for.
func (r *Report) asked() (from, to int64) {
	from, to = endless, -endless
	for _, m := range r.Moves {
		from, to = min(from, m.began, m.when), max(to, m.began, m.when)
	}
	return from - margin, to + margin
}

// count returns how many records the logs have in a time.
func (r *Report) count(from, to int64) (n int) {
	for _, l := range r.logs {
		first, last := r.indexes(l, from, to)
		n += max(0, last-first)
	}
	return n
}

// indexes returns which records of a log are in a time: from the first, up to the one before the last.
func (r *Report) indexes(l *Log, from, to int64) (first, last int) {
	return l.recs.first(func(p *packed) bool { return r.wall(l, p.at) >= from }),
		l.recs.first(func(p *packed) bool { return r.wall(l, p.at) > to })
}

// LeftOut says what the window of Narrow leaves out, and how to see it; nothing if there is none.
func (r *Report) LeftOut() (said []Sentence) {
	if r.window == nil {
		return nil
	}
	moves := 0
	for _, m := range r.Moves {
		if !r.window.has(m) {
			moves++
		}
	}
	from, to := r.covered()
	from, to = max(from, r.window.from), min(to, r.window.to)
	return []Sentence{{Text: fmt.Sprintf("The page has what was from %s to %s: %s and %s of another time "+
		"are left out, "+
		"which --around, --since, --until, --token or --path shows", clockText(from), clockText(to),
		plural(r.window.Left, "record"), plural(moves, "move"))}}
}

// has reports whether a move is in the window: all are in none.
func (w *Window) has(m Move) bool {
	return w == nil || max(m.began, m.when) >= w.from && min(m.began, m.when) <= w.to
}

// hasSpan reports whether a time by the clock that is shown, in microseconds, is in the window. To 0 is no end.
func (w *Window) hasSpan(from, to int64) bool {
	return w == nil || (to == 0 || to >= w.from/micro) && from <= w.to/micro
}

// hasRecord reports whether a record of a log is in the window.
func (w *Window) hasRecord(log int, seq uint64) bool {
	return w == nil || seq >= w.Parts[log].From && seq <= w.Parts[log].To
}

// hasTerm reports whether a term of a log is in the window.
func (w *Window) hasTerm(log int, t *Term) bool {
	return w == nil || t.Elected <= w.Parts[log].To && (t.Stopped == 0 || t.Stopped >= w.Parts[log].From)
}
