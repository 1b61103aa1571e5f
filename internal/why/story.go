package why

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// story returns the sentences of a move. They are not kept: of most moves nobody asks for them.
func (r *Report) story(m Move) (all []Sentence) {
	m.Also = nil
	r.tell(&m, func(text string, refs ...Ref) { all = append(all, Sentence{text, refs}) })
	return all
}

// tell tells the sentences of a move, and sets what else the move has of them.
func (r *Report) tell(m *Move, add adder) {
	if m.From != nil {
		r.tellEnding(m, add)
		r.tellNode(m, add)
		r.tellWork(m, add)
	}
	for _, o := range m.Work {
		r.tellOverlap(o, o.Earlier == m.From, add)
	}
	r.tellStrangers(m, add)
	switch {
	case m.Permits != nil:
		r.tellPermits(m, add)
	case m.To != nil:
		r.tellNext(m, add)
		if m.To.Recipe == shardRecipe {
			r.tellOwned(m, add)
		}
		r.tellItems(m.To, add)
	}
	r.tellTroubles(m, add)
}

// tellEnding says who led, until when, and why it ended.
func (r *Report) tellEnding(m *Move, add adder) {
	t, e := m.From, m.Ending
	text := fmt.Sprintf("%s (token %d) %s", t.who(), t.Token, e.Text)
	switch e.Cause {
	case CauseKilled:
		text += fmt.Sprintf("; its last record is of %s, and it could believe until %s at most",
			r.time(t.Log, t.Log.last), r.time(t.Log, e.At))
	case CauseGap:
	case CauseLeads:
		text += ", at " + r.time(t.Log, t.Log.last)
	default:
		text += "; it had the right to believe until " + r.time(t.Log, e.At)
		if late := t.StoppedAt - e.At; late > 50*milli {
			text += ", and its work heard of it " + span(time.Duration(late)) + " later"
		}
	}
	add(text, e.Records...)
}

// tellWork says whether work ran on after the term, and so during the next leader's term.
func (r *Report) tellWork(m *Move, add adder) {
	t := m.From
	if t.Stopped == 0 || t.uncertain != nil {
		return // nothing is known of its work
	}
	end, known := t.workEnd()
	long := time.Duration(end - t.StoppedAt)
	switch {
	case !known && time.Duration(t.Log.last-t.StoppedAt) > t.timeout():
		m.Also = append(m.Also, CauseForgottenRelease)
		text := "its work had not returned by the end of the log, " + span(time.Duration(t.Log.last-t.StoppedAt)) +
			" after its term"
		if m.NodeEnd == "" {
			text += ": its node stays until Release is called or the work returns"
		}
		add(text, t.ref(t.Stopped))
		return
	case t.Recipe == shardRecipe && long <= t.timeout():
		if long > 50*time.Millisecond {
			add("its work returned "+span(long)+" later, and until then nobody else could own it", t.ref(t.Stopped))
		}
	case long > t.timeout():
		m.Also = append(m.Also, CauseForgottenRelease)
		add(fmt.Sprintf("its work returned %s after its term: a Leadership that was not released, or work that does "+
			"not watch its context", span(long)), t.ref(t.Stopped))
	}
}

// tellStrangers names places without a log.
func (r *Report) tellStrangers(m *Move, add adder) {
	for i, s := range m.strange {
		if i == 3 {
			add(fmt.Sprintf("and so may %s more", plural(len(m.strange)-3, "place")))
			return
		}
		var refs []Ref
		if s.by.Log != "" {
			refs = []Ref{s.by}
		}
		if s.log != nil {
			add(fmt.Sprintf("%s of %s may have %s then: its log ends before", s.name(), s.log.Name, m.led()),
				refs...)
			continue
		}
		owner := "its session is not known"
		if s.owner != 0 {
			owner = "session " + hex(s.owner)
		}
		add(fmt.Sprintf("%s (%s) may have %s then: its client's log is not here", s.name(), owner, m.led()), refs...)
	}
}

// tellNext says who leads next, how it came to that, and how long nobody could.
func (r *Report) tellNext(m *Move, add adder) {
	t := m.To
	text := fmt.Sprintf("%s %s from %s with token %d: %s (row “%s”)", t.who(), t.holds(),
		r.time(t.Log, t.ElectedAt),
		t.Token, t.how(), t.Row)
	add(text, t.ref(t.Elected))
	for i, p := range m.Proofs {
		switch {
		case i != 0 || p.Earlier != m.From:
		case len(m.strange) > 0 && (p.Certainty == Proven || p.Certainty == Measured):
			add("whether anybody had the right to believe in between is not known", p.Records...)
		case m.assumesDeath() && p.Certainty == Measured:
			add(r.proofText(p)+", if "+m.From.who()+" died where its log ends", p.Records...)
		default:
			add(r.proofText(p), p.Records...)
		}
		if i > 0 && p.Certainty != Proven {
			add("against token "+itoa(p.Earlier.Token)+": "+r.proofText(p), p.Records...)
		}
	}
}

func (r *Report) proofText(p Proof) string {
	switch p.Certainty {
	case Both:
		return "both had the right to believe" + howLong(p) + ", " + p.How
	case Unknown:
		return "whether both had the right to believe for a moment is open: " + p.How
	}
	nobody := "nobody had the right to believe in between"
	if p.Error >= 0 && p.Between > p.Error {
		nobody = "nobody had the right to believe for " + between(p.Between-p.Error, p.Between+p.Error)
	}
	return nobody + " (" + string(p.Certainty) + " " + p.How + ")"
}

// tellTroubles says what kept participants from leading between two terms.
func (r *Report) tellTroubles(m *Move, add adder) {
	from, to := -endless, endless
	if m.To != nil {
		to = r.wall(m.To.Log, m.To.ElectedAt)
		from = to - int64(time.Minute)
	}
	if m.From != nil {
		from = r.wall(m.From.Log, m.Ending.At)
	}
	m.Troubles = r.troubles(func(path string) bool { return inLine(path, m.dir()) }, from, to)
	for _, t := range m.Troubles {
		if !slices.Contains(m.Also, t.Cause) {
			m.Also = append(m.Also, t.Cause)
		}
		s := t.sentence()
		add("meanwhile "+s.Text, s.Records...)
	}
}

// doubt says what may be wrong with all of it.
func (r *Report) doubt(o Options) {
	add := func(text string, refs ...Ref) { r.Doubts = append(r.Doubts, Sentence{text, refs}) }
	if r.byClock.clock >= 0 {
		add(timesAre + r.days() + " by the clock " + cmp.Or(r.byClock.name(), "of the ensemble's leader") +
			r.hostClocks())
		if r.elsewhere != "" {
			add("the time that was asked for is that of the clock of " + r.elsewhere)
		}
	} else if len(r.logs) > 0 && !r.ownClocks {
		add(timesAre + r.days() + ", each by its own host's clock when its log began: nothing aligns them")
	}
	if r.nearestTo != 0 {
		add(r.noMove(o.Path))
	}
	for _, t := range r.Troubles {
		r.Doubts = append(r.Doubts, t.sentence())
	}
	if len(r.Moves) == 0 { // their leader has no log
		r.eachItemWrite(add, func(l *Log, w *itemWrite) bool {
			return o.Path == "" || l.machineOf(w.machine).path == o.Path
		})
	}
	if r.h.clocks.jumped {
		add("clocks contradict each other: one was set, or runs wrong; the errors of the measured times cover both")
	}
	for i, c := range r.strange {
		if i == 3 {
			add(fmt.Sprintf("and so did %s more", plural(len(r.strange)-3, "command")))
			break
		}
		add(fmt.Sprintf("a command ran in the term of node %s with token %d, whose log is not here", shortNode(c.Node),
			c.Token))
	}
	if r.h.foreign != "" && r.h.foreign != r.Why { // else the first line says it
		add(r.h.foreign)
	}
	if text := r.h.apart.doubt(r.lines); text != "" {
		add(text)
	}
	if r.h.replaced && !r.h.apart.sure() {
		add("the ensemble's data were replaced, by a backup or from nothing: zxids and node times were not used")
	}
	for _, l := range r.logs {
		for _, g := range l.gaps {
			add(fmt.Sprintf("%s's log has a gap of %s: %s", l.Name, plural(int(g.gap.Count), "record"),
				oneLine(g.gap.Why)), Ref{l.Name, g.gap.From}, Ref{l.Name, g.gap.To})
		}
		for _, j := range l.jumps {
			if j.by != 0 && j.slept == 0 {
				add(j.text(l.Name, r.time(l, j.at)), Ref{l.Name, j.seq})
			}
		}
		if l.Damage != "" {
			add(l.Name+"'s log is damaged: it was read up to there ("+oneLine(l.Damage)+")", Ref{l.Name, l.lastSeq})
		}
		if n := len(l.unread); n > 0 {
			add(fmt.Sprintf("%s of %s could not be read: another version wrote it, or it is damaged", plural(n,
				"record"), l.Name), Ref{l.Name, l.unread[0]})
		}
		if l.Torn {
			add(l.Name+"'s log ends in the midst of a line: the program was cut off, or the file was copied while it "+
				"was written", Ref{l.Name, l.lastSeq})
		}
	}
}

// hostClocks says how the hosts' own clocks differ from the one that is shown.
func (r *Report) hostClocks() string {
	var all []string
	for _, l := range r.logs {
		if l.wall != 0 && !r.h.clocks.read(l, l.Header.StartAt)[r.byClock.clock].known() {
			all = append(all, l.Name+" cannot be aligned")
		}
	}
	for _, a := range r.h.hostAheads(r.logs, r.byClock) {
		if abs(a.ahead) > a.width/2+milli {
			all = append(all, a.text())
		}
	}
	if len(all) == 0 {
		return ""
	}
	return "; " + strings.Join(all, ", ")
}

// troubles returns what kept participants whose paths are concerned from leading between two instants of the clock
// that is shown: of each log each kind once.
func (r *Report) troubles(concerns func(path string) bool, from, to int64) (all []Trouble) {
	said := map[string]bool{}
	for _, l := range r.logs {
		for _, f := range l.failures {
			if f.code.Transient() && !f.givenUp || f.machine == events.SessionMachine {
				continue
			}
			at, m := r.wall(l, f.at), l.machineOf(f.machine)
			t := Trouble{Log: l, Participant: l.nameOf(f.machine), Path: m.path, Cause: causeOf(f.code), Code: f.code,
				Text: f.text, Record: Ref{l.Name, f.seq}, at: at,
				shards: m.recipe == shardRecipe}
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

// clocksOff returns the clocks of clients in a line that differ from what most hosts agree on, whichever is shown,
// or that were set, by more
// than clocks do that agree.
func (r *Report) clocksOff(path string) (all []ClockOff) {
	inLine := map[string]bool{leaders: true}
	for _, l := range r.logs {
		inLine[l.Name] = l.queued(path)
	}
	for _, a := range r.h.hostAheads(r.logs, r.h.chooseReference(r.logs, "")) {
		if inLine[a.whose] && abs(a.ahead) > agrees+a.width/2 {
			all = append(all, ClockOff{a.whose, time.Duration(a.ahead), a.text()})
			inLine[a.whose] = false // one sentence is enough
		}
	}
	for _, l := range r.logs {
		for _, j := range l.jumps {
			if inLine[l.Name] && j.slept == 0 && abs(int64(j.by)) > agrees {
				all = append(all, ClockOff{l.Name, j.by, j.text(l.Name, r.time(l, j.at))})
				inLine[l.Name] = false
			}
		}
	}
	return all
}

// timesAre is what the sentence about the clock begins with.
const timesAre = "times are UTC"

// tellOwned says who assigned a shard to its next owner, and when.
func (r *Report) tellOwned(m *Move, add adder) {
	t := m.To
	p := r.h.givenBy(t)
	if p == nil || m.From != nil && m.From.Reason == events.ReasonMoved && p == r.h.takenBy(m.From) { // that was said
		return
	}
	to, when := t.who(), "at"
	if to == p.writer() {
		to = "itself"
	}
	if p.by == "" {
		when = "by"
	}
	add(fmt.Sprintf("%s had assigned it to %s %s %s", p.whose(), to, when, r.time(p.log, p.at)), Ref{p.log.Name, p.seq})
}
