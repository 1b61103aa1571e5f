package why

import (
	"cmp"
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// without returns a stint without the times in which the process did not run.
func (s stint) without(pauses []pause) (all []stint) {
	i, _ := slices.BinarySearchFunc(pauses, s.from, func(p pause, at int64) int { return cmp.Compare(p.at, at) })
	for _, p := range pauses[i:] {
		from := p.at - int64(p.long)
		if from >= s.to {
			break
		}
		if from > s.from {
			all = append(all, stint{from: s.from, to: from, seq: p.seq, unsure: s.unsure})
		}
		s.from = min(p.at, s.to)
	}
	return append(all, s)
}

// endCommand notes a step of a command. The first that ends it counts: elect may have been stopped when the guard did.
func (s *stint) endCommand(what events.CommandStep, at int64) {
	switch {
	case !s.open:
		return
	case what == events.CommandMissing:
		at = s.from
	case what == events.CommandGuarded:
		at += guardSlack
	case what == events.CommandKilled: // the end of its last process follows
		s.command = what
		return
	}
	if s.command != events.CommandKilled {
		s.command = what
	}
	s.to, s.open = max(at, s.from), false
}

// workEnded notes that a piece of work has returned. One that is no longer waited for still runs.
func (m *machine) workEnded(r events.Record) {
	n := len(m.stints)
	if m.works > 0 || n == 0 || !m.stints[n-1].open || r.Event.Code == events.StillRunning {
		return
	}
	s := &m.stints[n-1]
	s.to, s.seq, s.open = r.Event.At, r.Seq, false
}

// breakWork notes that records are missing while work runs.
func (l *Log) breakWork() {
	for _, m := range l.machines {
		if n := len(m.stints); n > 0 && m.stints[n-1].open {
			m.stints[n-1].unsure = true
		}
	}
}

// reading returns what the log's clock showed at a line of the log of commands.
func (l *Log) reading(line events.CommandLine) int64 {
	if l.Header.Clock == "boottime" && line.Boot != "" && line.Boot == l.Header.Boot {
		return line.At
	}
	wall, err := time.Parse(time.RFC3339Nano, line.Wall)
	if err != nil || l.wall == 0 {
		return l.last
	}
	return l.Header.StartAt + wall.UnixNano() - l.wall
}

// guardSlack is how much longer a command may live after its guard's last line: the line is written before the kill.
const guardSlack = int64(100 * time.Millisecond)
