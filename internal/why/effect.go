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
		l.sights.add(sight{r.Seq, ev.At, ev.SentAt, ev.Zxid, s.id, write && ev.SentAt > 0})
	}
	if ev.Kind == events.ReplyMulti {
		l.answerItems(r)
		l.answerDelete(r, write)
		if write {
			l.answerLeases(r)
		}
	}
	switch {
	case ev.Kind == events.ReplyCreate && write && ev.Path != "":
		l.nodes[ev.Path] = &node{path: ev.Path, machine: r.Machine, seq: r.Seq, at: ev.At, sent: ev.SentAt,
			czxid: ev.Zxid, session: s}
	case ev.Kind == events.ReplyDelete:
		l.answerDelete(r, write)
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
	l.stamps.add(st)
}

func (l *Log) addListing(r events.Record) {
	ev := r.Event
	l.listings[r.Machine] = listing{r.Seq, ev.At, ev.Path, ev.Children}
	l.noteAbsent(ev.Path, ev.Children)
	in := l.seen[ev.Path]
	if in == nil && len(ev.Children) > 0 {
		in = map[string]uint64{}
		l.seen[ev.Path] = in
	}
	for _, name := range ev.Children {
		if _, there := in[name]; !there {
			in[name] = r.Seq
		}
	}
}

// listedFirst returns the first record whose listing has a node, 0 for none.
func (l *Log) listedFirst(path string) uint64 { return l.seen[dirOf(path)][baseOf(path)] }

func (l *Log) answerDelete(r events.Record, done bool) {
	key := timerKey{r.Machine, r.Event.Request}
	for _, i := range l.pending[key] {
		l.deletes[i].answer, l.deletes[i].denied = r.Seq, !done && !r.Event.Code.Transient()
		if done {
			l.deletes[i].zxid = r.Event.Zxid
			if n := l.nodes[l.deletes[i].path]; n != nil {
				n.gone = r.Event.Zxid
			}
		}
	}
	delete(l.pending, key)
}

// addEffect notes what an effect says. The written form is that of events.Effect. One that cannot be read is counted.
func (l *Log) addEffect(r events.Record, text string) {
	read := true
	switch {
	case strings.HasPrefix(text, "valid until"):
		var until int64
		if until, read = readDeadline(text); read {
			l.moveDeadline(r, until)
		}
	case strings.HasPrefix(text, "notify "):
		read = l.addNotice(r, text[len("notify "):])
	case strings.HasPrefix(text, "#"):
		read = l.addRequest(r, text)
	case strings.HasPrefix(text, "stop timer #"):
		var n uint64
		if n, read = readNumber(text[len("stop timer #"):]); read {
			delete(l.timers, timerKey{r.Machine, n})
		}
	case strings.HasPrefix(text, "close session "):
		if s := l.session.current; s != nil {
			s.closeAsked = r.Seq
		}
	default:
		first, _, _ := strings.Cut(text, " ")
		read = otherEffects[first]
	}
	if !read {
		l.unread = append(l.unread, r.Seq)
	}
}

// otherEffects are the first words of effects that say nothing about terms.
var otherEffects = map[string]bool{"connect": true, "abandon": true, "leave": true, "tell": true, "entered": true,
	"answer": true}

func readNumber(text string) (uint64, bool) {
	n, err := strconv.ParseUint(text, 10, 64)
	return n, err == nil
}

// readDeadline returns the reading of the clock in "valid until 1m2.5s", 0 for "valid until: unconfirmed".
func readDeadline(text string) (int64, bool) {
	if text == "valid until: unconfirmed" {
		return 0, true
	}
	d, err := time.ParseDuration(strings.TrimPrefix(text, "valid until "))
	return int64(d), err == nil
}

// requests are the verbs of requests that say nothing about terms.
var requests = map[string]bool{"create": true, "get": true, "exists": true, "children": true, "addwatch": true,
	"sync": true}

// addRequest notes deletes and timers. It returns false for a request that it cannot read.
func (l *Log) addRequest(r events.Record, text string) bool {
	number, rest, _ := strings.Cut(text, " ")
	n, ok := readNumber(strings.Trim(number, "#!*"))
	if !ok {
		return false
	}
	switch verb, what, _ := strings.Cut(rest, " "); verb {
	case "delete":
		path, ok := readPath(what)
		if ok {
			l.askDelete(r, n, path)
		}
		return ok
	case "multi":
		ops, ok := strings.CutPrefix(what, "{")
		if !ok {
			return false
		}
		l.askLeases(r, n, ops)
		l.askItems(r, n, ops)
		return l.addCreates(ops) && l.askDeletes(r, n, ops)
	case "timer":
		d, err := time.ParseDuration(what[strings.LastIndexByte(what, ' ')+1:])
		if err == nil {
			l.timers[timerKey{r.Machine, n}] = r.Event.At + int64(d)
		}
		return err == nil
	default:
		return requests[verb]
	}
}

// askDelete notes that a node is to be deleted by a request.
func (l *Log) askDelete(r events.Record, n uint64, path string) {
	key := timerKey{r.Machine, n}
	if own := l.nodes[path]; own != nil {
		own.asked = true
	}
	l.pending[key] = append(l.pending[key], len(l.deletes))
	l.deletes = append(l.deletes, deletion{seq: r.Seq, at: r.Event.At, path: l.kept(path)})
}

// askDeletes notes which nodes a transaction is to delete.
func (l *Log) askDeletes(r events.Record, n uint64, ops string) bool {
	for _, op := range splitOps(ops) {
		what, is := strings.CutPrefix(op, "delete ")
		if !is {
			continue
		}
		path, ok := readPath(what)
		if !ok {
			return false
		}
		l.askDelete(r, n, path)
	}
	return true
}

// readPath reads the path that a request or an operation begins with. In logs of older versions one with a space is
// not quoted.
func readPath(form string) (string, bool) {
	path, rest, ok := events.CutPath(form)
	if ok && rest != "" && !strings.HasPrefix(rest, "version=") && !strings.HasPrefix(form, `"`) && !isMode(rest) {
		return form, true
	}
	return path, ok
}

// isMode reports whether what follows a path is a node's mode.
func isMode(rest string) bool {
	word, _, _ := strings.Cut(rest, " ")
	return strings.HasPrefix(word, "persistent") || strings.HasPrefix(word, "ephemeral") || word == "container"
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

// addCreates notes the nodes that a transaction creates, by their names before the ensemble adds a number. It returns
// false if it cannot read one.
func (l *Log) addCreates(ops string) bool {
	for _, op := range splitOps(ops) {
		what, is := strings.CutPrefix(op, "create ")
		if !is {
			continue
		}
		path, _, ok := events.CutPath(what)
		if !ok {
			return false
		}
		l.tried[strings.Clone(path)] = true
	}
	return true
}

// addNotice notes what a handle learns. It returns false if it cannot read it.
func (l *Log) addNotice(r events.Record, text string) bool {
	what, rest, _ := strings.Cut(text, " ")
	switch events.Notice(what) {
	case events.Elected:
		path, token, _, ok := readTerm(rest)
		if ok {
			path = l.kept(path)
			l.begin(r, path, token)
			l.heldLease(r, path, token)
		}
		return ok
	case events.Granted:
		l.workBegan(r)
	case events.Stopped:
		path, token, tail, ok := readTerm(rest)
		if ok {
			l.end(r, path, token, tail)
		}
		return ok
	case events.Failed:
		code, why, _ := strings.Cut(rest, " ")
		if unquoted, err := strconv.Unquote(why); err == nil {
			why = unquoted
		}
		l.failures = append(l.failures, failure{r.Seq, r.Event.At, r.Machine, events.Code(code), why, givesUp(r)})
	default:
		return notices[events.Notice(what)]
	}
	return true
}

// notices are those that say nothing about terms.
var notices = map[events.Notice]bool{
	events.Waiting: true, events.Ended: true, events.Revoked: true, events.Recovered: true, events.PassedOver: true,
	events.Leader: true,
	events.Vacant: true, events.Present: true, events.Absent: true, events.Members: true, events.Value: true,
	events.Settled: true,
	events.Stale:   true, events.Delivered: true, events.Withdrawn: true, events.Connected: true,
	events.Suspended:   true,
	events.Reconnected: true, events.Lost: true, events.ShortGrant: true, events.Warning: true,
}

// kept returns a path that is a part of an effect, without the rest of the effect: that of the node, if the client has
// created it.
func (l *Log) kept(path string) string {
	if n := l.nodes[path]; n != nil {
		return n.path
	}
	return strings.Clone(path)
}

// readTerm reads "PATH token=N …".
func readTerm(text string) (path string, token int64, tail string, ok bool) {
	path, rest, ok := events.CutPath(text)
	number, isToken := strings.CutPrefix(rest, "token=")
	if !ok || !isToken {
		return readFormerTerm(text)
	}
	number, tail, _ = strings.Cut(number, " ")
	token, err := strconv.ParseInt(number, 10, 64)
	return path, token, tail, err == nil
}

// readFormerTerm does so in logs of older versions, in which a path with spaces is not quoted: the last " token="
// that has a number behind it counts.
func readFormerTerm(text string) (path string, token int64, tail string, ok bool) {
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
