package doctor

import "slices"

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
	Unreachable Verdict = "unreachable" // no server opened a session
)

// Report is what an examination found. Its JSON is documented in docs/operations.md.
type Report struct {
	Schema   int        `json:"schema"` // 1; a new one if a name goes or changes its meaning
	Verdict  Verdict    `json:"verdict"`
	Findings []Finding  `json:"findings"` // the worst first
	Servers  []*Server  `json:"servers"`
	Lines    []*Line    `json:"lines,omitempty"`
	Meaning  *Meaning   `json:"meaning,omitempty"` // if a server serves
	NotAsked []NotAsked `json:"notAsked"`
}

// judge runs the checks over the facts.
func judge(f *Facts) Report {
	r := Report{Schema: 1, Verdict: Fit, Findings: []Finding{}, Servers: f.servers, Lines: f.lines,
		NotAsked: []NotAsked{}}
	for _, c := range checks {
		r.Findings = append(r.Findings, c.finds(f)...)
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int { return rank(b.Severity) - rank(a.Severity) })
	r.NotAsked = append(r.NotAsked, f.notAsked...)
	if len(f.serving()) == 0 {
		r.Verdict = Unreachable
		return r
	}
	r.Meaning = meaningOf(f)
	if len(r.Findings) > 0 {
		r.Verdict = map[Severity]Verdict{Note: Fit, Warning: Warned, Unfit: NotFit}[r.Findings[0].Severity]
	}
	return r
}
