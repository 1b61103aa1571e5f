package doctor

import "slices"

// Report is what an examination found. Its JSON is documented in docs/api/doctor.md.
type Report struct {
	Schema   int        `json:"schema"` // 1; a new one if a name goes or changes its meaning
	Verdict  Verdict    `json:"verdict"`
	Findings []Finding  `json:"findings"` // the worst first
	Servers  []*Server  `json:"servers"`
	Lines    []*Line    `json:"lines,omitempty"`
	Deep     *Deep      `json:"deep,omitempty"`    // with Settings.Deep
	Meaning  *Meaning   `json:"meaning,omitempty"` // if a server serves
	NotAsked []NotAsked `json:"notAsked"`
}

// judge runs the checks over the facts.
func judge(f *Facts) Report {
	r := Report{Schema: 1, Verdict: Fit, Findings: []Finding{}, Servers: f.servers, Lines: f.lines, Deep: f.deep,
		NotAsked: []NotAsked{}}
	for _, c := range checks {
		r.Findings = append(r.Findings, c.finds(f)...)
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int { return rank(b.Severity) - rank(a.Severity) })
	r.NotAsked = append(r.NotAsked, f.notAsked...)
	if len(f.serving()) > 0 {
		r.Meaning = meaningOf(f)
	}
	if len(r.Findings) > 0 {
		r.Verdict = map[Severity]Verdict{Note: Fit, Warning: Warned, Unfit: NotFit}[r.Findings[0].Severity]
	}
	switch {
	case f.partial && r.Verdict != NotFit:
		r.Verdict = Incomplete
	case r.Meaning == nil && !slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.ID == "login-refused" }):
		r.Verdict = Unreachable
	}
	return r
}
