package why

import (
	"strconv"
	"time"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// face is the clock that is shown: that of the ensemble's leader in one epoch, or each host's
// own if the logs do not show any.
type face struct{ clock int }

// chooseFace chooses the epoch with the most samples.
func (h *history) chooseFace() face {
	best, most := -1, 0
	for _, id := range h.clocks.epochs {
		n := 0
		for other := range h.clocks.n {
			if e := h.clocks.edges[[2]int{id, other}]; e != nil {
				n += len(e.samples)
			}
		}
		if n > most || n == most && best >= 0 && id < best {
			best, most = id, n
		}
	}
	return face{best}
}

// wall returns the time of day when a log's clock showed at, in nanoseconds since 1970.
func (f face) wall(h *history, l *Log, at int64) int64 {
	if f.clock >= 0 {
		if got := h.clocks.read(l, at)[f.clock]; got != anywhere {
			return got.mid()
		}
	}
	return l.wall + at - l.Header.StartAt
}

func (r *Report) wall(l *Log, at int64) int64 { return r.face.wall(r.h, l, at) }

// days returns the days of the moves, or of the logs if there are none: times are shown without them.
func (r *Report) days() string {
	from, to := endless, -endless
	for _, m := range r.Moves {
		from, to = min(from, r.began(m)), max(to, r.when(m))
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
		case r.when(m) < since || r.began(m) >= until:
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
		from, to := r.began(m), r.when(m)
		if to >= at && from < at+int64(time.Minute) {
			kept = append(kept, m)
		}
		if far := min(abs(from-at), abs(to-at)); far < best {
			nearest, best = i, far
		}
	}
	if len(kept) == 0 && nearest >= 0 {
		kept, r.nearestTo = all[nearest:nearest+1], at
	}
	return kept
}

func abs(n int64) int64 { return max(n, -n) }
