package sim

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Sum adds up the worlds of a range of seeds, without a gap.
type Sum struct {
	First   int64
	Next    int64 // the first seed that is not in the sum
	Worlds  int64
	Moments uint64
	Took    time.Duration
	Worst   time.Duration
	Settled time.Duration
	Digest  uint64   // of the worlds' digests, in order
	Failed  []Result // the first few, without their stories
	Cover   *Coverage
}

// NewSum returns the sum of no worlds.
func NewSum(first int64) *Sum {
	return &Sum{First: first, Next: first, Cover: newCoverage()}
}

// Many runs n more seeds on all processors and adds them to the sum in order, until
// the context ends. Worlds that end before an earlier one are dropped then. It calls
// progress after each world.
func Many(ctx context.Context, sum *Sum, n int64, o Options, progress func(*Sum)) {
	defer debug.SetGCPercent(debug.SetGCPercent(1000)) // worlds are small and short: this saves a third of the time
	var (
		mu    sync.Mutex
		next  atomic.Int64
		all   sync.WaitGroup
		first = sum.Next
		ahead = map[int64]Result{}
		took  = sum.Took
		begun = time.Now()
	)
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for ctx.Err() == nil {
				i := next.Add(1) - 1
				if i >= n {
					return
				}
				r := Run(first+i, o)
				mu.Lock()
				ahead[first+i] = r
				for r, done := ahead[sum.Next]; done && ctx.Err() == nil; r, done = ahead[sum.Next] {
					delete(ahead, sum.Next)
					sum.add(r)
					sum.Took = took + time.Since(begun)
					if progress != nil {
						progress(sum)
					}
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
}

func (s *Sum) add(r Result) {
	s.Worlds++
	s.Next++
	s.Digest = (s.Digest ^ r.Digest) * 1099511628211
	s.Moments += r.Moments
	s.Worst = max(s.Worst, r.Worst)
	s.Settled = max(s.Settled, r.Settled)
	s.Cover.Add(r.Cover)
	if len(r.Broken) > 0 && len(s.Failed) < 20 {
		r.Cover = nil
		s.Failed = append(s.Failed, r)
	}
}

// String returns the figures on a few lines.
func (s *Sum) String() string {
	seconds, cores := max(s.Took.Seconds(), 0.001), float64(runtime.GOMAXPROCS(0))
	rows, hit, missing := s.Cover.Goals()
	unfired := 0
	for _, m := range missing {
		if strings.HasPrefix(m, "fault: ") {
			unfired++
		}
	}
	return fmt.Sprintf("%d worlds in %.1f s: %.0f worlds/s; per core %.0f events/s, %.0f with the ensemble's and "+
		"the network's\n"+
		"%d of %d rows and %d of %d faults fired; worst belief after a deletion by others %s; slowest healing %s\n"+
		"%d guarded writes committed; %d deadlines lapsed under a stopped process, %d sessions came back from a "+
		"backup into the past;\n"+
		"%d deaf leaders; failed worlds: %d",
		s.Worlds, seconds, float64(s.Worlds)/seconds, float64(s.Cover.Steps)/seconds/cores,
		float64(s.Moments)/seconds/cores,
		hit, rows, len(faults)-unfired, len(faults), s.Worst, s.Settled,
		s.Cover.Writes, s.Cover.LapsedDeadlines, s.Cover.SessionsFromBackup, s.Cover.UnreadableLeaders, len(s.Failed))
}

// Report returns a failed world in words: its plan, what broke, and how to see it.
func (r Result) Report() string {
	var b strings.Builder
	fmt.Fprintln(&b, r.Plan)
	for _, v := range r.Broken {
		fmt.Fprintf(&b, "\t%s, at %s: %s\n", v.Check, v.At, v.Text)
	}
	fmt.Fprintf(&b, "\tmake sim SEED=%d", r.Plan.Seed)
	return b.String()
}
