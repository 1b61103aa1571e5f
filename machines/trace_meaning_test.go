package machines

import (
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/cockroachdb/datadriven"

	"github.com/incumbent-go/incumbent/events"
)

// judged leaves out what make golden rewrites, so only what it cannot wave through fails: the judge, lines that cannot
// be played, replays, and rows that no trace fires.
var judged = flag.Bool("judged", false, "TestTraces does not compare the golden texts")

// compared returns what is compared with the golden text of a directive: what the machines do, but the text itself with
// -judged.
func compared(d *datadriven.TestData, got string) string {
	if *judged {
		return d.Expected
	}
	return got
}

// asked names a request or timer by the directive that asked for it, since numbers
// move when another request is added.
type askedFor struct {
	machine events.ID
	turn    int
	what    string // "create /l/…", "timer heartbeat"
	nth     int    // among equal ones of that directive
}

// goldenRequest is what the golden text shows of a request or timer.
type goldenRequest struct {
	owed
	label string // "#3"
}

// meanings compares the golden text of a trace with what the machines do now, and
// tells changes of meaning from changes of text.
type meanings struct {
	c        *conversation
	turn     int
	old      []goldenRequest     // not answered, by the golden text
	new      map[askedFor]string // all that was asked in this run, with its number
	answered map[askedFor]bool   // and what of it was answered
	changes  []string
	added    int // lines that are new
	renamed  int // rows of the same event from the same state to the same, under another guard
	moved    int // lines with other numbers only
}

func newMeanings(c *conversation) *meanings {
	return &meanings{c: c, new: map[askedFor]string{}, answered: map[askedFor]bool{}}
}

// play plays a directive, and compares.
func (m *meanings) play(d *datadriven.TestData, say func() string) string {
	m.turn++
	var awaited []askedFor // before the directive
	for to, all := range m.c.owed {
		for _, o := range all {
			if m.c.awaits(to, o.number) {
				awaited = append(awaited, o.askedFor)
			}
		}
	}
	m.c.turn, m.c.met, m.c.fresh = m.turn, nil, nil
	got := say()
	met := m.c.met
	old, new := d.Expected, got
	if old == "" && new != "" { // the golden text is to be written: there was no meaning
		old = new
		m.added += strings.Count(new, "\n")
	}
	if kind := answerOf(d); kind != "" {
		m.compareAnswers(d, kind, awaited, met)
	}
	if met != nil {
		m.answered[met.askedFor] = true
	}
	quiet := !strings.Contains(new, "\n  ")
	fresh := m.c.fresh
	for _, o := range fresh {
		m.new[o.askedFor] = fmt.Sprint("#", o.number)
	}
	m.forgetOld(old)
	if quiet && !strings.Contains(old, "\n  ") { // what was asked is in no text
		for _, o := range fresh {
			if m.c.awaits(o.machine, o.number) {
				m.old = append(m.old, goldenRequest{o, fmt.Sprint("#", o.number)})
			}
		}
	} else {
		m.old = append(m.old, requestsOf(old, m.turn)...)
	}
	m.compareRecords(d, old, new)
	return got
}

// answerOf returns the kind of an answer or timer that a directive gives, "" for none.
func answerOf(d *datadriven.TestData) events.Kind {
	if len(d.CmdArgs) == 0 || d.Cmd == "open" || d.Cmd == "leads" || d.Cmd == "waits" {
		return ""
	}
	if kind := events.Kind(d.CmdArgs[0].Key); strings.HasPrefix(string(kind), "reply.") || kind == events.TimerFired {
		return kind
	}
	return ""
}

// compareAnswers finds out which request an answer met by the golden text: the
// oldest of its kind, but none that the machine had dropped.
func (m *meanings) compareAnswers(d *datadriven.TestData, kind events.Kind, awaited []askedFor, met *owed) {
	arg := func(key string) string {
		if a, ok := d.Arg(key); ok && len(a.Vals) > 0 {
			return a.Vals[0]
		}
		return ""
	}
	path := arg("path")
	if path == "own" {
		path = m.c.readable(m.c.own[events.ID(d.Cmd)].Path)
	}
	before := slices.IndexFunc(m.old, func(r goldenRequest) bool {
		_, both := m.new[r.askedFor]
		dropped := both && !m.answered[r.askedFor] && !slices.Contains(awaited, r.askedFor)
		switch {
		case string(r.machine) != d.Cmd || r.kind != kind:
			return false
		case arg("request") != "":
			return r.label == "#"+arg("request")
		}
		return !dropped && (kind != events.ReplyStat || path == "" || m.c.readable(r.path) == path) &&
			(kind != events.TimerFired || arg("name") == "" || r.name == arg("name"))
	})
	was, is := "nothing that was awaited", "nothing that is awaited"
	var wasAsked, isAsked askedFor
	if before >= 0 {
		wasAsked, was = m.old[before].askedFor, m.old[before].label+" "+m.old[before].what
		m.old = slices.Delete(m.old, before, before+1)
	}
	if met != nil {
		isAsked, is = met.askedFor, fmt.Sprintf("#%d %s", met.number, met.what)
	}
	if arg("request") != "" { // it names one, whichever machine awaits it
		label := "#" + arg("request")
		for a, n := range m.new {
			if string(a.machine) == d.Cmd && n == label {
				isAsked, is = a, label+" "+a.what
			}
		}
	}
	if wasAsked != isAsked && !late(d.Expected, kind) {
		m.change(d, "%s answered %s, now %s", kind, was, is)
	}
}

// late reports whether a golden text says that an answer met nothing.
func late(text string, kind events.Kind) bool {
	first, _, _ := strings.Cut(text, "\n")
	return strings.HasSuffix(first, fmt.Sprintf(" %s %s", kind, events.RowLate))
}

func (m *meanings) change(d *datadriven.TestData, format string, args ...any) {
	m.changes = append(m.changes, d.Pos+": "+fmt.Sprintf(format, args...))
}

var (
	asks  = regexp.MustCompile(`^  (#\d+)[!* ]+((\S+) ?(\S*).*)$`)
	stops = regexp.MustCompile(`^  stop timer (#\d+)$`)
	heads = regexp.MustCompile(`^(\S+): (?:(\S*) --(\S+?)( .*)?--> (\S+)|(\S+) (\S+))$`)
)

// answerKinds are the kinds of answers to requests, by the first word of these.
var answerKinds = map[string]events.Kind{
	"timer": events.TimerFired, "create": events.ReplyCreate, "delete": events.ReplyDelete, "get": events.ReplyStat,
	"exists": events.ReplyStat, "children": events.ReplyChildren, "multi": events.ReplyMulti, "sync": events.ReplySync,
	"addwatch": events.ReplyWatch,
}

// requestsOf lists what a golden text says was asked.
func requestsOf(text string, turn int) (all []goldenRequest) {
	nth := map[askedFor]int{}
	var machine events.ID
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if head := heads.FindStringSubmatch(line); head != nil {
			machine = events.ID(head[1])
		}
		ask := asks.FindStringSubmatch(line)
		if ask == nil || answerKinds[ask[3]] == "" {
			continue
		}
		a := distinct(nth, askedFor{machine: machine, turn: turn, what: whatOf(ask[2])})
		r := goldenRequest{owed{askedFor: a, kind: answerKinds[ask[3]], path: ask[4]}, ask[1]}
		if r.kind == events.TimerFired {
			r.name = ask[4]
		}
		all = append(all, r)
	}
	return all
}

// distinct numbers equal requests of one directive.
func distinct(nth map[askedFor]int, a askedFor) askedFor {
	first := a
	a.nth = nth[first]
	nth[first]++
	return a
}

// whatOf shortens an effect to what makes it another request: a timer's time does not.
func whatOf(effect string) string {
	if words := strings.Fields(effect); words[0] == "timer" || words[0] == "create" {
		return strings.Join(words[:2], " ")
	}
	return effect
}

// forgetOld drops the timers that a golden text stops, and requests that do not
// exist any more, once their machine went to a state that has no row for the answer.
func (m *meanings) forgetOld(text string) {
	var machine events.ID
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if head := heads.FindStringSubmatch(line); head != nil {
			machine = events.ID(head[1])
			if head[5] != "" && head[2] != head[5] {
				m.old = slices.DeleteFunc(m.old, func(r goldenRequest) bool {
					_, both := m.new[r.askedFor]
					return r.machine == machine && !both && !m.c.fired.hears(machine, head[5], r.kind)
				})
			}
		}
		if stop := stops.FindStringSubmatch(line); stop != nil {
			m.old = slices.DeleteFunc(m.old, func(r goldenRequest) bool {
				return r.machine == machine && r.label == stop[1] && r.kind == events.TimerFired
			})
		}
	}
}

// step is a record in a golden text, with its effects.
type step struct {
	head    string
	parts   []string // of the head
	effects []string
}

func stepsOf(text string) (all []step) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if head := heads.FindStringSubmatch(line); head != nil {
			all = append(all, step{head: line, parts: head})
		} else if len(all) > 0 {
			last := &all[len(all)-1]
			last.effects = append(last.effects, line)
		}
	}
	return all
}

// event is what the machine heard in a step.
func (s step) event() string { return s.parts[1] + " " + s.parts[3] + s.parts[6] }

// compareRecords reports events that are handled otherwise, states that differ, and
// effects that are left out. What came to it and what is called otherwise is counted.
func (m *meanings) compareRecords(d *datadriven.TestData, old, new string) {
	if old == new {
		return
	}
	now := stepsOf(new)
	for _, was := range stepsOf(old) {
		i := slices.IndexFunc(now, func(s step) bool { return s.event() == was.event() })
		if i < 0 {
			m.change(d, "%q is gone", was.head)
			continue
		}
		is := now[i]
		now = slices.Delete(now, i, i+1)
		switch {
		case was.head == is.head:
		case was.parts[7] != is.parts[7], was.parts[2] != is.parts[2], was.parts[5] != is.parts[5]:
			m.change(d, "%q, now %q", was.head, is.head)
		default:
			m.renamed++
		}
		m.compareEffects(d, was.effects, is.effects)
	}
	for _, s := range now {
		m.added += 1 + len(s.effects)
	}
}

func (m *meanings) compareEffects(d *datadriven.TestData, was, is []string) {
	is = slices.Clone(is)
	var missing []string
	for _, e := range was {
		i := slices.Index(is, e)
		if i < 0 {
			missing = append(missing, e)
			continue
		}
		is = slices.Delete(is, i, i+1)
	}
	for _, e := range missing {
		i := slices.IndexFunc(is, func(other string) bool { return unnumbered(other) == unnumbered(e) })
		if i < 0 {
			m.change(d, "no longer %q", strings.TrimSpace(e))
			continue
		}
		m.moved++
		is = slices.Delete(is, i, i+1)
	}
	m.added += len(is)
}

func unnumbered(effect string) string { return requestNumber.ReplaceAllString(effect, "#") }

// String says what changed, "" if nothing did.
func (m *meanings) String() string {
	var b strings.Builder
	for _, change := range m.changes {
		fmt.Fprintln(&b, change)
	}
	if m.added+m.renamed+m.moved > 0 {
		fmt.Fprintf(&b, "besides, lines added: %d, guards renamed: %d, numbers moved: %d\n", m.added,
			m.renamed, m.moved)
	}
	return b.String()
}
