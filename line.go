package incumbent

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/async"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/machines"
)

// Participant is a place in a line, as another client reads it.
type Participant struct {
	// Recipe is the line: "latch"; "lock", in which selectors and mutexes look the same; "readwrite";
	// "kazoo", kazoo's locks; "lease", a semaphore's permits; "election".
	Recipe string
	// Prefix precedes the number in the node's name: "latch-", "lock-", "__READ__", "__WRIT__", "__lock__",
	// "__rlock__", "lease-", or a plain election's own.
	Prefix string
	Path   string // the own node
	ID     string // the node's data: what its owner calls itself. It is foreign text: escape it before showing it.
	Token  int64  // the node's czxid
	Owner  int64  // ZooKeeper's id of the session that owns the node; 0 where Err is set; see Persistent
	// First says that a session owns the node and that nobody is before it: the next leader is
	// this participant, or it leads already. Readers of a lock are first if no writer is before
	// them, and every permit is.
	//
	// It does not say that the participant leads: perhaps nothing has confirmed that yet, or its
	// process is paused, or it has lost the connection. Only the participant itself knows that.
	// A node that could not be read (Err) counts as one that a session owns.
	First bool
	Err   error // why the node could not be read; nil if it was
	// Created is when the node was created, by the clock of the ensemble's leader: since then the participant has been
	// in line. It is zero if that is not known: if the node could not be read, or was written to since, and in a
	// Change.
	Created time.Time
}

// Persistent reports whether no session owns the node: it is persistent, or a container, or has a
// TTL. It is no participant's, never goes with a session, and nobody behind it leads before
// somebody deletes it. Where the node could not be read, it returns false.
func (p Participant) Persistent() bool {
	return p.Err == nil && p.Token != 0 && !events.Stat{EphemeralOwner: p.Owner}.Ephemeral()
}

// kind returns what tells the participant's line from others in the directory.
func (p Participant) kind() string {
	if p.Recipe == machines.ElectionLine {
		return p.Recipe + " " + p.Prefix
	}
	return p.Recipe // readers and writers are in one line
}

// Line has a directory's participants in queue order.
type Line struct {
	Participants []Participant
	Foreign      int // children that belong to no recipe and to no given prefix: they are ignored
	// Missing says that there is no such directory: nothing has queued there yet, or the
	// line became empty and the directory was deleted, or the path is mistyped.
	Missing bool
}

// First returns the first in line; false if the line is empty, or if a persistent node blocks
// it (see Blocker). From outside one sees who is first, and not who leads: see
// Participant.First.
func (l Line) First() (Participant, bool) {
	for _, p := range l.Participants {
		if p.First {
			return p, true
		}
	}
	return Participant{}, false
}

// Blocker returns the persistent node at the head of a line in which nobody is first: nobody
// leads there before somebody deletes that node. Client.Evict does. It returns false if there is
// no such line. Permits of a semaphore block nobody: a persistent one only takes one permit away.
func (l Line) Blocker() (Participant, bool) {
	hasFirst := map[string]bool{}
	for _, p := range l.Participants {
		hasFirst[p.kind()] = hasFirst[p.kind()] || p.First || p.Recipe == machines.LeaseLine
	}
	for _, p := range l.Participants {
		if !hasFirst[p.kind()] {
			return p, true
		}
	}
	return Participant{}, false
}

// Forged returns two participants of one line whose order ZooKeeper cannot have made: ahead was created
// after behind, by their tokens, and has the lower number. Somebody wrote a number by hand, ahead's to
// be first, or a number far above the others. It returns false if there are none. A node that could
// not be read is not compared.
func (l Line) Forged() (ahead, behind Participant, forged bool) {
	newest := map[string]Participant{} // of those so far, by line
	for _, p := range l.Participants {
		if p.Err != nil || p.Token == 0 {
			continue
		}
		if before, known := newest[p.kind()]; known && before.Token > p.Token {
			return before, p, true
		}
		newest[p.kind()] = p
	}
	return Participant{}, Participant{}, false
}

// Line reads the participants of a line from the server that the client is connected to,
// which may lag behind the ensemble's leader. Nodes that are deleted meanwhile are left
// out. A directory that does not exist is an empty line, with Missing set. A directory may
// hold a line of latches, one of locks, and lines of plain names: the prefixes given here, as
// in "n_", say which children are places of plain elections and plain mutexes. They have the Recipe "election". An
// empty
// prefix is that of names that are only a number.
//
// Without a connection it waits for one, as Get does. Errors: what is wrong with the path or a prefix, ErrClosed, the
// context's (and ErrNotConnected, if there was no connection), or an *Error.
func (c *Client) Line(ctx context.Context, path string, prefixes ...string) (Line, error) {
	if err := CheckPath(path, prefixes...); err != nil {
		return Line{}, err
	}
	return c.line(ctx, path, func(children []string) ([]machines.Place, int) {
		return machines.Places(children, prefixes...)
	})
}

// line reads those children of a directory that pick returns.
func (c *Client) line(ctx context.Context, path string,
	pick func(children []string) (places []machines.Place, foreign int)) (Line, error) {
	children, err := c.list(ctx, path)
	if err != nil {
		if refused := refusal(err); refused != nil {
			if refused.Code == events.NoNode {
				return Line{Missing: true}, nil
			}
			return Line{}, c.withCount(ctx, path, refused)
		}
		return Line{}, err
	}
	places, foreign := pick(children)
	return c.readLine(ctx, path, places, foreign)
}

// withCount adds how many children a directory has that is too large to be listed.
func (c *Client) withCount(ctx context.Context, path string, refused *Error) error {
	if refused.Code != events.TooLarge {
		return refused
	}
	stat, err := c.Exists(path).Do(ctx)
	if err != nil || stat == nil {
		return refused
	}
	return &Error{refused.Code, fmt.Sprintf("%s: it has %d children", refused.Text, stat.NumChildren)}
}

func (c *Client) readLine(ctx context.Context, path string, places []machines.Place, foreign int) (Line, error) {
	found, err := async.ReadAll(len(places), func(i int) (*Participant, error) {
		return c.readParticipant(ctx, path+"/"+places[i].Name, places[i])
	})
	if err != nil {
		return Line{}, err
	}
	line := Line{Foreign: foreign}
	// The value is true if the line has a participant that shares with no other. An empty line has no entry.
	exclusive := map[machines.LineKind]bool{}
	for i, p := range found {
		if p != nil {
			place := places[i]
			behind, begun := exclusive[place.Kind]
			p.First = (!begun || place.Shares() && !behind) && !p.Persistent()
			exclusive[place.Kind] = behind || !place.Shares()
			line.Participants = append(line.Participants, *p)
		}
	}
	return line, nil
}

// readParticipant returns nil for a node that was deleted meanwhile.
func (c *Client) readParticipant(ctx context.Context, path string, place machines.Place) (*Participant, error) {
	p := &Participant{Recipe: place.Kind.Recipe, Prefix: place.Label, Path: path}
	data, stat, err := c.read(ctx, path)
	refused := refusal(err)
	switch {
	case err == nil:
		p.ID, p.Token, p.Owner = string(data), stat.Czxid, stat.EphemeralOwner
		if stat.Mzxid == stat.Czxid {
			p.Created = time.UnixMilli(stat.Mtime)
		}
	case refused != nil && refused.Code == events.NoNode:
		return nil, nil
	case refused != nil && !refused.Code.Transient():
		p.Err = refused
	default:
		return nil, err
	}
	return p, nil
}

// lineOf reads one of the lines in a directory, by the prefixes of its names.
func (c *Client) lineOf(ctx context.Context, path string, prefixes ...string) (Line, error) {
	return c.line(ctx, path, func(children []string) ([]machines.Place, int) {
		all, foreign := machines.Places(children, prefixes...)
		return slices.DeleteFunc(all, func(p machines.Place) bool { return !slices.Contains(prefixes, p.Label) }),
			foreign
	})
}

// Participants is Latch.Participants.
func (p *participant) Participants(ctx context.Context) ([]Participant, error) {
	line, err := p.client.lineOf(ctx, p.Path(), p.prefix)
	return line.Participants, err
}

// First is Latch.First.
func (p *participant) First(ctx context.Context) (Participant, bool, error) {
	line, err := p.client.lineOf(ctx, p.Path(), p.prefix)
	first, ok := line.First()
	return first, ok, err
}

// Change is a change of the first in a line, as a client outside the line sees it.
type Change struct {
	Recipe string // the line, as in Participant.Recipe: a directory may hold one of each, and several elections
	Prefix string // its prefix, as in Participant.Prefix; for a read-write lock, its writers'
	Vacant bool   // the line is empty
	// First is the first in line, which does not always lead: see Participant.First. It is zero if Vacant or blocked.
	First Participant
	// Blocker is the persistent node at the head of the line, if there is one: nobody behind it
	// leads before somebody deletes it, with Client.Evict or by hand. Its Path is empty if
	// there is none. Behind a persistent reader of a lock, other readers can hold, and
	// a persistent permit of a semaphore takes one permit away.
	Blocker Participant
}

// Watch returns a feed of the first in a line, now and whenever it changes, vacancies and
// persistent nodes included, until the context ends or the loop over it is left. It creates no
// node and survives reconnects and expiries. After those it yields the first again: it may
// have missed a change. A line that was never used is yielded as one vacancy of Recipe "".
//
// It misses participants that come and go between two reads, and changes while the loop's body
// runs, except for the last of them. An error (no permission, say) is yielded too, and
// watching goes on; the context's end is not yielded.
//
// For a read-write lock the first participant is yielded, and not the readers that hold
// together with it. The prefixes given here are those of plain elections and plain
// mutexes in the directory, as for Line.
func (c *Client) Watch(ctx context.Context, path string, prefixes ...string) iter.Seq2[Change, error] {
	return stream(ctx, c, func(f *feed[Change]) error {
		merger := &changeMerger{client: c, feed: f, lines: machines.Lines(prefixes...), prefixes: prefixes,
			hasFirst: map[machines.LineKind]bool{}, vacancies: map[machines.LineKind]int{}}
		return watchLines(f, path, prefixes, merger.notice)
	})
}

// watchLines starts watching every line of a directory. Notice gets what their machines say, on the loop's goroutine.
func watchLines[T any](f *feed[T], path string, prefixes []string,
	notice func(machines.LineKind, events.Notify)) error {
	if err := CheckPath(path, prefixes...); err != nil {
		return err
	}
	for _, line := range machines.Lines(prefixes...) {
		open := events.Event{Path: path, Options: map[string]string{
			machines.OptionLabel: line.Label, machines.OptionShared: line.Shared}}
		if err := f.open(&watchHandle{}, machines.LeaderWatchRecipe, open,
			func(n events.Notify) { notice(line, n) }); err != nil {
			return err
		}
	}
	return nil
}

// leaderChange returns the change of a line that a notice of its first is.
func leaderChange(line machines.LineKind, n events.Notify) Change {
	head := Participant{Recipe: line.Recipe, Prefix: line.LabelOf(n.Path), Path: n.Path, ID: n.Text,
		Token: n.Token, Owner: n.Owner}
	change := Change{Recipe: line.Recipe, Prefix: line.Label}
	if head.Persistent() {
		change.Blocker = head
	} else {
		head.First = true
		change.First = head
	}
	return change
}

// changeMerger merges the notices of the machines that watch a directory's lines. Only the
// loop's goroutine uses it.
type changeMerger struct {
	client    *Client
	feed      *feed[Change]
	lines     []machines.LineKind
	prefixes  []string                   // of the plain elections among them
	hasFirst  map[machines.LineKind]bool // lines that were seen with a node
	vacancies map[machines.LineKind]int  // how often each line was reported vacant
}

func (m *changeMerger) notice(line machines.LineKind, n events.Notify) {
	switch n.What {
	case events.Leader:
		m.hasFirst[line] = true
		m.put(leaderChange(line, n))
	case events.Failed:
		m.feed.fail(n)
	case events.Vacant:
		m.noteVacant(line)
	case events.PassedOver:
		m.client.passedOver.Log(m.client.core.Log, n, m.prefixes...)
	}
}

// noteVacant notes that a line is empty. Most kinds of line never exist in a directory:
// their vacancy is worth yielding only when all are vacant.
func (m *changeMerger) noteVacant(line machines.LineKind) {
	m.vacancies[line]++
	if m.hasFirst[line] {
		m.put(Change{Recipe: line.Recipe, Prefix: line.Label, Vacant: true})
		return
	}
	for _, other := range m.lines {
		if m.hasFirst[other] || m.vacancies[other] < m.vacancies[line] {
			return
		}
	}
	m.put(Change{Vacant: true})
}

// put passes a change on. Of each line in the directory only the newest waits.
func (m *changeMerger) put(c Change) {
	m.feed.Put(feedItem[Change]{Key: c.Recipe + " " + c.Prefix, Value: c})
}

// Evict deletes a participant's node, as an operator does to move leadership. Its owner, if
// it is of this library or a recent Curator, stops leading and queues again at the tail.
// Work under way there ends only when it reacts, and the next in line may lead before that.
// Evict deletes a persistent node, too, which blocks its line: see Line.Blocker.
//
// Pass a participant that Line returned. Its node is read again, behind a check that a quorum commits, and is deleted
// only if it is still the same one: the same token, not changed since.
//
// Without a connection it waits for one. Errors: ErrNotInLine if it is not there any longer, ErrClosed, the
// context's, ErrOutcomeUnknown, or an *Error.
func (c *Client) Evict(ctx context.Context, p Participant) error {
	return c.changeParticipant(ctx, "evict", p, DeleteNode(p.Path, AnyVersion))
}

// revoke writes Curator's "__REVOKE__" to a participant's node.
func (c *Client) revoke(ctx context.Context, p Participant) error {
	return c.changeParticipant(ctx, "revoke", p, SetData(p.Path, []byte(machines.Revoke), AnyVersion))
}

// changeParticipant asks for an operation on a participant's node. The machine reads the node first: the operation
// depends on what was read.
func (c *Client) changeParticipant(ctx context.Context, name string, p Participant, op Op) error {
	c.check(ctx)
	if p.Path == "" || p.Token == 0 {
		return fault.Together(fmt.Errorf("incumbent: the participant %s with token %d has no path or no token: "+
			"want one that Line or Participants has read", fault.Quoted(p.Path), p.Token), p.Err)
	}
	r := newRequest(c, name, p.Path, op.event())
	r.options[machines.OptionToken] = strconv.FormatInt(p.Token, 10)
	return r.run(ctx).Err
}
