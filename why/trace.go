package why

import "encoding/json"

// traceEvent is one event of the Trace Event Format, which Perfetto and Chrome read. Times are
// microseconds.
type traceEvent struct {
	Name  string         `json:"name"`
	Phase string         `json:"ph"`
	At    float64        `json:"ts"`
	For   float64        `json:"dur,omitempty"`
	Log   int            `json:"pid"`
	Lane  int            `json:"tid"`
	ID    int            `json:"id,omitempty"`
	Bind  string         `json:"bp,omitempty"`
	Scope string         `json:"s,omitempty"`
	Args  map[string]any `json:"args,omitempty"`
}

// Lanes of a log in a trace.
const (
	laneRight = iota + 1 // the right to believe
	laneWork             // what the work knew
	laneConnection
)

// Trace returns the terms of all logs as a trace for Perfetto or chrome://tracing: for each log
// the right to believe, what its work knew, and its connections; arrows are moves.
func (r *Report) Trace() ([]byte, error) {
	var all []traceEvent
	for i, l := range r.logs {
		all = append(all, traceEvent{Name: "process_name", Phase: "M", Log: i, Args: map[string]any{"name": l.Name}})
		for lane, name := range []string{"right to believe", "work", "connection"} {
			all = append(all, traceEvent{Name: "thread_name", Phase: "M", Log: i, Lane: lane + 1, Args: map[string]any{"name": name}})
		}
		all = append(all, r.traceLog(i, l)...)
	}
	for i, m := range r.Moves {
		if m.From == nil || m.To == nil {
			continue
		}
		name := string(m.Ending.Cause)
		all = append(all,
			traceEvent{Name: name, Phase: "s", At: micros(r.wall(m.From.Log, m.Ending.At)), Log: r.indexOf(m.From.Log), Lane: laneRight, ID: i + 1},
			traceEvent{Name: name, Phase: "f", Bind: "e", At: micros(r.wall(m.To.Log, m.To.ElectedAt)), Log: r.indexOf(m.To.Log), Lane: laneRight, ID: i + 1})
	}
	return json.Marshal(map[string]any{"traceEvents": all, "displayTimeUnit": "ms"})
}

func micros(ns int64) float64 { return float64(ns) / 1000 }

func (r *Report) indexOf(l *Log) int {
	for i := range r.logs {
		if r.logs[i] == l {
			return i
		}
	}
	return -1
}

func (r *Report) traceLog(i int, l *Log) (all []traceEvent) {
	bar := func(name string, lane int, from, to int64, args map[string]any) {
		all = append(all, traceEvent{Name: name, Phase: "X", At: micros(r.wall(l, from)), For: max(micros(to-from), 1), Log: i, Lane: lane, Args: args})
	}
	for _, t := range l.terms {
		args := map[string]any{"token": t.Token, "node": t.Node, "elected": t.Elected, "stopped": t.Stopped, "reason": t.Reason}
		bar(t.who()+" "+t.Dir, laneRight, t.ElectedAt, t.rightUntil(), args)
		end, _ := t.workEnd()
		if t.Stopped == 0 {
			end = t.Log.last
		}
		bar(t.who(), laneWork, t.ElectedAt, end, args)
	}
	for _, s := range l.sessions {
		for _, a := range s.attached {
			end := l.last
			if lost := s.nextSuspended(a.at); lost != nil {
				end = lost.at
			}
			bar(a.server+" session "+hex(s.id), laneConnection, a.at, end, map[string]any{"record": a.seq})
		}
	}
	for _, p := range l.pauses {
		all = append(all, traceEvent{Name: "did not run for " + span(p.long), Phase: "i", Scope: "p", At: micros(r.wall(l, p.at)), Log: i, Lane: laneWork, Args: map[string]any{"record": p.seq}})
	}
	return all
}
