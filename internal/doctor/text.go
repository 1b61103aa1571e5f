package doctor

import (
	"fmt"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// columns is how wide the text for people is.
const columns = 80

// Text returns the report for people, a line each, of 80 columns at most unless a word is longer: problems first, each
// with what to do. Brief leaves out all but the problems and warnings.
func (r Report) Text(brief bool) (lines []string) {
	heads := map[Severity]string{Unfit: "PROBLEM", Warning: "WARNING", Note: "note"}
	for _, f := range merged(r.Findings) {
		if brief && f.Severity == Note {
			continue
		}
		lines = append(lines, fold("", fmt.Sprintf("%s %s: %s", heads[f.Severity], f.ID, f.Where))...)
		lines = append(lines, fold("  ", f.Is)...)
		lines = append(lines, fold("  ", "-> "+f.Do)...)
		lines = append(lines, "")
	}
	if brief && r.Verdict == Incomplete {
		return append(append(lines, r.notKnown()...), "", r.summary())
	}
	if brief {
		return lines
	}
	lines = append(lines, "SERVERS")
	for _, v := range r.Servers {
		lines = append(lines, fold("  ", v.line())...)
	}
	if len(r.Lines) > 0 {
		lines = append(lines, "", "LINES")
	}
	for _, l := range r.Lines {
		lines = append(lines, fold("  ", l.String())...)
	}
	if r.Deep != nil {
		lines = append(lines, "", "MEASURED")
		lines = append(lines, fold("  ", r.Deep.String())...)
	}
	if r.Meaning != nil {
		lines = append(lines, "", fmt.Sprintf("WHAT IT MEANS for a client that asks for a session timeout of "+
			"%s", time.Duration(r.Meaning.Asked)))
		for _, one := range r.Meaning.sentences() {
			lines = append(lines, fold("  ", one)...)
		}
	}
	if len(r.NotAsked) > 0 {
		lines = append(append(lines, ""), r.notKnown()...)
	}
	return append(lines, "", r.summary())
}

// notKnown lists what could not be found out.
func (r Report) notKnown() []string {
	lines := []string{"NOT KNOWN"}
	for _, n := range r.NotAsked {
		lines = append(lines, fold("  ", n.What+": "+n.Why)...)
	}
	return lines
}

// summary says what the findings come to.
func (r Report) summary() string {
	count := map[Severity]int{}
	for _, f := range r.Findings {
		count[f.Severity]++
	}
	return fmt.Sprintf("%s: %s, %s, %s", strings.ToUpper(string(r.Verdict)), plural(count[Unfit], "problem"),
		plural(count[Warning], "warning"), plural(count[Note], "note"))
}

func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// maxPlaces is how many places of one finding are named.
const maxPlaces = 5

// merged puts findings that differ only in where they are together.
func merged(all []Finding) (merged []Finding) {
	type same struct{ id, is, do string }
	at, count := map[same]int{}, map[int]int{}
	for _, f := range all {
		i, found := at[same{f.ID, f.Is, f.Do}]
		if !found {
			i = len(merged)
			at[same{f.ID, f.Is, f.Do}] = i
			merged = append(merged, f)
		} else if count[i] < maxPlaces {
			merged[i].Where += ", " + f.Where
		}
		count[i]++
	}
	for i := range merged {
		if more := count[i] - maxPlaces; more > 0 {
			merged[i].Where += fmt.Sprintf(", and %d more", more)
		}
	}
	return merged
}

// line says what is known of a server.
func (v *Server) line() string {
	parts := []string{v.Address}
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if v.Role != "" {
		add("%s", v.Role)
	}
	if v.Version != "" {
		add("%s", v.Version)
	}
	if v.cut {
		add("not asked to the end")
		return strings.Join(parts, ", ")
	}
	if !v.Serves {
		add("opens no session")
		return strings.Join(parts, ", ")
	}
	if v.Granted.Least > 0 {
		add("grants %s to %s", time.Duration(v.Granted.Least), time.Duration(v.Granted.Most))
	} else {
		add("grants up to %s", time.Duration(v.Granted.Most))
	}
	if v.Settings.From != "" {
		add("tick %s", time.Duration(v.Settings.Tick))
	}
	if v.Sync != nil {
		add("sync %s", short(time.Duration(*v.Sync)))
	}
	if c := v.Certificate; c != nil {
		add("its certificate ends at %s", c.NotAfter.Format(time.DateOnly))
	}
	if c := v.Clock; c != nil {
		add("its clock differs by %s (known to %s)", short(time.Duration(c.Offset)), short(time.Duration(c.Error)))
	}
	if v.Lag != nil {
		add("applies commits within %s", short(time.Duration(*v.Lag)))
	}
	return strings.Join(parts, ", ")
}

// String says what was measured and tried.
func (d *Deep) String() string {
	parts := []string{"at " + d.Server}
	for _, one := range []struct {
		what  string
		times *Times
	}{{"a commit", d.Commit}, {"a write to the event of a watch at " + d.WatchAt, d.Watch}} {
		if one.times != nil {
			parts = append(parts, fmt.Sprintf("%s takes %s (%s at most)", one.what,
				short(time.Duration(one.times.Median)), short(time.Duration(one.times.Most))))
		}
	}
	for _, kind := range []struct {
		what  string
		there *bool
	}{{"containers", d.Containers}, {"nodes with a TTL", d.TTL}, {"recursive watches", d.Recursive}} {
		switch {
		case kind.there == nil:
		case *kind.there:
			parts = append(parts, kind.what)
		default:
			parts = append(parts, "no "+kind.what)
		}
	}
	return strings.Join(parts, ", ")
}

// String says what is known of a line.
func (l *Line) String() string {
	switch {
	case l.Missing:
		return l.Path + ", does not exist"
	case l.Why != "":
		return l.Path + ", not read"
	}
	may := "nothing"
	if l.Stranger != "" {
		may = l.Stranger
	}
	return fmt.Sprintf("%s, %d in line, %s, a listing has %d bytes, a stranger may do %s", l.Path, l.Participants,
		fmt.Sprintf("%d foreign", l.Foreign), l.ListingBytes, may)
}

// sentences are what the meaning is in words.
func (m *Meaning) sentences() (all []string) {
	say := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	d := func(v Millis) string { return short(time.Duration(v)) }
	say("Granted: %s. The client counts with a tick of %s.", d(m.Timeout), d(m.Tick))
	if m.EnsembleTick > 0 {
		say("The ensemble's tick is %s, by %s.", d(m.EnsembleTick), m.TickFrom)
	}
	if m.First <= 0 {
		say("Nobody can lead with it.")
	} else {
		say("A leader stops %s after it sent its last heartbeat that was answered (%s at first), and before that "+
			"if it hears that it has lost.", d(m.Later), d(m.First))
		kind := "one committed write"
		if m.BySync {
			kind = "one sync, each fourth time a committed write,"
		}
		say("Load: a client that leads or is next in line sends a heartbeat, %s every %s. %s of two such clients "+
			"each: %.3g heartbeats a second. One takes 0.4 ms of CPU time of three servers together "+
			"(docs/performance.md).",
			kind, d(m.Heartbeat), plural(m.Elections, "election"), m.PerSecond)
		say("After kill -9 nobody leads for up to %s.", d(m.Vacant))
		say("After a leader was cut off from the servers nobody leads for %s to %s: it stops by its clock, and its "+
			"session ends after that.", d(m.VacantLeast), d(m.Vacant))
		if m.Planned != nil {
			say("After a planned stop of a leader nobody leads for about %s, as it was measured.", d(*m.Planned))
		} else {
			say("After a planned stop of a leader the next one leads as soon as it hears of it: --deep measures how " +
				"long that takes.")
		}
		if m.Outlast > 0 {
			say("Of the limits in README.md: after two faults of servers in a row belief can outlast the session "+
				"by up to %s.", d(m.Outlast))
		}
		say("A process that was paused may go on as the leader for a moment: only tokens and guarded writes help then.")
	}
	if m.Standalone {
		say("The server is standalone: nobody leads while it is down, and what its disk loses is lost.")
	}
	for _, s := range m.Set {
		verb := "may"
		if s.Must {
			verb = "MUST"
		}
		say("%s %s be set to %s: %s.", s.Name, verb, s.To, s.Why)
	}
	return all
}

// maxShown bounds a text that may hold others' words.
const maxShown = 8 * events.MaxText

// fold breaks a text between words, without what a terminal would obey. What follows a break is indented by two columns
// more.
func fold(indent, text string) (lines []string) {
	line, text := indent, events.Foreign(text, maxShown)
	for word := range strings.FieldsSeq(text) {
		switch {
		case strings.TrimSpace(line) == "":
			line += word
		case len([]rune(line))+1+len([]rune(word)) > columns:
			lines = append(lines, line)
			line = indent + "  " + word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}
