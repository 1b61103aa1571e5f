package sim

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Sum is what many worlds came to.
type Sum struct {
	Worlds  int64
	Next    int64 // the first seed that was not run, without gaps below it
	Moments uint64
	Took    time.Duration
	Worst   time.Duration
	Settled time.Duration
	Failed  []Result // the first few, without their stories
	Cover   *Coverage
}

// Many runs the seeds from first on, n of them, over all processors, until the
// context ends. Each finished world is told to progress, one at a time.
func Many(ctx context.Context, first, n int64, o Options, progress func(*Sum)) *Sum {
	sum := &Sum{Next: first, Cover: newCoverage()}
	var (
		mu   sync.Mutex
		next atomic.Int64
		all  sync.WaitGroup
	)
	done := map[int64]bool{}
	begun := time.Now()
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for ctx.Err() == nil {
				i := next.Add(1) - 1
				if i >= n {
					return
				}
				r := Run(first+i, o)
				mu.Lock()
				sum.add(r)
				sum.Took = time.Since(begun)
				done[first+i] = true
				for done[sum.Next] {
					delete(done, sum.Next)
					sum.Next++
				}
				if progress != nil {
					progress(sum)
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return sum
}

func (s *Sum) add(r Result) {
	s.Worlds++
	s.Moments += r.Moments
	s.Worst = max(s.Worst, r.Worst)
	s.Settled = max(s.Settled, r.Settled)
	s.Cover.Add(r.Cover)
	if len(r.Broken) > 0 && len(s.Failed) < 20 {
		r.Cover = nil
		s.Failed = append(s.Failed, r)
	}
}

// String is the figures on a few lines.
func (s *Sum) String() string {
	seconds, cores := max(s.Took.Seconds(), 0.001), float64(runtime.GOMAXPROCS(0))
	rows, hit, missing := s.Cover.Goals()
	unfired := 0
	for _, m := range missing {
		if strings.HasPrefix(m, "fault: ") {
			unfired++
		}
	}
	return fmt.Sprintf("%d worlds in %.1f s: %.0f worlds/s; per core %.0f events/s, %.0f with the ensemble's and the network's\n"+
		"%d of %d rows and %d of %d faults fired; worst belief after a deletion by others %s; slowest healing %s\n"+
		"%d deadlines lapsed under a stopped process, %d sessions came back from a backup into the past;\n"+
		"seen, and not counted as violations: %d deaf leaders; failed worlds: %d",
		s.Worlds, seconds, float64(s.Worlds)/seconds, float64(s.Cover.Steps)/seconds/cores, float64(s.Moments)/seconds/cores,
		hit, rows, len(faults)-unfired, len(faults), s.Worst, s.Settled,
		s.Cover.Lapses, s.Cover.Marooned, s.Cover.Deaf, len(s.Failed))
}

// Report is a failed world in words: its plan, what broke, and how to see it.
func (r Result) Report() string {
	var b strings.Builder
	fmt.Fprintln(&b, r.Plan)
	for _, v := range r.Broken {
		fmt.Fprintf(&b, "\t%s, at %s: %s\n", v.Check, v.At, v.Text)
	}
	fmt.Fprintf(&b, "\tmake sim SEED=%d", r.Plan.Seed)
	return b.String()
}

// Shrink takes faults out of a failing world, and time and clients, for as long
// as the same check still fails.
func Shrink(r Result, o Options) Result {
	again := func(p Plan) bool {
		o.Plan = &p
		s := Run(p.Seed, o)
		if len(s.Broken) == 0 || s.Broken[0].Check != r.Broken[0].Check {
			return false
		}
		r = s
		return true
	}
	for smaller := true; smaller; {
		smaller = false
		for _, f := range r.Plan.Faults {
			p := r.Plan
			p.Without = append(append([]string(nil), p.Without...), f.Fault)
			if r.Plan.has(f.Fault) && again(p) {
				smaller = true
			}
		}
		for _, p := range []Plan{r.Plan, r.Plan, r.Plan} {
			p.Clients--
			if p.Clients > 1 && again(p) {
				smaller = true
			}
		}
		p := r.Plan
		if p.Length = p.Length * 3 / 4; p.Length > p.Tick && again(p) {
			smaller = true
		}
	}
	return r
}
