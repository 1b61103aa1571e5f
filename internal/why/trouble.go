package why

import (
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// Trouble is what kept a participant from leading, or made it give its place up.
type Trouble struct {
	Log         *Log
	Participant string
	Path        string // of the participant
	Cause       Cause  // CauseGivenUp, CauseNoRights, CauseTooLarge, CauseUnhealthy, …
	Code        events.Code
	Text        string
	Record      Ref
	at          int64
}

// causeOf returns the cause that a code of a failure means.
func causeOf(code events.Code) Cause {
	switch code {
	case events.NoAuth, events.AuthFailed, events.InvalidACL:
		return CauseNoRights
	case events.TooLarge:
		return CauseTooLarge
	case events.Unhealthy:
		return CauseUnhealthy
	case events.JobDisabled:
		return CauseDisabled
	case events.JobConfig, events.JobStrategy:
		return CauseCannotDeal
	case events.DeletedAgain:
		return CauseDeleted
	case events.PersistentNode:
		return CauseBlocked
	case events.TooSlow:
		return CauseSlowEnsemble
	}
	return CauseRefused
}

// givesUp reports whether a record is that of a participant that gives its place up: by the guard of its row.
func givesUp(r events.Record) bool { return strings.HasSuffix(r.Row, "[unusable]") }

// troubles returns what kept participants whose paths are concerned from leading between two instants of the clock that is shown: of
// each log each kind once.
func (r *Report) troubles(concerns func(path string) bool, from, to int64) (all []Trouble) {
	said := map[string]bool{}
	for _, l := range r.logs {
		for _, f := range l.failures {
			if f.code.Transient() && !f.givenUp || f.machine == events.SessionMachine {
				continue
			}
			at, m := r.wall(l, f.at), l.machineOf(f.machine)
			t := Trouble{Log: l, Participant: l.nameOf(f.machine), Path: m.path, Cause: causeOf(f.code), Code: f.code, Text: f.text, Record: Ref{l.Name, f.seq}, at: at}
			if f.givenUp {
				t.Cause = CauseGivenUp
			}
			key := l.Name + string(t.Cause) + string(f.code)
			if at < from || at >= to || said[key] || !concerns(m.path) {
				continue
			}
			said[key] = true
			all = append(all, t)
		}
	}
	return all
}

// sentence says what kept a participant from leading.
func (t Trouble) sentence() Sentence {
	text := t.Log.Name + " could not lead: " + string(t.Code) + " " + oneLine(t.Text)
	if t.Cause == CauseGivenUp {
		text = t.Log.Name + " gave its place up and queued again, because it could not use it: " + string(t.Code) + " " + oneLine(strings.TrimPrefix(t.Text, givenUpText))
	}
	return Sentence{strings.TrimRight(text, " "), []Ref{t.Record}}
}

func (t Trouble) fact() Fact {
	at := time.Unix(0, t.at).UTC()
	return Fact{Type: "trouble", Path: t.Path, Log: t.Log.Name, Participant: t.Participant, From: &at, Cause: t.Cause, Code: t.Code, Text: oneLine(t.Text), Records: []Ref{t.Record}}
}

// givenUpText is what a failure begins with for which a place is given up. It is left out of a sentence that says so.
const givenUpText = "the place is given up: "

func inLine(path, dir string) bool { return path == dir || strings.HasPrefix(dir, path+"/") }

// nameOf names a participant: by its id, or by its log.
func (l *Log) nameOf(machine events.ID) string {
	if m := l.machines[machine]; m != nil && m.id != "" {
		return quoteID(m.id)
	}
	return l.Name
}
