package incidents

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/internal/why"
)

// slack is how far a time of a summary may be from what the driver saw: the driver hears a sign of work each 20 ms.
const slack = 300 * time.Millisecond

// answers are what a program reads of a summary: the fields of why --json that answer the five questions. They are
// read from JSON, so their names are compared, too.
type answers struct {
	Verdict why.Verdict
	Work    why.WorkVerdict
	Leader  string
	Without time.Duration `json:"withoutNanos"`
	Longest time.Duration `json:"longestNanos"`
	Bounds  why.GapBounds `json:"gapBounds"`
	Unknown string
	Terms   []struct {
		Leader  string
		From    time.Time
		Until   *time.Time
		Unknown string
		Why     []struct {
			Participant string
			Cause       why.Cause
		}
	}
	Clocks []struct {
		Host       string
		AheadNanos time.Duration
	}
	Do []struct {
		Cause why.Cause
		Text  string
	}
}

// explained returns the report of an incident of two causes, and its one summary as a program reads it. Hosts: as if
// each participant had a host of its own. Servers: with their transaction logs.
func explained(t *testing.T, dir string, hosts, servers bool) (*why.Report, answers) {
	t.Helper()
	logs, txns, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	commands, err := ReadCommands(dir)
	if err != nil {
		t.Fatal(err)
	}
	if hosts {
		for _, l := range logs {
			l.Clock, l.Header.Host = "", "host-of-"+l.Name
		}
	}
	if !servers {
		txns = nil
	}
	r := why.Explain(logs, txns, why.Options{Commands: commands})
	var facts []answers
	for _, f := range r.Summary() {
		if f.Type != "summary" {
			continue
		}
		b, err := json.Marshal(f.Summary)
		if err != nil {
			t.Fatal(err)
		}
		var a answers
		if err := json.Unmarshal(b, &a); err != nil {
			t.Fatal(err)
		}
		facts = append(facts, a)
	}
	if len(facts) != 1 {
		t.Fatalf("%d summaries, want 1", len(facts))
	}
	return r, facts[0]
}

// TestTwoCauses compares the summary of each incident of two causes with what those who made it saw: with the logs as
// they were written, on one host, and as if each participant had a host of its own, whose clock is aligned by zxids.
func TestTwoCauses(t *testing.T) {
	dirs, err := os.ReadDir(twoCauses)
	if err != nil {
		t.Fatal(err)
	}
	if len(dirs) != 14 {
		t.Errorf("%d incidents, want 14: twelve of two causes, and two whose work outlived its right", len(dirs))
	}
	for _, d := range dirs {
		truth, err := ReadTruth(filepath.Join(twoCauses, d.Name()))
		if err != nil {
			t.Fatal(err)
		}
		for _, hosts := range []bool{false, true} {
			t.Run(fmt.Sprint(d.Name(), ",hosts=", hosts), func(t *testing.T) {
				r, a := explained(t, filepath.Join(twoCauses, d.Name()), hosts, true)
				text := strings.Join(r.Lines(false), "\n")
				if wrong := append(truth.wrong(a), wrongText(r.Summaries[0], text)...); len(wrong) > 0 {
					t.Errorf("%s\n%s", strings.Join(wrong, "\n"), text)
				}
			})
		}
	}
}

// wrong returns what of the answers is not so.
func (truth Truth) wrong(a answers) (all []string) {
	for _, some := range [][]string{truth.wrongTerms(a), truth.wrongReasons(a), truth.wrongWork(a), truth.wrongGaps(a),
		truth.wrongAdvice(a)} {
		all = append(all, some...)
	}
	return all
}

// wrongTerms compares who led when.
func (truth Truth) wrongTerms(a answers) (all []string) {
	if a.Leader != truth.Leads {
		all = append(all, fmt.Sprintf("%q leads at the end, want %q", a.Leader, truth.Leads))
	}
	seen := slices.DeleteFunc(slices.Clone(truth.Terms), func(l Led) bool { return l.Hidden })
	if len(a.Terms) != len(seen) {
		return append(all, fmt.Sprintf("%d terms, want %d", len(a.Terms), len(seen)))
	}
	for i, want := range seen {
		got := a.Terms[i]
		if got.Leader != want.Leader || !near(got.From, want.From, want.From) {
			all = append(all, fmt.Sprintf("term %d is of %s from %v, want %s from %s", i, got.Leader, got.From,
				want.Leader, want.From))
		}
		switch {
		case (got.Until == nil) != (want.Until == nil):
			all = append(all, fmt.Sprintf("term %d ends at %v, want %v", i, got.Until, want.Until))
		case want.Until != nil && !near(*got.Until, want.Until.Earliest, want.Until.Latest):
			all = append(all, fmt.Sprintf("term %d ends at %v, want %s to %s", i, got.Until, want.Until.Earliest,
				want.Until.Latest))
		}
	}
	return all
}

func near(got time.Time, earliest, latest string) bool {
	from, err := instant(earliest)
	to, err2 := instant(latest)
	return err == nil && err2 == nil && !got.Before(from.Add(-slack)) && !got.After(to.Add(slack))
}

// wrongReasons compares why leadership moved.
func (truth Truth) wrongReasons(a answers) (all []string) {
	for _, want := range truth.Why {
		if want.Term >= len(a.Terms) {
			all = append(all, fmt.Sprintf("there is no term %d", want.Term))
			continue
		}
		got := a.Terms[want.Term].Why
		if !slices.ContainsFunc(got, func(b struct {
			Participant string
			Cause       why.Cause
		}) bool {
			return (want.Of == "" || b.Participant == want.Of) && slices.Contains(want.Is, b.Cause)
		}) {
			all = append(all, fmt.Sprintf("term %d ended because of %v, and of %s %q is missing", want.Term, got,
				want.Of, want.Is))
		}
	}
	for i, term := range a.Terms {
		for _, b := range term.Why {
			if !slices.ContainsFunc(truth.Why, func(want Reason) bool {
				return want.Term == i && (want.Of == "" || want.Of == b.Participant) &&
					slices.Contains(want.Is, b.Cause)
			}) {
				all = append(all, fmt.Sprintf("term %d did not end because of %v", i, b))
			}
		}
	}
	for of, by := range truth.Clocks {
		if len(a.Clocks) != 1 || a.Clocks[0].Host != of ||
			(a.Clocks[0].AheadNanos-time.Duration(by*1e9)).Abs() > slack {
			all = append(all,
				fmt.Sprintf("the clocks %v are wrong, want that of %s to be %v s ahead", a.Clocks, of, by))
		}
	}
	if len(truth.Clocks) == 0 && len(a.Clocks) > 0 {
		all = append(all, fmt.Sprintf("clocks are wrong that are right: %v", a.Clocks))
	}
	return all
}

// wrongWork compares whether two worked.
func (truth Truth) wrongWork(a answers) (all []string) {
	switch {
	case truth.Worked.Two && a.Work != why.WorkTwo, !truth.Worked.Two && a.Work == why.WorkTwo:
		all = append(all, fmt.Sprintf("about work it says %q, and two worked is %t", a.Work, truth.Worked.Two))
	case a.Work == why.WorkUnknown && truth.CannotTell == "":
		all = append(all, "it cannot tell whether two worked")
	}
	return all
}

// wrongGaps compares for how long nobody led.
func (truth Truth) wrongGaps(a answers) (all []string) {
	all = truth.wrongLongest(a)
	open := a.Unknown
	for _, t := range a.Terms {
		open += t.Unknown
	}
	if truth.hides() != (open != "") {
		all = append(all, fmt.Sprintf("what is not known is %q, and a log is lost: %t", open, truth.hides()))
	}
	return all
}

// wrongLongest compares the sum and the longest of the times in which nobody led.
func (truth Truth) wrongLongest(a answers) (all []string) {
	for _, c := range []struct {
		name             string
		got, least, most time.Duration
		want             [2]float64
	}{{"in all", a.Without, a.Bounds.Least, a.Bounds.Most, truth.Nobody.Total},
		{"at most", a.Longest, a.Bounds.LongestLeast, a.Bounds.LongestMost, truth.Nobody.Longest}} {
		s := slack.Seconds()
		if c.got.Seconds() < c.want[0]-s || c.got.Seconds() > c.want[1]+s {
			all = append(all, fmt.Sprintf("%s nobody led for %v, want %v s", c.name, c.got, c.want))
		}
		if c.least > c.got || c.most < c.got || c.least.Seconds() > c.want[1]+s || c.most.Seconds() < c.want[0]-s {
			all = append(all, fmt.Sprintf("%s nobody led for %v to %v, want %v s", c.name, c.least, c.most, c.want))
		}
	}
	return all
}

// hides reports whether the log of a leader is not kept.
func (truth Truth) hides() bool {
	return slices.ContainsFunc(truth.Terms, func(l Led) bool { return l.Hidden })
}

// wrongAdvice compares what to do.
func (truth Truth) wrongAdvice(a answers) (all []string) {
	for _, want := range truth.Do {
		if !slices.ContainsFunc(a.Do, func(d struct {
			Cause why.Cause
			Text  string
		}) bool {
			return d.Text != "" && slices.Contains(want, d.Cause)
		}) {
			all = append(all, fmt.Sprintf("it does not say what to do about %q: %v", want, a.Do))
		}
	}
	return all
}

// wrongText returns which fields of a summary are not in its text: what a person reads says what a program does.
func wrongText(s why.LineSummary, text string) (all []string) {
	want := map[string]bool{}
	clock := func(t time.Time) string { return t.UTC().Format("15:04:05.000") }
	if s.Leader != "" {
		want[s.Leader+" leads since "+clock(*s.Since)] = true
	} else if s.NobodySince != nil {
		want["NOBODY LEADS since "+clock(*s.NobodySince)] = true
	}
	for _, l := range s.Terms {
		if l.Until == nil {
			continue
		}
		until := map[bool]string{true: "until at most"}[l.AtMost]
		want[fmt.Sprintf("Led: %s (token %d) from %s %s %s", l.Leader, l.Token, clock(l.From),
			cmp.Or(until, "until"), clock(*l.Until))] = true
		said := map[why.Cause]bool{}
		for _, b := range l.Why {
			if want[b.Text] = !said[b.Cause]; said[b.Cause] { // of one that several had, one sentence is enough
				delete(want, b.Text)
				want[b.Participant] = true
			}
			said[b.Cause] = true
		}
		want[l.Unknown] = true
	}
	for _, c := range s.Clocks {
		want["Clock: "+c.Text] = true
	}
	for _, one := range s.Skipped {
		want["Skipped: "+one.Participant+" was ahead of "+one.For] = true
	}
	for _, d := range s.Do {
		want["Do: "+d.String()] = true
	}
	if s.Gaps > 0 {
		b := s.Bounds
		if b.Least > time.Second && b.Most-b.Least > 200*time.Millisecond {
			want[fmt.Sprintf("Without a leader: at least %.2f s, at most %.2f s in ", b.Least.Seconds(),
				b.Most.Seconds())] = true
		} else {
			want[fmt.Sprintf("Without a leader: %.2f s", s.Without.Seconds())] = b.Least > time.Second
		}
		want["from "+clock(*s.LongestFrom)] = true
	}
	want[map[why.WorkVerdict]string{why.WorkTwo: "Two worked at once", why.WorkAlone: "No two worked at once",
		why.WorkUnknown: "Cannot tell whether two worked at once"}[s.Work]] = true
	for one, in := range want {
		if in && !strings.Contains(text, one) {
			all = append(all, fmt.Sprintf("the text does not say %q", one))
		}
	}
	return all
}

// TestWorkThatOutlivedItsRight says of the one whose command the guard ended that it ended before the next led, and of
// the other for how long two worked at least. Without the logs of commands, the logs do not show it.
func TestWorkThatOutlivedItsRight(t *testing.T) {
	dir := filepath.Join(twoCauses, "work-ended-by-the-guard")
	r, _ := explained(t, dir, true, true)
	if text := strings.Join(r.Lines(false), "\n"); !strings.Contains(text, "The guard ended alice's command ") {
		t.Errorf("the guard is missing:\n%s", text)
	}
	logs, txns, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if r := why.Explain(logs, txns, why.Options{}); r.Work != why.WorkUnknown {
		t.Errorf("without the logs of the commands it says %q: %s", r.Work, r.WorkWhy)
	}
	truth, err := ReadTruth(filepath.Join(twoCauses, "work-ran-on"))
	if err != nil {
		t.Fatal(err)
	}
	r, _ = explained(t, filepath.Join(twoCauses, "work-ran-on"), true, true)
	if text := r.Lines(false)[0]; !strings.Contains(text, "Two worked at once for at least ") { // its log ends before
		t.Error(text)
	}
	for _, f := range r.Summary() {
		if long := f.Both.Seconds(); f.Type == "work" && (long <= 0 || long > truth.Worked.Long[1]) {
			t.Errorf("two worked for %v s, want at most %v", long, truth.Worked.Long)
		}
	}
}

// TestLessIsNotFalse takes the servers' transaction logs away: less is said then, and nothing that is false.
func TestLessIsNotFalse(t *testing.T) {
	dirs, err := os.ReadDir(twoCauses)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range dirs {
		truth, err := ReadTruth(filepath.Join(twoCauses, d.Name()))
		if err != nil {
			t.Fatal(err)
		}
		_, a := explained(t, filepath.Join(twoCauses, d.Name()), true, false)
		for _, wrong := range truth.falsehoods(a) {
			t.Errorf("%s: %s", d.Name(), wrong)
		}
	}
}

// falsehoods returns what of the answers is not so, although the summary does not say that it cannot tell.
func (truth Truth) falsehoods(a answers) (all []string) {
	open := a.Unknown
	for i, t := range a.Terms {
		open += t.Unknown
		for j := range t.Why {
			if t.Why[j].Cause == why.CauseUnknown {
				open += "why"
				t.Why = slices.Delete(slices.Clone(t.Why), j, j+1)
				a.Terms[i] = t
				break
			}
		}
	}
	if truth.hides() && open == "" {
		all = append(all, "it does not say that a log is lost")
	}
	all = append(all, truth.wrongTerms(a)...)
	if a.Without > 0 && !truth.hides() || open == "" {
		all = append(all, truth.wrongLongest(a)...)
	}
	if open == "" {
		all = append(all, truth.wrongReasons(a)...)
	}
	return append(all, truth.wrongWork(a)...)
}
