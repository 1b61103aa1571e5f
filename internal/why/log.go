package why

import (
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// Log is what one client's records say. Make one with Read.
type Log struct {
	Name    string // cited with each sentence, as in "host1:43"
	Header  events.Header
	Records int
	Torn    bool   // the last line had no end
	Damage  string // why the rest of it could not be read, which the caller of Read sets; "": all was
	Clock   string // logs with the same non-empty Clock were written on one clock: the same host, since its start

	wall        int64 // of Header.Start, nanoseconds since 1970; 0 if unknown
	first, last int64 // readings of the loop's clock
	lastSeq     uint64
	closed      bool // the session machine has ended
	tick        time.Duration
	recs        briefs
	gaps        []*hole
	session     sessionState
	sessions    []*session
	machines    map[events.ID]*machine
	terms       []*Term
	open        map[events.ID][]*Term // the terms that have not ended, by machine
	pending     map[timerKey][]int    // deletes without an answer: where they are in deletes
	nodes       map[string]*node
	leases      map[string]*lease       // permits, by path
	itemsAsked  map[timerKey]*itemWrite // transactions about a job's items without an answer
	items       []*itemWrite
	givenBack   map[timerKey][]string // what a semaphore's transactions without an answer delete
	sights      blocks[sight]
	stamps      blocks[stamp]
	pauses      []pause
	lateness    []pause // timers that fired late although the process ran
	timers      map[timerKey]int64
	failures    []failure
	truncated   map[events.ID]*truncatedTerm
	refusals    []failure // of requests for a confirmation, by the ensemble
	listings    map[events.ID]listing
	seen        map[string]map[string]uint64 // by directory and name: the first record whose listing has a node
	owners      map[string]int64             // by path: the session that owns a node
	gone        []sighting                   // watches and reads that show that a node is gone
	deletes     []deletion
	tried       map[string]bool            // what transactions were to create
	jumps       []jump                     // of the wall clock, and times in which the machine slept
	late        time.Duration              // a note of it stands before the next record
	lastLine    *events.End                // the last line, if the log was ended in order
	writes      []events.Write             // guarded ones
	absent      map[string][][2]int64      // by directory: between which two numbers of a listing it has no node
	goneSeqs    map[string][]uint64        // the records in gone, by path: see sawGone
	nodesEnded  map[string]bool            // what endedNodes returns
	unread      []uint64                   // records with an effect that could not be read
	plans       []plan                     // assignments of shards that it wrote or read
	plansAsked  map[timerKey]plan          // those that it is to write, without an answer
	health      []healthNote               // of members that own shards
	markers     []marker                   // nodes of a job's leaders, as they were seen
	classes     map[[2]string]events.Class // by recipe and state
}

// hole is a gap in the log.
type hole struct {
	gap           events.Gap
	before, after int64 // readings of the clock at the last record before and the first after
}

// pause is a time in which the process, or its loop, did not run.
type pause struct {
	seq  uint64
	at   int64 // when it was noticed
	long time.Duration
}

type timerKey struct {
	machine events.ID
	number  uint64
}

// failure is what kept a machine from leading.
type failure struct {
	seq     uint64
	at      int64
	machine events.ID
	code    events.Code
	text    string
	givenUp bool // the machine gave its place up for it
}

// machine is one machine of the client, as it was opened.
type machine struct {
	recipe, path, id string
	opener           events.ID
	reads            bool      // a read-write lock's reading side
	permits, limit   int       // of a semaphore's acquisition; 0 for other recipes
	kazoo            bool      // a semaphore on kazoo's names
	works            int       // pieces of work that run
	shard            int       // of a shard's machine: its number, from 1; 0: it is none
	member           events.ID // the machine that owns it
	stints           []stint
	stays            []*stay
	lastTerm         *Term
}

// session is one ZooKeeper session.
type session struct {
	number, id int64
	timeout    time.Duration
	attached   []attach
	suspended  []loss
	lost       *loss  // it is over
	closeAsked uint64 // the seq of the record that asked for its end; 0: none did
	closed     uint64 // the seq of the answer
}

type attach struct {
	seq    uint64
	at     int64
	server string
}

// loss is the end of a connection or of a session.
type loss struct {
	seq    uint64
	at     int64
	code   events.Code
	end    events.ConnectionEnd // of a connection; "" in logs of older versions
	text   string
	paused time.Duration
}

// sessionState is what holds at the present record.
type sessionState struct {
	current  *session
	deadline int64 // until when the client may believe; 0: not at all
	granted  int64 // the same, by the records of all machines
	afterGap bool
	newGap   bool // no record has had a deadline since
}

// Span returns the times of the first and the last record, by the host's own clock when the log
// began.
func (l *Log) Span() (first, last time.Time) {
	wall := func(at int64) time.Time { return time.Unix(0, l.wall+at-l.Header.StartAt).UTC() }
	return wall(l.first), wall(l.last)
}

// machineOf returns what is known of a machine; of one that was opened before the log begins,
// only what its name says.
func (l *Log) machineOf(id events.ID) *machine {
	m := l.machines[id]
	if m == nil {
		m = &machine{recipe: recipeOf(id)}
		l.machines[id] = m
	}
	return m
}

// rec returns what is kept of a record; its seq is 0 if there is none.
func (l *Log) rec(seq uint64) brief { return l.recs.numbered(seq) }

// chain returns a record and those that caused it, back to what came from outside.
func (l *Log) chain(seq uint64) (all []brief) {
	for seq != 0 && len(all) < 100 {
		r := l.rec(seq)
		if r.seq == 0 {
			break
		}
		all = append(all, r)
		if r.cause >= seq {
			break
		}
		seq = r.cause
	}
	return all
}

// sessionNumbered returns a session, nil for none.
func (l *Log) sessionNumbered(n int64) *session {
	for _, s := range l.sessions {
		if s.number == n {
			return s
		}
	}
	return nil
}

// truncatedTerm is a term whose beginning is missing: it began in a gap, or before the first segment that is there.
type truncatedTerm struct {
	at   int64  // until when it may have had the right to believe
	node string // "" if the log does not have its end
	goes bool   // it has not ended, as far as a checkpoint and the records behind it show
	// shard is its number, from 1, if the term is that of a shard.
	shard int
}

// itemWrite is a transaction about the items of a job: its leader deals them or offers some to be taken over, or an
// instance marks its own as running or takes one over.
type itemWrite struct {
	asked    uint64 // the seq of the record that sent it
	machine  events.ID
	answered uint64 // the seq of the answer
	at       int64  // of the answer
	code     events.Code
	refused  string  // the node that it was refused for
	shares   []share // by owner; one without an owner for what is no dealing
	kind     itemKind
}

// marker is a leader's node with a fixed name, as a client saw it.
type marker struct {
	path         string
	czxid, owner int64
	seq          uint64 // of the first record that shows it
	data         string // the participant's id, if it was read
}

// jump says that the host's wall clock and the loop's clock went apart, or that the machine slept.
type jump struct {
	seq   uint64 // of the last record before the note
	at    int64
	by    time.Duration // by how much the wall clock went ahead of the loop's; less than 0: it was set back
	slept time.Duration
}

// lease is the node of a permit. Transactions create and delete it, so it stands in no create's answer.
type lease struct {
	node
	gone   uint64 // the seq of the record that shows that its client deleted it; 0: none does
	goneAt int64
}

// stay is a time in which a program was inside a double barrier, as it knew: from the end of its enter until it began
// to leave.
type stay struct {
	seq   uint64
	at    int64
	until int64 // 0: it was inside when the log ended
}

// stint is a time in which work of a machine ran: its function, or a Leadership that was not released, or the command
// that elect or lock ran. Times are readings of the log's clock.
type stint struct {
	from, to int64
	seq      uint64             // of the record that ended it; 0: none did
	open     bool               // the log does not have its end
	unsure   bool               // records are missing in it
	earlier  bool               // it ended at this time at the latest
	command  events.CommandStep // of a command: how it ended; "" for other work
}

// Term is one period in which a participant led, or held a lock.
type Term struct {
	Log     *Log
	Machine events.ID
	Recipe  string
	Dir     string // the line: the directory of the nodes
	Node    string // the own node
	Token   int64
	Session int64 // the number of the client's session

	Elected   uint64 // the seq of the record
	ElectedAt int64  // readings of the log's clock
	Row       string // the transition that made it leader
	by        events.Kind

	Stopped   uint64 // the seq of the record that ended it; 0: none did
	StoppedAt int64
	Reason    events.Reason
	stopKind  events.Kind
	stopCode  events.Code
	paused    time.Duration

	until      int64 // the deadline in force
	untilSeq   uint64
	brokenAt   int64   // when belief ended before the stop, by a deadline that was taken away; 0: it was not
	uncertain  *hole   // the gap that hides its end, or part of it
	listed     listing // the last listing before the election
	shares     bool    // it holds together with others of its kind: a reader's
	workDoneAt int64   // when the last work returned after the stop; 0: it has not, or there was none
	next       *Term   // of the machine
	worksLeft  int     // work that had not returned by the end of the log
}

// sight is a reply that shows how far the ensemble was.
type sight struct {
	seq      uint64
	at, sent int64
	zxid     int64
	session  int64 // ZooKeeper's id
	write    bool  // it answers a write that was committed with this zxid
}

// stamp is a node's time by the clock of the ensemble's leader, seen in a reply.
type stamp struct {
	seq      uint64
	at, sent int64 // of the create, if the node is this client's own; else sent is 0
	zxid     int64
	millis   int64
}

// node is one node that the client created.
type node struct {
	path    string
	machine events.ID
	seq     uint64
	at      int64
	sent    int64
	czxid   int64
	gone    int64 // the zxid of its own client's delete; 0: the log has none
	asked   bool  // its own client sent a delete
	session *session
}

// sighting is a record that shows that a node is gone.
type sighting struct {
	seq  uint64
	at   int64
	path string
}

// deletion is a delete that the client sent.
type deletion struct {
	seq    uint64 // of the record that asked for it
	at     int64
	path   string
	answer uint64 // the seq of the answer; 0: none came
	zxid   int64  // if it was carried out
	denied bool   // the ensemble answered, and did not carry it out
}

// listing is what the last listing of a line by a machine showed.
type listing struct {
	seq      uint64
	at       int64
	dir      string
	children []string
}

// recipeOf returns the recipe in a machine's name: "latch-1" is a latch's.
func recipeOf(id events.ID) string {
	if i := strings.LastIndexByte(string(id), '-'); i > 0 {
		return string(id[:i])
	}
	return string(id)
}

// kept returns a path as the client's node has it, if the client has created it: the same text is kept once.
func (l *Log) kept(path string) string {
	if n := l.nodes[path]; n != nil {
		return n.path
	}
	return path
}

// workBegan notes that a piece of work begins.
func (l *Log) workBegan(r events.Record) {
	m := l.machineOf(r.Machine)
	if m.works++; m.works == 1 {
		m.stints = append(m.stints, stint{from: r.Event.At, open: true})
	}
}

// plan is an assignment of shards to members, by the names of their nodes.
type plan struct {
	path    string // of the group
	zxid    int64
	version int32
	seq     uint64 // of the record that shows it
	at      int64
	by      events.ID // the member that wrote it; "": it was read
	shards  int
	owners  map[string]machines.ShardSet
	ids     map[string]string // of the members
}

// healthNote says that a member has become unhealthy, or healthy again.
type healthNote struct {
	seq       uint64
	machine   events.ID
	unhealthy bool
}

// Reader is what Read reads: *events.Reader, *events.Segments, or anything else with one client's
// records in their order. After an *events.Gap it can be called again. If it has a method
// EachNote(func(events.Note)), Read learns from it of the lines that are no records, if Torn() bool and
// End() *events.End, how the log ended.
type Reader interface {
	Next() (events.Record, error)
}
