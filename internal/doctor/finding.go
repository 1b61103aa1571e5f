package doctor

import (
	"encoding/json"
	"slices"
	"time"
)

// Severity says what a finding means for the promises.
type Severity string

// The severities.
const (
	Unfit   Severity = "unfit"   // a promise does not hold, or nobody can lead
	Warning Severity = "warning" // the promises hold with less room, or after one more fault they do not
	Note    Severity = "note"    // something to know; the ensemble is fit
)

func rank(s Severity) int { return slices.Index([]Severity{Note, Warning, Unfit}, s) }

// Finding is one thing that is so, and what to do about it.
type Finding struct {
	ID       string   `json:"id"` // of the check's finding: it stays
	Severity Severity `json:"severity"`
	Where    string   `json:"where"`             // a server's address, a path, or "ensemble"
	Is       string   `json:"is"`                // one sentence
	Do       string   `json:"do"`                // one sentence
	Number   *Millis  `json:"valueMs,omitempty"` // what was measured, if it is a time
	Fault    string   `json:"fault,omitempty"`   // the number of a known fault of ZooKeeper
}

// Verdict is what the findings come to.
type Verdict string

// The verdicts.
const (
	Fit         Verdict = "fit"
	Warned      Verdict = "fit with warnings"
	NotFit      Verdict = "not fit"
	Incomplete  Verdict = "incomplete"  // what was asked is fit, but not all was asked
	Unreachable Verdict = "unreachable" // no server opened a session
)

// Millis is a duration that JSON has as a number of milliseconds.
type Millis time.Duration

// MarshalJSON writes the milliseconds, to the microsecond.
func (m Millis) MarshalJSON() ([]byte, error) {
	return json.Marshal(float64(time.Duration(m).Microseconds()) / 1000)
}
