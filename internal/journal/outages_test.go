package journal

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

// placed is a participant with a path, in a state of a class.
type placed struct {
	path string
	is   events.Class
}

func (p *placed) Path() string        { return p.path }
func (p *placed) Class() events.Class { return p.is }
func (p *placed) Leads() bool         { return p.is == events.ClassLeading }

// line is the participants of a client, and its outages.
type line struct {
	*Outages
	all []*placed
	now atomic.Int64
	log journal
}

// newLine returns a client with participants in these states, so many of each in the order of the names.
func newLine(leading, waiting int) *line {
	l := &line{}
	l.now.Store(int64(1000 * time.Hour))
	l.Outages = &Outages{Log: New(zerolog.New(&l.log), ""), Now: l.now.Load,
		Timeout: func() time.Duration { return 10 * time.Second }, Members: l.members}
	for i := range leading + waiting {
		p := &placed{fmt.Sprintf("/line%02d", 99-i), events.ClassQueued}
		if i < leading {
			p.is = events.ClassLeading
		}
		l.all = append(l.all, p)
	}
	return l
}

// members are all of them, one that has not started, and one that has closed.
func (l *line) members(yield func(Member) bool) {
	for _, p := range append(l.all, &placed{"/latent", events.ClassLatent}, &placed{"/closed", events.ClassClosed}) {
		if !yield(p) {
			return
		}
	}
}

// enter has participants enter a state.
func (l *line) enter(is events.Class, who ...*placed) {
	for _, p := range who {
		p.is = is
		l.Entered(p, is)
	}
}

// level is that of a line of the last participant, which is a warning without an outage of many.
func (l *line) level() zerolog.Level { return l.Level(l.all[len(l.all)-1], zerolog.WarnLevel) }

// An outage of many has two lines, and a second one has its own two. Without an outage nobody's lines are lower.
func TestAnOutageOfManyHasTwoLines(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		l := newLine(5, maxOutageLines-4)
		for round := range 2 {
			if level := l.level(); level != zerolog.WarnLevel {
				t.Errorf("round %d, before the outage: level %s", round, level)
			}
			for range 2 {
				if !l.Disconnected() {
					t.Errorf("round %d: nobody led", round)
				}
			}
			l.log.want(t, "a connection is lost, and nothing is said so far")
			for range 3 {
				if level := l.level(); level != zerolog.DebugLevel {
					t.Errorf("round %d, in the outage: level %s", round, level)
				}
			}
			if level := l.Level(&placed{"/new", events.ClassBusy}, zerolog.WarnLevel); level != zerolog.WarnLevel {
				t.Errorf("round %d, of one that is not affected: level %s", round, level)
			}
			l.log.want(t, "it begins", `{"level":"warn","message":"outage","participants":21,"led":5}`)
			l.enter(events.ClassBlocked, l.all...)
			l.now.Add(int64(3 * time.Second))
			l.Reconnected()
			l.enter(events.ClassLeading, l.all[:5]...)
			l.enter(events.ClassIdle, l.all[5:7]...)
			l.enter(events.ClassQueued, l.all[7:20]...)
			l.log.want(t, "all but one are settled")
			l.enter(events.ClassStandby, l.all[20])
			l.log.want(t, "all are settled",
				`{"level":"info","message":"outage over","participants":21,"leading":5,"queued":14,`+
					`"ended":2,"unsettled":0,"outage_ms":3000}`)
			l.enter(events.ClassQueued, l.all[5:]...)
		}
	})
}

// What is not settled a session timeout after the connection is back is reported then, with its paths, and the
// outage is over.
func TestAnOutageThatDoesNotSettle(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		l := newLine(1, maxOutageLines)
		for _, unsettled := range []int{2, 7} {
			l.Disconnected()
			l.level()
			l.log.want(t, "it begins", `{"level":"warn","message":"outage","participants":21,"led":1}`)
			l.enter(events.ClassBlocked, l.all[:unsettled]...)
			elapse(time.Minute)
			l.log.want(t, "without a connection nothing is over")
			l.Reconnected()
			elapse(10*time.Second - 1)
			l.log.want(t, "before the timeout")
			l.now.Add(int64(70 * time.Second))
			elapse(1)
			paths := ""
			for i := max(0, unsettled-maxOutagePaths); i < unsettled; i++ {
				paths = fmt.Sprintf(`,"/line%02d"`, 99-i) + paths
			}
			if unsettled > maxOutagePaths {
				paths = `,"/line93","/line94","/line95","/line96","/line97"`
			}
			l.log.want(t, "at the timeout",
				fmt.Sprintf(`{"level":"warn","message":"outage over","participants":21,"leading":0,`+
					`"queued":%d,"ended":0,"unsettled":%d,"outage_ms":70000,"paths":[%s]}`, 21-unsettled, unsettled,
					paths[1:]))
			if level := l.level(); level != zerolog.WarnLevel {
				t.Errorf("afterwards: level %s", level)
			}
			l.enter(events.ClassQueued, l.all[1:]...)
			l.enter(events.ClassLeading, l.all[0])
		}
	})
}

func elapse(d time.Duration) {
	virtual.Sleep(d)
	synctest.Wait()
}

// An outage of few is in their own lines.
func TestAnOutageOfFewHasTheirLines(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		l := newLine(0, maxOutageLines)
		if l.Disconnected() || l.level() != zerolog.WarnLevel {
			t.Error("somebody led, or its line is lower")
		}
		l.Reconnected()
		elapse(time.Minute)
		l.log.want(t, "it is over")
	})
}

// A deadline that passed for all is an outage of those that lead. The line says why, once.
func TestADeadlineThatPassedForAll(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		l := newLine(maxOutageLines+1, 30)
		why := func(e *zerolog.Event) { e.Str("reason", "lapsed") }
		l.Ended(why)
		l.Ended(why)
		l.log.want(t, "it begins", `{"level":"warn","message":"outage","participants":21,"led":21,"reason":"lapsed"}`)
		l.enter(events.ClassEnrolling, l.all[:21]...)
		l.enter(events.ClassQueued, l.all[:20]...)
		elapse(10*time.Second - 1)
		l.log.want(t, "before the timeout")
		elapse(1)
		l.log.want(t, "at the timeout", `{"level":"warn","message":"outage over","participants":21,"leading":0,`+
			`"queued":20,"ended":0,"unsettled":1,"outage_ms":0,"paths":["/line79"]}`)
	})
}

// Without a connection an outage is over when all have closed, and not before.
func TestAnOutageEndsWhenAllHaveClosed(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		l := newLine(0, maxOutageLines+1)
		l.Disconnected()
		l.level()
		l.enter(events.ClassClosed, l.all[:maxOutageLines]...)
		l.log.want(t, "one is left", `{"level":"warn","message":"outage","participants":21,"led":0}`)
		l.enter(events.ClassClosed, l.all[maxOutageLines])
		l.log.want(t, "none is left",
			`{"level":"info","message":"outage over","participants":21,"leading":0,"queued":0,`+
				`"ended":21,"unsettled":0,"outage_ms":0}`)
	})
}
