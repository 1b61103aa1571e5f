package incumbent

import (
	"context"
	"iter"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio"
)

// Change is a change of the first in a line, as a client outside the line sees it.
type Change struct {
	Recipe string      // the line, as in Participant.Recipe: a directory may hold one of each, and several elections
	Prefix string      // its prefix, as in Participant.Prefix; for a read-write lock, its writers'
	Vacant bool        // the line is empty
	First  Participant // the first in line, which does not always lead: see Participant.First; zero if Vacant or blocked
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
	return stream(ctx, c, func(f *feed[Change]) error { return watchLines(f, path, prefixes) })
}

// watchLines starts watching every line of a directory.
func watchLines(f *feed[Change], path string, prefixes []string) error {
	if err := CheckPath(path, prefixes...); err != nil {
		return err
	}
	lines := machines.Lines(prefixes...)
	merger := &changeMerger{feed: f, lines: lines, prefixes: prefixes, hasFirst: map[machines.LineKind]bool{},
		vacancies: map[machines.LineKind]int{}}
	for _, line := range lines {
		open := events.Event{Path: path, Options: map[string]string{"label": line.Label, "shared": line.Shared}}
		if err := f.watch(machines.LeaderWatchRecipe.Name(), open, func(n events.Notify, _ zkio.Kept) { merger.notice(line, n) }); err != nil {
			return err
		}
	}
	return nil
}

// changeMerger merges the notices of the machines that watch a directory's lines. Only the
// loop's goroutine uses it.
type changeMerger struct {
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
		head := Participant{Recipe: line.Recipe, Prefix: line.LabelOf(n.Path), Path: n.Path, ID: n.Text, Token: n.Token, Owner: n.Owner}
		change := Change{Recipe: line.Recipe, Prefix: line.Label}
		if head.Persistent() {
			change.Blocker = head
		} else {
			head.First = true
			change.First = head
		}
		m.put(change)
	case events.Vacant:
		m.noteVacant(line)
	case events.PassedOver:
		m.feed.client.logPassedOver(n, m.prefixes...)
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

func (m *changeMerger) put(c Change) {
	m.feed.put(feedItem[Change]{key: c.Recipe + " " + c.Prefix, value: c})
}
