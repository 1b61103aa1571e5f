package why

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// face is the clock that is shown: that of the ensemble's leader in one epoch, set forward by shift so that it is
// that of hosts, or each host's own if the logs do not show any.
type face struct {
	clock int
	shift int64
	whose string // "" is the clock of the ensemble's leader
}

// name says whose clock it is, "" for that of the ensemble's leader.
func (f face) name() string {
	if f.whose == "" || strings.HasPrefix(f.whose, "which ") {
		return f.whose
	}
	return "of " + f.whose
}

// chooseFace chooses the epoch with the most samples.
func (h *history) chooseFace() face {
	best, most := -1, 0
	for _, id := range h.clocks.epochs {
		n := 0
		for other := range h.clocks.n {
			if e := h.clocks.edges[[2]int{id, other}]; e != nil {
				n += e.added
			}
		}
		if n > most || n == most && best >= 0 && id < best {
			best, most = id, n
		}
	}
	return face{clock: best}
}

// wall returns the time of day when a log's clock showed at, in nanoseconds since 1970.
func (f face) wall(h *history, l *Log, at int64) int64 {
	if f.clock >= 0 {
		if got := h.clocks.read(l, at)[f.clock]; got != anywhere {
			return got.mid() + f.shift
		}
	}
	return l.wall + at - l.Header.StartAt
}

func (r *Report) wall(l *Log, at int64) int64 { return r.face.wall(r.h, l, at) }

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

// time returns the time of day as text.
func (r *Report) time(l *Log, at int64) string { return clockText(r.wall(l, at)) }

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
	for _, c := range r.h.hostAheads(r.logs, r.face) {
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
				all = append(all, fmt.Sprintf("%s %s (token %d)", t.who(), strings.Replace(strings.Replace(t.holds(), "leads", "led", 1), "holds", "held", 1), t.Token))
			}
		}
	}
	return all
}

func abs(n int64) int64 { return max(n, -n) }
