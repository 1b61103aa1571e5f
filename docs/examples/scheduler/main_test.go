package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

const within = time.Minute // bounds every wait; no measurement

// stage is an ensemble, a clock, and what all instances do and say.
type stage struct {
	t     *testing.T
	ctx   context.Context
	srv   *zkmem.Server
	clock *clockwork.FakeClock

	mu    sync.Mutex
	lines []string
	more  chan struct{}
}

func newStage(t *testing.T) *stage {
	ctx, cancel := context.WithTimeout(t.Context(), within)
	t.Cleanup(cancel)
	noon := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	return &stage{t: t, ctx: ctx, srv: zkmem.Start(t), clock: clockwork.NewFakeClockAt(noon), more: make(chan struct{})}
}

func (s *stage) say(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, fmt.Sprintf(format, args...))
	close(s.more)
	s.more = make(chan struct{})
}

// until waits until a line with this text stands at least so many times.
func (s *stage) until(times int, text string) {
	s.t.Helper()
	for {
		s.mu.Lock()
		n, more, all := 0, s.more, strings.Join(s.lines, "\n")
		for _, line := range s.lines {
			if strings.Contains(line, text) {
				n++
			}
		}
		s.mu.Unlock()
		if n >= times {
			return
		}
		select {
		case <-more:
		case <-s.ctx.Done():
			s.t.Fatalf("%d times %q did not come in\n%s", times, text, all)
		}
	}
}

// ran lists the ticks that were run, in the order in which they began.
func (s *stage) ran() (ticks []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, line := range s.lines {
		if tick, ok := strings.CutPrefix(line, "run "); ok {
			ticks = append(ticks, tick)
		}
	}
	return ticks
}

// instance follows leadership until the test ends. Its work says that it runs,
// and waits where the gate tells it to.
func (s *stage) instance(name string, gate func(tick string) <-chan struct{}) {
	client, err := incumbent.Open(s.ctx, incumbent.Config{Servers: s.srv.Addr()})
	if err != nil {
		s.t.Fatal(err)
	}
	work := func(_ context.Context, tick time.Time, token int64) error {
		at := tick.Format("15:04")
		s.say("run %s", at)
		if wait := gate(at); wait != nil {
			<-wait
		}
		s.say("ended %s", at)
		return nil
	}
	one := &scheduler{client: client, ledger: "/jobs/line-ledger", crontab: "* * * * *", late: 10 * time.Minute,
		clock: s.clock, work: work,
		say: func(format string, args ...any) { s.say(name+": "+format, args...) }}
	ctx, cancel := context.WithCancel(s.ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = one.follow(ctx, "/jobs/line")
	}()
	s.t.Cleanup(func() {
		cancel()
		<-ended
		_ = client.Close(context.WithoutCancel(ctx))
	})
}

// pass lets minutes go by, when the leader's timer is set.
func (s *stage) pass(minutes int) {
	s.t.Helper()
	if err := s.clock.BlockUntilContext(s.ctx, 1); err != nil {
		s.t.Fatal(err)
	}
	s.clock.Advance(time.Duration(minutes) * time.Minute)
}

// expire ends the leader's session.
func (s *stage) expire() {
	s.t.Helper()
	s.srv.View(func(v *zkmem.View) {
		first := slices.MinFunc(v.Children("/jobs/line"), func(a, b string) int {
			return strings.Compare(a[len(a)-10:], b[len(b)-10:])
		})
		_, stat, err := v.Get("/jobs/line/" + first)
		if err != nil {
			s.t.Error(err)
		}
		go s.srv.ExpireSession(stat.EphemeralOwner)
	})
}

func never(string) <-chan struct{} { return nil }

func TestNoTickTwiceAndNoneLostAcrossHandOvers(t *testing.T) {
	s := newStage(t)
	s.instance("a", never)
	s.instance("b", never)
	s.until(1, "leading under token")
	want := []string{}
	for minute := 1; minute <= 6; minute++ {
		s.pass(1)
		tick := fmt.Sprintf("12:%02d", minute)
		want = append(want, tick)
		s.until(1, "ended "+tick)
		if minute%2 == 0 { // three hand-overs
			s.expire()
			s.until(minute/2, "no longer leading")
			s.until(minute/2+1, ": leading under token")
		}
	}
	if got := s.ran(); !slices.Equal(got, want) {
		t.Errorf("ran %v, want %v", got, want)
	}
}

// TestATickUnderWayInAHandOver: the leader is in the middle of a tick when its
// session ends. Its successor tells of it, does not run it again, and runs what
// nobody began meanwhile.
func TestATickUnderWayInAHandOver(t *testing.T) {
	s := newStage(t)
	hold := make(chan struct{})
	gate := func(tick string) <-chan struct{} {
		if tick == "12:02" {
			return hold
		}
		return nil
	}
	s.instance("a", gate)
	s.until(1, "a: leading under token")
	s.instance("b", never)
	s.pass(1)
	s.until(1, "ended 12:01")
	if err := s.srv.WaitFor(s.ctx, func(v *zkmem.View) bool { return len(v.Children("/jobs/line")) == 2 }); err != nil {
		t.Fatal(err)
	}
	s.pass(1)
	s.until(1, "run 12:02")
	s.expire()
	s.until(1, "b: leading under token")
	s.until(1, "b: tick 2030-01-01T12:02:00Z was begun under token")
	s.pass(2)
	s.until(1, "ended 12:04")
	close(hold)
	s.until(1, "a: no longer leading")
	if got, want := s.ran(), []string{"12:01", "12:02", "12:03", "12:04"}; !slices.Equal(got, want) {
		t.Errorf("ran %v, want %v", got, want)
	}
}

// TestTooLateIsTold: what is too old to run is told, and not run.
func TestTooLateIsTold(t *testing.T) {
	s := newStage(t)
	s.instance("a", never)
	s.until(1, "leading under token")
	s.pass(12)
	s.until(1, "ended 12:12")
	s.until(1, "a: tick 2030-01-01T12:01:00Z was missed")
	if got := s.ran(); got[0] != "12:02" || len(got) != 11 {
		t.Errorf("ran %v", got)
	}
}

// TestAnOutageAndAKill: the ticks of an outage are run after it, and those of a leader that died by the next one.
func TestAnOutageAndAKill(t *testing.T) {
	s := newStage(t)
	s.instance("a", never)
	s.until(1, "a: leading under token")
	s.instance("b", never)
	s.pass(1)
	s.until(1, "ended 12:01")
	s.srv.Stop()
	if err := s.srv.Restart(); err != nil {
		t.Fatal(err)
	}
	s.until(1, "no longer leading")
	s.until(2, ": leading under token")
	s.pass(1)
	s.until(1, "ended 12:02")
	s.expire() // as that of a process that died
	s.until(2, "no longer leading")
	s.until(3, ": leading under token")
	s.pass(1)
	s.until(1, "ended 12:03")
	if got, want := s.ran(), []string{"12:01", "12:02", "12:03"}; !slices.Equal(got, want) {
		t.Errorf("ran %v, want %v", got, want)
	}
}
