package why

import (
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/events"
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
	Shard        *int      // only those of this shard
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
	// OwnClocks says that the hosts' clocks are right, so times are shown by them, and not by that of the ensemble's
	// leader.
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

// shard is the number of the shard that the move is of, from 1; 0 for another line.
func (m *Move) shard() int {
	if m.To != nil {
		return m.To.machine().shard
	}
	return m.From.machine().shard
}

// led is what somebody did between the terms, if anybody did.
func (m *Move) led() string {
	if m.shard() != 0 {
		return "owned it"
	}
	return "led"
}

// isOf reports whether a move is in a line, or in another one of the directory that is no shard's.
func (m *Move) isOf(n *line) bool { return m.dir() == n.dir && m.shard() == n.shard }

// Report is what the logs say.
type Report struct {
	Verdict Verdict
	Why     string // what decided the verdict
	Work    WorkVerdict
	WorkWhy string // what decided it
	Writes  Writes
	// Summaries are the lines with moves that were asked for: those in trouble first.
	Summaries []LineSummary
	// Groups are the groups of shards, if not one shard is asked for: their shards are in Summaries, too.
	Groups []GroupSummary
	Moves  []Move // those that were asked for, in their order
	Doubts []Sentence
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
	byClock   shownClock
	lines     []*line
	window    *Window // what Picture has; nil: all
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
		return s.log.Name + "'s log does not show when " + s.own() + " went, and it may have " + m.led() + " behind " +
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
	return s.name() + owner + " may have " + m.led() + ", and its client's log is not here" + more +
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

// NodeEnd says what became of the node of a term that ended; "" if the logs do not show it.
type NodeEnd string

// What became of a node.
const (
	NodeStayed       NodeEnd = "stayed"         // it stands, and the next term is on it
	NodeExpired      NodeEnd = "expired"        // the ensemble expired the session, and the node with it
	NodeClosed       NodeEnd = "session-closed" // its client, or somebody, closed the session
	NodeDeletedByOwn NodeEnd = "deleted-by-own" // its own client deleted it
	NodeDeleted      NodeEnd = "deleted"        // another client deleted it
)

// Permits says whether a semaphore had enough permits when a term began.
type Permits struct {
	Limit     int // how many there are, as the acquisition knew it
	Own       int // of the term
	Held      int // of others that surely were held then
	Maybe     int // of others that may have been held then, too
	Certainty Certainty
	How       string
	Records   []Ref
	strangers int // permits of clients without a log among Maybe
}

// WorkVerdict is the answer to: did two ever work at once, whatever right they had?
type WorkVerdict string

// Verdicts about work.
const (
	WorkNone    WorkVerdict = "" // the logs have no work of a term that another followed
	WorkAlone   WorkVerdict = "never"
	WorkTwo     WorkVerdict = "two worked"
	WorkUnknown WorkVerdict = "cannot tell"
)

// WritesVerdict is the answer to: was a guarded write committed out of its term?
type WritesVerdict string

// Verdicts about guarded writes.
const (
	WritesNone   WritesVerdict = "" // the logs have none
	WritesInTerm WritesVerdict = "in their terms"
	WritesLate   WritesVerdict = "out of a term"
)

// Writes counts the guarded writes of the terms that were asked for.
type Writes struct {
	Verdict    WritesVerdict `json:"verdict"`
	Why        string        `json:"why,omitempty"`
	Committed  int           `json:"committed"`
	Refused    int           `json:"refused"`
	Unanswered int           `json:"unanswered"` // what became of them is not known
}

// Window is the part of a report that a page shows, if the logs have too many records for all of it.
type Window struct {
	Parts []Part // of each log, in the order in which the report got them
	Left  int    // how many records are left out

	from, to int64 // by the clock that is shown
}

// Part names the records of a log from one to another. To is less than From if there are none.
type Part struct{ From, To uint64 }

func (r *Report) wall(l *Log, at int64) int64 { return r.byClock.wall(r.h, l, at) }

// time returns the time of day as text.
func (r *Report) time(l *Log, at int64) string { return clockText(r.wall(l, at)) }

// assumesDeath reports whether a term is taken for that of a process that was killed: its log just ends. A log that
// was cut there looks the same, and the reads of a process that lived on are in no transaction log.
func (m *Move) assumesDeath() bool { return m.From != nil && m.Ending.Cause == CauseKilled }
