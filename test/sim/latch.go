package sim

import (
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// The latch: a program that awaits leadership from time to time, cancels,
// resigns, works and writes under it.
func init() {
	roles = append(roles, &role{
		recipe: "latch", label: machines.LatchLabel, share: 2,
		act: actLatch, told: worksWhenGranted,
		rests: lineRests, wakes: lineWakes,
	})
}

func actLatch(u *user, n int) {
	switch {
	case n < 5 && len(u.awaits)+len(u.works) < 3:
		u.awaits[u.c.Ask(u.id, events.CommandAwait, events.Event{})] = true
	case n == 5:
		u.c.Ask(u.id, events.CommandResign, events.Event{})
	case n == 6:
		u.cancel()
	case n == 7 || n == 8:
		u.write()
	}
}

// cancel ends the context of the await that was asked for last, or of one that
// was granted just now: who waits cannot know.
func (u *user) cancel() bool {
	if u.role.cancel != nil {
		return u.role.cancel(u)
	}
	for number := u.c.LastCommand(); number > 0; number-- {
		if u.awaits[number] || u.granted == number {
			u.granted = 0
			u.c.Post(u.id, events.Event{Kind: events.CommandCancel, Work: number})
			return true
		}
	}
	return false
}

func worksWhenGranted(u *user, n events.Notify) {
	switch n.What {
	case events.Granted:
		delete(u.awaits, n.Work)
		u.granted = n.Work
		u.beginWork()
	case events.Stopped:
		u.stopWork()
	}
}
