package incumbent

import (
	"context"
	"iter"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio"
)

// Change is what an onlooker sees of a line's leadership.
type Change struct {
	Recipe string      // which line, as in Participant.Recipe: a directory may hold one of each, and several elections
	Prefix string      // of which prefix, as in Participant.Prefix; of the line of a read-write lock, its writers'
	Vacant bool        // nobody is in line
	Leader Participant // who leads, unless Vacant
}

// Watch tells who leads a line, now and whenever that changes, vacancies
// included, until the context ends or the loop over it is left. It makes no node
// and survives reconnects and expiries, after which it tells again who leads: it
// may have missed something. A line in which nobody ever was is told as one
// vacancy of Recipe "".
//
// Leaders that come and go between two looks are missed, and so is what happens
// while the loop's body runs, except for the last of it. An error is told beside
// the changes (no permission, say), and watching goes on; the context's end is
// not told.
//
// Of a read-write lock whoever heads the line is told, and not who reads beside it.
// Plain elections in the directory are watched by the prefixes given here, as in
// "n_".
func (c *Client) Watch(ctx context.Context, path string, prefixes ...string) iter.Seq2[Change, error] {
	return stream(ctx, c, func(f *feed[Change]) error { return observe(f, path, prefixes) })
}

// observe has every line of a directory looked at.
func observe(f *feed[Change], path string, prefixes []string) error {
	if err := CheckPath(path, prefixes...); err != nil {
		return err
	}
	lines := machines.Lines(prefixes...)
	board := &changeMerger{feed: f, lines: lines, hasLeader: map[machines.LineKind]bool{}, vacancies: map[machines.LineKind]int{}}
	for _, line := range lines {
		open := events.Event{Path: path, Options: map[string]string{"label": line.Label, "shared": line.Shared}}
		if err := f.watch(machines.LeaderWatchRecipe.Name(), open, func(n events.Notify, _ zkio.Kept) { board.notice(line, n) }); err != nil {
			return err
		}
	}
	return nil
}

// changeMerger joins what the observers of a directory tell. It belongs to the loop's
// goroutine.
type changeMerger struct {
	feed      *feed[Change]
	lines     []machines.LineKind
	hasLeader map[machines.LineKind]bool // lines that were seen with a leader
	vacancies map[machines.LineKind]int  // how often each line was told vacant
}

func (b *changeMerger) notice(line machines.LineKind, n events.Notify) {
	switch n.What {
	case events.Leader:
		b.hasLeader[line] = true
		b.put(Change{Recipe: line.Recipe, Prefix: line.Label, Leader: Participant{
			Recipe: line.Recipe, Prefix: line.LabelOf(n.Path), Path: n.Path, ID: n.Text, Token: n.Token, Owner: n.Owner, Leads: true,
		}})
	case events.Vacant:
		b.noteVacant(line)
	}
}

// noteVacant tells that a line has nobody in it. Of all kinds of line, most are
// vacant for good in a directory: that is worth telling only when all are.
func (b *changeMerger) noteVacant(line machines.LineKind) {
	b.vacancies[line]++
	if b.hasLeader[line] {
		b.put(Change{Recipe: line.Recipe, Prefix: line.Label, Vacant: true})
		return
	}
	for _, other := range b.lines {
		if b.hasLeader[other] || b.vacancies[other] < b.vacancies[line] {
			return
		}
	}
	b.put(Change{Vacant: true})
}

func (b *changeMerger) put(c Change) {
	b.feed.put(feedItem[Change]{key: c.Recipe + " " + c.Prefix, value: c})
}
