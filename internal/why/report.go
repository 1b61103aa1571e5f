package why

import (
	"cmp"
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/why/txnlog"
)

// Verdict is the answer to: did two ever have the right to believe at once?
type Verdict string

// Verdicts.
const (
	NeverProven   Verdict = "never, proven"
	NeverMeasured Verdict = "never, measured"
	TwoAtOnce     Verdict = "two at once"
	CannotTell    Verdict = "cannot tell"
)

// Options say what is asked for. The zero value asks for everything.
type Options struct {
	Path         string    // only this line's
	Since, Until time.Time // only moves at or after, and before
	Around       time.Time // only moves of this minute; if there is none, the nearest
	Token        int64     // only the moves to and from the term with this token
	// MaxDrift is by how many millionths two clocks may run apart. 0 means 200, which is more
	// than ntpd's slewing and a bad quartz together. What is asserted about clocks holds
	// only if they keep to it, and if nobody sets the clock of the ensemble's leader.
	MaxDrift int64
	// TxnsCut is whether a transaction log is damaged and was read up to there.
	TxnsCut bool
	// Commands are the logs of the commands that elect and lock ran, as events.ReadCommandLines returns them.
	Commands [][]events.CommandLine
	// Clock is by whose clock times are shown: the name of a log or of a host, or "ensemble"; "" is what most hosts
	// agree on.
	Clock string
	// OwnClocks says that the hosts' clocks are right, so times are shown by them, and not by that of the ensemble's leader.
	OwnClocks bool
}

// Move is one change of leadership: from one term to the next of the line.
type Move struct {
	Path     string
	From, To *Term // From is nil for the first term of a line, To if nobody followed
	Ending   Ending
	NodeEnd  NodeEnd   // what became of the node of From
	Troubles []Trouble // what kept participants from leading after From
	Also     []Cause   // what else delayed the move: CauseForgottenRelease, and the causes of Troubles
	Proofs   []Proof
	Work     []Overlap  // of To and earlier terms, of those whose work is recorded
	Permits  *Permits   // of a semaphore: whether there were enough when To began
	strange  []stranger // places without a log that may have led in between

	began int64 // with the end of From, or the beginning of the first; by the clock that is shown, as the next
	when  int64 // To began, or else From ended
}

// dir returns the directory of the line.
func (m *Move) dir() string {
	if m.To != nil {
		return m.To.Dir
	}
	return m.From.Dir
}

// Report is what the logs say.
type Report struct {
	Verdict Verdict
	Why     string // what decided the verdict
	Work    WorkVerdict
	WorkWhy string // what decided it
	Writes  Writes
	// Summaries are the lines with moves that were asked for: those in trouble first.
	Summaries []LineSummary
	Moves     []Move // those that were asked for, in their order
	Doubts    []Sentence
	// Troubles are what kept participants from leading, if there is no move that was asked for.
	Troubles []Trouble
	Earlier  int // moves of the lines that were not asked for
	// nearestTo is the time that was asked for, if no move is in its minute and the nearest is in Moves; 0 otherwise.
	nearestTo int64
	elsewhere string // by whose clock the time that was asked for has a move; "": by the one that is shown
	ownClocks bool   // see Options.OwnClocks
	logs      []*Log
	h         *history
	strange   []events.CommandLine // commands of terms that are in no log
	face      face
	lines     []*line
	window    *Window // what Picture has; nil: all
}

// Explain returns why leadership moved in the lines of these logs. Txns are the ensemble's, as
// txnlog.Merge returns them; nil for none.
func Explain(logs []*Log, txns []txnlog.Txn, o Options) *Report {
	h := newHistory(logs, txns, cmp.Or(o.MaxDrift, defaultDrift))
	r := &Report{logs: logs, h: h, lines: h.findLines()}
	r.strange = h.commandsOf(o.Commands)
	r.face = h.chooseReference(logs, o.Clock)
	if o.OwnClocks {
		r.face, r.ownClocks = face{clock: -1}, true
	}
	all := make([]Move, 0, r.maxMoves(o))
	for _, n := range r.lines {
		if o.Path == "" || under(o.Path, n) {
			all = r.addMoves(all, n)
		}
	}
	for i := range all {
		r.date(&all[i])
	}
	slices.SortStableFunc(all, func(a, b Move) int { return cmp.Compare(a.when, b.when) })
	r.Moves = r.scope(all, o)
	r.Earlier = len(all) - len(r.Moves)
	for i := range r.Moves {
		r.tell(&r.Moves[i], func(string, ...Ref) {}) // for what the move has of it
	}
	r.judge(o)
	r.judgeWork()
	r.Writes = r.writes()
	r.Summaries = r.summarize(o)
	if len(r.Moves) == 0 {
		r.Troubles = r.troubles(func(path string) bool { return o.Path == "" || path == o.Path }, -endless, endless)
	}
	r.doubt(o)
	return r
}

// Open reports whether the logs do not show all that was asked for.
func (r *Report) Open() bool {
	return r.Verdict == CannotTell || slices.ContainsFunc(r.Summaries, LineSummary.open)
}

// maxMoves returns how many moves the lines that were asked for may have.
func (r *Report) maxMoves(o Options) (most int) {
	for _, n := range r.lines {
		if o.Path == "" || under(o.Path, n) {
			most += len(n.terms) + 1
			if n.permits || n.shared {
				most += len(n.terms)
			}
		}
	}
	return most
}

// under reports whether a line is that of a path: its directory, or below it as a job
// election's and a semaphore's are.
func under(path string, n *line) bool {
	return n.dir == path || n.path == path || len(n.dir) > len(path) && n.dir[:len(path)+1] == path+"/" && n.terms[0].machine().path == path
}

// date sets the times of a move.
func (r *Report) date(m *Move) {
	if m.From != nil {
		m.began = r.wall(m.From.Log, m.Ending.At)
		m.when = m.began
	}
	if m.To != nil {
		m.when = r.wall(m.To.Log, m.To.ElectedAt)
	}
	if m.From == nil {
		m.began = m.when
	}
}

// logsOf returns the logs of the two terms of a proof.
func logsOf(p Proof) logPair { return logPair{p.Earlier.Log, p.Later.Log} }

type logPair [2]*Log

// holed reports whether records are missing from one of them. What is missing may have moved a deadline, or shown how
// the clock ran.
func (l logPair) holed() bool { return l[0].holed() || l[1].holed() }

// holed reports whether records are missing behind the first one that is there.
func (l *Log) holed() bool {
	return slices.ContainsFunc(l.gaps, func(g *hole) bool { return g.before != 0 || g.gap.From > 1 })
}

// missingLog names the logs that would tell who led between two terms.
func (r *Report) missingLog(m Move) string {
	s := m.strange[0]
	if s.log != nil {
		return s.log.Name + "'s log does not show when " + s.own() + " went, and it may have led behind " +
			r.time(s.log, s.from) + r.txnsWouldShow()
	}
	owner := ""
	if s.owner != 0 {
		owner = " of session " + hex(s.owner)
	}
	more := ""
	if n := len(m.strange) - 1; n > 0 {
		more = ", and those of " + plural(n, "other place")
	}
	return s.name() + owner + " may have led, and its client's log is not here" + more +
		"; that log would show it"
}

// txnsWouldShow says what to give if the servers' transaction logs are not there.
func (r *Report) txnsWouldShow() string {
	if len(r.h.all) > 0 {
		return ""
	}
	return "; the servers' transaction logs would show when it went (--txnlog DIR)"
}

func howLong(p Proof) string {
	if p.Error < 0 || p.Between >= 0 {
		return ""
	}
	return " for " + span(-p.Between) + plusMinus(p.Error)
}
