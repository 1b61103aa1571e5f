package why

import (
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/machines"
)

// LineSummary is one line at a glance: who leads at the end of the logs, for how long nobody led, who was skipped,
// and what to do. Times are those of the clock that the report shows.
type LineSummary struct {
	Path    string      `json:"path"`
	Shard   *int        `json:"shard,omitempty"` // of the group at the path
	AsOf    time.Time   `json:"asOf"`            // the last record of all logs
	Verdict Verdict     `json:"verdict"`
	Work    WorkVerdict `json:"work,omitempty"`

	Leader      string     `json:"leader,omitempty"` // who leads at the end; "" if nobody does, as far as the logs show
	Token       int64      `json:"token,string,omitempty"`
	Since       *time.Time `json:"since,omitempty"`
	NobodySince *time.Time `json:"nobodySince,omitempty"`
	Left        bool       `json:"left,omitempty"`     // the last leader left on purpose, and nothing is in the way
	InTheWay    *InTheWay  `json:"inTheWay,omitempty"` // why nobody leads; nil if the logs do not show it

	// Holders are who holds a permit or a shared lock at the end of its log, of a line in which several may hold at
	// once: nobody leads there.
	Holders []string `json:"holders,omitempty"`

	Moves       int           `json:"moves"`                 // those that were asked for
	Gaps        int           `json:"gaps"`                  // how often nobody had the right to lead
	Without     time.Duration `json:"withoutNanos"`          // for how long in all
	Longest     time.Duration `json:"longestNanos"`          // the longest of them
	LongestFrom *time.Time    `json:"longestFrom,omitempty"` // when that began
	// Bounds are between which times Without and Longest are.
	Bounds    GapBounds  `json:"gapBounds"`
	WithoutIs string     `json:"without,omitempty"` // the sentence of all that
	Skipped   []Skipped  `json:"skipped,omitempty"`
	Terms     []Led      `json:"terms,omitempty"`   // the last mostLed
	Clocks    []ClockOff `json:"clocks,omitempty"`  // of hosts in the line that are wrong
	Unknown   string     `json:"unknown,omitempty"` // why it is not known who leads at the end
	Do        []Advice   `json:"do,omitempty"`
}

// InTheWay is the node for which nobody leads.
type InTheWay struct {
	Node        string `json:"node"`
	Session     string `json:"session,omitempty"`
	Participant string `json:"participant,omitempty"`
	Host        string `json:"host,omitempty"`
	PID         int    `json:"pid,omitempty"`
	Why         string `json:"why"`
	waits       bool   // it is behind the last leader's, and does not lead
}

// GapBounds are for how long at least and at most nobody led, in all and in the longest gap.
type GapBounds struct {
	Least        time.Duration `json:"leastNanos"`
	Most         time.Duration `json:"mostNanos"`
	LongestLeast time.Duration `json:"longestLeastNanos"`
	LongestMost  time.Duration `json:"longestMostNanos"`
	// Open is for how long at most nobody led in times of which the logs do not show whether somebody did. The others
	// do not count them.
	Open time.Duration `json:"openNanos,omitempty"`
	// Endless reports whether such a time has no upper bound in the logs.
	Endless bool `json:"endless,omitempty"`
}

// trouble is how bad it is.
func (s LineSummary) trouble() int {
	switch {
	case s.Verdict == TwoAtOnce:
		return 4
	case s.Work == WorkTwo:
		return 3
	case s.NobodySince != nil && !s.Left:
		return 2
	case s.Verdict == CannotTell:
		return 1
	}
	return 0
}

// GroupSummary is a group of shards at a glance: who owns what at the end of the logs, why owners ended, and for how
// long shards had none.
type GroupSummary struct {
	Path    string            `json:"path"`
	AsOf    time.Time         `json:"asOf"`
	Shards  int               `json:"shards,omitempty"` // how many there are; 0: no log has an assignment
	Owners  []ShardsOf        `json:"owners,omitempty"`
	Nobody  machines.ShardSet `json:"nobody,omitempty"`  // shards that nobody owns
	Never   machines.ShardSet `json:"never,omitempty"`   // shards without an owner in any log
	Unknown machines.ShardSet `json:"unknown,omitempty"` // shards of which the logs do not show who owns them
	// UnknownWhy is why, of the first of them.
	UnknownWhy   string        `json:"unknownWhy,omitempty"`
	NobodySince  *time.Time    `json:"nobodySince,omitempty"` // the first of them
	Left         bool          `json:"left,omitempty"`        // one of their owners left on purpose
	Moves        int           `json:"moves"`
	Causes       []ShardCause  `json:"causes,omitempty"`
	Gaps         int           `json:"gaps"`
	Without      time.Duration `json:"withoutNanos"` // in all, of all shards
	Longest      time.Duration `json:"longestNanos"`
	LongestFrom  *time.Time    `json:"longestFrom,omitempty"`
	LongestShard int           `json:"longestShard"`
	Deleted      []Sentence    `json:"deleted,omitempty"` // when a deleted assignment was written again
	Do           []Advice      `json:"do,omitempty"`
}

// ShardsOf are the shards that a member owns.
type ShardsOf struct {
	Member string            `json:"member"`
	Shards machines.ShardSet `json:"shards"`
}

// ShardCause is a cause for which a member lost shards, or gave them up, and how many.
type ShardCause struct {
	Cause  Cause  `json:"cause"`
	Member string `json:"member"`
	Shards int    `json:"shards"`
}

// shard is the shard's number, -1 for another line.
func (s LineSummary) shard() int {
	if s.Shard == nil {
		return -1
	}
	return *s.Shard
}

// name names the line.
func (s LineSummary) name() string {
	if s.Shard == nil {
		return s.Path
	}
	return s.Path + " shard " + itoa(int64(*s.Shard))
}

// addGap adds a time in which nobody led, whose length is known up to bounds.
func (s *LineSummary) addGap(from int64, gap interval) {
	long := time.Duration(gap.mid())
	if long <= 0 {
		return
	}
	least, most := time.Duration(max(gap.lo, 0)), time.Duration(gap.hi)
	s.Gaps++
	s.Without += long
	s.Bounds.Least += least
	s.Bounds.Most += most
	if long > s.Longest {
		s.Longest, s.LongestFrom = long, at(from)
		s.Bounds.LongestLeast, s.Bounds.LongestMost = least, most
	}
}

// open reports whether the logs do not show all of who led when.
func (s LineSummary) open() bool {
	return s.Unknown != "" || slices.ContainsFunc(s.Terms, func(l Led) bool { return l.Unknown != "" })
}

// Led is one term of a line at a glance: who led when, and why that ended.
type Led struct {
	Leader  string        `json:"leader"`
	Token   int64         `json:"token,string"`
	From    time.Time     `json:"from"`
	Until   *time.Time    `json:"until,omitempty"`        // the end of the right; nil: it goes on, or that is not known
	Why     []Because     `json:"why,omitempty"`          // the cause of the end first, then what else was wrong then
	AtMost  bool          `json:"untilAtMost,omitempty"`  // the right ended at Until or before
	Without time.Duration `json:"withoutNanos,omitempty"` // how long nobody had the right after it
	Error   time.Duration `json:"errorNanos,omitempty"`   // by how much Without may be wrong
	Least   time.Duration `json:"leastNanos,omitempty"`   // Without is at least so long
	Most    time.Duration `json:"mostNanos,omitempty"`    // and at most; 0: that is not known
	Unknown string        `json:"unknown,omitempty"`      // what the logs do not show of its end, and of what followed
	If      string        `json:"if,omitempty"`           // what Until and Without take for granted
	Text    string        `json:"text,omitempty"`         // a term that has ended, or may have, as a sentence
	term    *Term
	ended   int64 // the end of the right, by the log's clock
}

// Because is one cause of the end of a term, or of what else was wrong between then and the next.
type Because struct {
	Participant string `json:"participant"` // the one that had it
	Cause       Cause  `json:"cause"`
	Text        string `json:"text"`             // a sentence
	Server      string `json:"server,omitempty"` // of a connection that did not work
	Role        Role   `json:"role,omitempty"`
	log         *Log
	at          int64 // by the clock that is shown
	over        bool  // it was over before the term ended
}

// Role is what a cause did to a term and to the time after it.
type Role string

// Roles.
const (
	RoleEnded   Role = "ended"   // it ended the term
	RoleDelayed Role = "delayed" // the next term came later by it
	RoleNeither Role = ""        // it was wrong then, and did neither
)

// Skipped is a participant that was ahead in the line when another one began to lead.
type Skipped struct {
	Participant string    `json:"participant"`
	At          time.Time `json:"at"`
	// Until is when its node went, if the servers' transaction logs have that. It went before At in any case.
	Until  *time.Time `json:"until,omitempty"`
	For    string     `json:"for"` // who led
	Cause  Cause      `json:"cause"`
	Why    string     `json:"why"`
	Text   string     `json:"text"` // all of it as a sentence
	log    *Log
	node   *node
	server string // of the connection that did not work
	since  int64  // when that was so, by the clock that is shown
	early  bool   // its node went before that of the term before: nobody waited for it
}

// Advice is what to do now.
type Advice struct {
	Cause   Cause  `json:"cause,omitempty"` // for which; "" for a verdict
	Text    string `json:"text"`
	Command string `json:"command,omitempty"`
}
