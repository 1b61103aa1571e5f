package incumbent

import (
	"context"
	"iter"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// Change is what an onlooker sees of a line's leadership.
type Change struct {
	Recipe string      // which line, as in Participant.Recipe: a directory may hold one of each
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
func (c *Client) Watch(ctx context.Context, path string) iter.Seq2[Change, error] {
	return stream(ctx, func() (*feed[Change], error) { return c.observe(ctx, path) })
}

// lines are the kinds of line that a directory may hold.
var lines = machines.Lines()

func (c *Client) observe(ctx context.Context, path string) (*feed[Change], error) {
	if err := checkPath(path); err != nil {
		return nil, err
	}
	f := newFeed[Change](c)
	board := &board{feed: f, occupied: map[string]bool{}, vacancies: map[string]int{}}
	for _, line := range lines {
		open := events.Event{Path: path, Options: map[string]string{"label": line.Label}}
		err := f.look(ctx, machines.ObserverRecipe.Name(), open, func(n events.Notify) { board.notice(line.Recipe, n) })
		if err != nil {
			f.close()
			return nil, err
		}
	}
	return f, nil
}

// board joins what the observers of a directory tell. It belongs to the loop's
// goroutine.
type board struct {
	feed      *feed[Change]
	occupied  map[string]bool // recipes whose line was seen with a leader
	vacancies map[string]int  // how often each recipe's line was told vacant
}

func (b *board) notice(recipe string, n events.Notify) {
	switch n.What {
	case events.Leader:
		b.occupied[recipe] = true
		b.put(Change{Recipe: recipe, Leader: Participant{
			Recipe: recipe, Path: n.Path, ID: n.Text, Token: n.Token, Owner: n.Owner, Leads: true,
		}})
	case events.Vacant:
		b.vacate(recipe)
	}
}

// vacate tells that a line has nobody in it. Of the two kinds of line, one is
// vacant for good in most directories: that is worth telling only when both are.
func (b *board) vacate(recipe string) {
	b.vacancies[recipe]++
	if b.occupied[recipe] {
		b.put(Change{Recipe: recipe, Vacant: true})
		return
	}
	for _, line := range lines {
		if b.occupied[line.Recipe] || b.vacancies[line.Recipe] < b.vacancies[recipe] {
			return
		}
	}
	b.put(Change{Vacant: true})
}

func (b *board) put(c Change) { b.feed.put(sight[Change]{key: c.Recipe, value: c}) }
