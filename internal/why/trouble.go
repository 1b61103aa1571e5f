package why

import (
	"strings"

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
	shards      bool // it is a member that owns shards
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

// sentence says what kept a participant from leading.
func (t Trouble) sentence() Sentence {
	could := "lead"
	if t.shards {
		could = "own shards"
	}
	text := t.Log.Name + " could not " + could + ": " + string(t.Code) + " " + oneLine(t.Text)
	if t.Cause == CauseGivenUp {
		text = t.Log.Name + " gave its place up and queued again, because it could not use it: " + string(t.Code) +
			" " + oneLine(strings.TrimPrefix(t.Text, givenUpText))
	}
	return Sentence{strings.TrimRight(text, " "), []Ref{t.Record}}
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
