package why

import (
	"strconv"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

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
}

// listing is what the last listing of a line by a machine showed.
type listing struct {
	seq      uint64
	at       int64
	dir      string
	children []string
}

// seen says between which records a node was in listings.
type seen struct {
	first, last uint64
	lastAt      int64
}

// addReply notes what a reply says of zxids, nodes and times.
func (l *Log) addReply(r events.Record) {
	ev := r.Event
	switch ev.Kind {
	case events.ReplyCreate, events.ReplyDelete, events.ReplyMulti, events.ReplyStat, events.ReplyChildren, events.ReplySync, events.ReplyWatch:
	default:
		return
	}
	if ev.Code.Refusal() && r.Machine == events.SessionMachine {
		l.refusals = append(l.refusals, failure{seq: r.Seq, at: ev.At, code: ev.Code})
	}
	write := ev.Code == events.OK && (ev.Kind == events.ReplyCreate || ev.Kind == events.ReplyDelete || ev.Kind == events.ReplyMulti)
	s := l.session.current
	if ev.Zxid > 0 && s != nil {
		l.sights = append(l.sights, sight{r.Seq, ev.At, ev.SentAt, ev.Zxid, s.id, write && ev.SentAt > 0})
	}
	if ev.Kind == events.ReplyMulti {
		l.answerItems(r)
	}
	switch {
	case ev.Kind == events.ReplyCreate && write && ev.Path != "":
		l.nodes[ev.Path] = &node{ev.Path, r.Machine, r.Seq, ev.At, ev.SentAt, ev.Zxid, s}
	case ev.Kind == events.ReplyDelete:
		l.answerDelete(r, write)
	case ev.Kind == events.ReplyMulti && write:
		l.answerLeases(r)
	case ev.Kind == events.ReplyChildren && ev.Code == events.OK:
		l.addListing(r)
	case ev.Kind == events.ReplyStat && ev.Code == events.NoNode:
		l.gone = append(l.gone, sighting{r.Seq, ev.At, ev.Path})
	}
	if ev.Stat != nil && ev.Stat.Mtime > 0 {
		l.addStamp(r)
	}
	if ev.Stat != nil && ev.Stat.EphemeralOwner != 0 && ev.Path != "" {
		l.owners[ev.Path] = ev.Stat.EphemeralOwner
	}
}

func (l *Log) addStamp(r events.Record) {
	ev := r.Event
	st := stamp{seq: r.Seq, at: ev.At, zxid: ev.Stat.Mzxid, millis: ev.Stat.Mtime}
	if own := l.nodes[ev.Path]; own != nil && own.czxid == ev.Stat.Mzxid && own.sent > 0 {
		st.at, st.sent = own.at, own.sent
	}
	l.stamps = append(l.stamps, st)
}

func (l *Log) addListing(r events.Record) {
	ev := r.Event
	l.listings[r.Machine] = listing{r.Seq, ev.At, ev.Path, ev.Children}
	for _, name := range ev.Children {
		path := ev.Path + "/" + name
		s, there := l.seen[path]
		if !there {
			s.first = r.Seq
		}
		s.last, s.lastAt = r.Seq, ev.At
		l.seen[path] = s
	}
}

func (l *Log) answerDelete(r events.Record, done bool) {
	key := timerKey{r.Machine, r.Event.Request}
	i, asked := l.pending[key]
	if !asked {
		return
	}
	delete(l.pending, key)
	l.deletes[i].answer = r.Seq
	if done {
		l.deletes[i].zxid = r.Event.Zxid
	}
}

// addEffect notes what an effect says. The written form is that of events.Effect.
func (l *Log) addEffect(r events.Record, text string) {
	switch {
	case strings.HasPrefix(text, "valid until"):
		l.moveDeadline(r, readDeadline(text))
	case strings.HasPrefix(text, "notify "):
		l.addNotice(r, text[len("notify "):])
	case strings.HasPrefix(text, "#"):
		l.addRequest(r, text)
	case strings.HasPrefix(text, "stop timer #"):
		if n, err := strconv.ParseUint(text[len("stop timer #"):], 10, 64); err == nil {
			delete(l.timers, timerKey{r.Machine, n})
		}
	case strings.HasPrefix(text, "close session "):
		if s := l.session.current; s != nil {
			s.closeAsked = r.Seq
		}
	}
}

// readDeadline returns the reading of the clock in "valid until 1m2.5s", 0 for none.
func readDeadline(text string) int64 {
	d, err := time.ParseDuration(strings.TrimPrefix(text, "valid until "))
	if err != nil {
		return 0
	}
	return int64(d)
}

// addRequest notes deletes and timers.
func (l *Log) addRequest(r events.Record, text string) {
	number, rest, ok := strings.Cut(text, " ")
	if !ok {
		return
	}
	n, err := strconv.ParseUint(strings.Trim(number, "#!*"), 10, 64)
	if err != nil {
		return
	}
	switch {
	case strings.HasPrefix(rest, "delete "):
		l.pending[timerKey{r.Machine, n}] = len(l.deletes)
		l.deletes = append(l.deletes, deletion{seq: r.Seq, at: r.Event.At, path: rest[len("delete "):]})
	case strings.HasPrefix(rest, "multi {"):
		l.addCreates(rest[len("multi {"):])
		l.askLeases(r, n, rest[len("multi {"):])
		l.askItems(r, n, rest[len("multi {"):])
	case strings.HasPrefix(rest, "timer "):
		i := strings.LastIndexByte(rest, ' ')
		if d, err := time.ParseDuration(rest[i+1:]); err == nil {
			l.timers[timerKey{r.Machine, n}] = r.Event.At + int64(d)
		}
	}
}

// splitOps splits the written form of a transaction at what is between operations, and not inside of data.
func splitOps(ops string) (all []string) {
	from, quoted := 0, false
	for i := 0; i < len(ops); i++ {
		switch {
		case quoted && ops[i] == '\\':
			i++
		case ops[i] == '"':
			quoted = !quoted
		case !quoted && strings.HasPrefix(ops[i:], "; "):
			all, from = append(all, ops[from:i]), i+2
		}
	}
	return append(all, strings.TrimSuffix(ops[from:], "}"))
}

// addCreates notes the nodes that a transaction creates, by their names before the ensemble adds a number. (A path with "; "
// in it is not found: then the node counts as that of another client.)
func (l *Log) addCreates(ops string) {
	for _, op := range splitOps(ops) {
		if path, ok := strings.CutPrefix(op, "create "); ok {
			if i := strings.IndexByte(path, ' '); i >= 0 {
				l.tried[path[:i]] = true
			}
		}
	}
}

// addNotice notes what a handle learns.
func (l *Log) addNotice(r events.Record, text string) {
	what, rest, _ := strings.Cut(text, " ")
	switch events.Notice(what) {
	case events.Elected:
		if path, token, _, ok := readTerm(rest); ok {
			l.begin(r, path, token)
			l.heldLease(r, path, token)
		}
	case events.Granted:
		l.workBegan(r)
	case events.Stopped:
		if path, token, tail, ok := readTerm(rest); ok {
			l.end(r, path, token, tail)
		}
	case events.Failed:
		code, why, _ := strings.Cut(rest, " ")
		if unquoted, err := strconv.Unquote(why); err == nil {
			why = unquoted
		}
		l.failures = append(l.failures, failure{r.Seq, r.Event.At, r.Machine, events.Code(code), why, givesUp(r)})
	}
}

// readTerm reads "PATH token=N …". A path may contain spaces, so the last " token=" that has a
// number behind it counts.
func readTerm(text string) (path string, token int64, tail string, ok bool) {
	const mark = " token="
	head := text
	if i := strings.IndexByte(text, '"'); i >= 0 { // behind it are sentences
		head = text[:i]
	}
	for i := strings.LastIndex(head, mark); i >= 0; i = strings.LastIndex(head[:i], mark) {
		number, _, _ := strings.Cut(text[i+len(mark):], " ")
		if n, err := strconv.ParseInt(number, 10, 64); err == nil {
			return text[:i], n, strings.TrimPrefix(text[i+len(mark)+len(number):], " "), true
		}
	}
	return "", 0, "", false
}

// recipeOf returns the recipe in a machine's name: "latch-1" is a latch's.
func recipeOf(id events.ID) string {
	if i := strings.LastIndexByte(string(id), '-'); i > 0 {
		return string(id[:i])
	}
	return string(id)
}
