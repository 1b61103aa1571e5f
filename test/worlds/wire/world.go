package wire

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// The paths that users and operators share.
const (
	lineDir    = "/line"
	lockDir    = "/lock"
	onceDir    = "/once"  // each name in it is asked for by one call
	queueDir   = "/queue" // of items that are all different
	numberPath = "/number"
	groupDir   = "/group"
	watchedOne = "/watched/one"
	watchedDir = "/watched/dir"
	shortDir   = "/short" // its names are watched for a short while
)

// world is one ensemble, its clients, and what goes wrong.
type world struct {
	plan   plan
	dice   dice
	srv    *zkmem.Server
	truth  *truth
	start  time.Time
	seen   *sightings
	leader *reports

	clients    []*client
	attaches   attaches // of sessions to connections
	neighbours []*neighbour

	mu     sync.Mutex
	story  []line
	broken []breach
	failed map[string]bool

	lastToken   int64
	shardTokens [shardCount]int64
	itemsRan    map[int]bool // items of the job that have begun to run
}

// line is one line of the story. It is written out only if somebody reads it.
type line struct {
	at     time.Duration
	format string
	args   []any
}

// breach is a check that failed.
type breach struct{ check, text string }

// play plays the world of a seed.
func play(t *testing.T, seed uint64, always bool) { playPlan(t, newPlan(seed), always) }

// playPlan plays a world in a bubble of its own. The test fails if a check does, and shows the story.
func playPlan(t *testing.T, p plan, always bool) {
	virtual.Within(t, time.Hour, func(t *testing.T) {
		w := &world{plan: p, dice: dice(mix(p.seed)), start: time.Now(), failed: map[string]bool{},
			itemsRan: map[int]bool{}}
		w.truth, w.seen, w.leader = newTruth(w), newSightings(w), newReports(w)
		options := zkmem.Options{Tick: tick, NoContainers: w.plan.old}
		if w.plan.login {
			options.EnforceAuth, options.SASLUsers = []string{"sasl"}, map[string]string{user: password}
		}
		w.srv = zkmem.New(options)
		virtual.Log(t, w.report)
		w.srv.OnApply(w.truth.apply)
		w.srv.Intercept(w.answerByCodes)
		w.run()
		switch story := "\n" + w.report(); { // before the end: what hangs is a deadlock there
		case len(w.broken) > 0:
			t.Error(story)
		case always:
			t.Log(story)
		}
		w.srv.Close()
		synctest.Wait()
	})
}

// run plays the storm, the calm, and the end.
func (w *world) run() {
	ctx, cancel := context.WithCancel(context.Background())
	for _, path := range []string{"/watched", watchedOne, onceDir, groupDir, shortDir} {
		_, _ = w.srv.Create(path, nil, zkmem.Persistent)
	}
	if w.plan.job {
		w.createJob()
	}
	w.neighbours = w.newNeighbours()
	for i := range w.plan.clients {
		w.clients = append(w.clients, w.newClient(i))
	}
	for _, c := range w.clients {
		c.open()
	}
	var around sync.WaitGroup
	for _, b := range w.neighbours {
		around.Go(func() { b.run(ctx) })
	}
	around.Go(func() { w.leader.run(ctx) })
	around.Go(func() { w.operate(ctx) })
	around.Go(func() { w.change(ctx) })
	virtual.Sleep(w.plan.storm)
	w.tell("all is healed")
	w.calm()
	cancel()
	around.Wait()
	w.end()
	w.afterwards()
}

// storming reports whether faults begin now.
func (w *world) storming() bool { return time.Since(w.start) < w.plan.storm }

// busy reports whether users begin anything new: in the calm only the leaders go on.
func (w *world) busy() bool { return time.Since(w.start) < w.plan.storm+w.plan.timeout/2 }

// pause waits, or until the context ends; then it returns false.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// tell adds a line to the story.
func (w *world) tell(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, a := range args {
		if s, ok := a.(fmt.Stringer); ok {
			args[i] = s.String()
		}
	}
	w.story = append(w.story, line{time.Since(w.start), format, args})
}

// fail notes a check that failed. Of each check the first counts.
func (w *world) fail(check, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	w.tell("BROKEN: %s: %s", check, text)
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.failed[check] {
		w.failed[check] = true
		w.broken = append(w.broken, breach{check, text})
	}
}

// report returns what was broken, and the story.
func (w *world) report() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var b strings.Builder
	for _, broken := range w.broken {
		fmt.Fprintf(&b, "seed %d breaks %q: %s\n", w.plan.seed, broken.check, broken.text)
	}
	fmt.Fprintf(&b, "make wire SEED=%d plays it alone. %d clients, %d neighbours, session timeout %s, ride out %t, "+
		"job %t, election %t, plain lock %t, the storm takes %s\n", w.plan.seed, w.plan.clients, w.plan.neighbours,
		w.plan.timeout, w.plan.rideOut, w.plan.job, w.plan.node, w.plan.plain, w.plan.storm)
	for _, o := range w.plan.outages {
		fmt.Fprintf(&b, "  %s\n", o)
	}
	for _, l := range w.story {
		fmt.Fprintf(&b, "%12.6f  %s\n", l.at.Seconds(), fmt.Sprintf(l.format, l.args...))
	}
	return b.String()
}
