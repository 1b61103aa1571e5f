package mutants

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// State is what became of a mutant.
type State string

// The states. A hang counts as found: a test that does not end twice in a row is a failure, too.
const (
	Found      State = "found"
	Hang       State = "hang"
	Survived   State = "survived"
	NotCovered State = "not covered" // no test came to it
)

// Verdict is what became of a mutant, and the test that found it.
type Verdict struct {
	*Mutant
	State State
	By    Finder
	Took  time.Duration
}

// Finder is a test of a package.
type Finder struct{ Dir, Test string }

// Judge tries mutants of one build.
type Judge struct {
	*Build
	Known map[string]Finder // by the mutant's id: the test that found it the last time

	patience time.Duration // how much longer than five times its time without a mutant a run may take
	mu       sync.Mutex
	cleans   map[string]func() (*clean, error) // by what is run
}

// NewJudge returns a judge of this build's mutants.
func NewJudge(b *Build, known map[string]Finder) *Judge {
	return &Judge{Build: b, Known: known, patience: 10 * time.Second, cleans: map[string]func() (*clean, error){}}
}

// longest is how long a run without a mutant may take.
const longest = 20 * time.Minute

// clean returns the run of a stage without a mutant, which takes place once.
func (j *Judge) clean(ctx context.Context, s Stage) (*clean, error) {
	key := fmt.Sprint(s)
	j.mu.Lock()
	once := j.cleans[key]
	if once == nil {
		once = sync.OnceValues(func() (*clean, error) { return j.Build.clean(ctx, s, longest) })
		j.cleans[key] = once
	}
	j.mu.Unlock()
	return once()
}

// alone returns a stage with one test of it.
func alone(s Stage, test string) Stage {
	s.Run = "^" + test + "$"
	return s
}

// Try tries the mutant with a number, first with the test that found it the last time.
func (j *Judge) Try(ctx context.Context, number int) (Verdict, error) {
	v := Verdict{Mutant: j.Mutants[number-1], State: NotCovered}
	if s, ok := j.finder(number); ok {
		s = alone(s, j.Known[v.ID].Test)
		c, err := j.clean(ctx, s)
		if err != nil {
			return v, err
		}
		if over, err := j.run(ctx, &v, s, c, number); over || err != nil {
			return v, err
		}
	}
	for _, s := range j.targets[v.Dir].Stages {
		c, err := j.clean(ctx, s)
		if err != nil {
			return v, err
		}
		if !c.reached[number] {
			continue
		}
		if over, err := j.run(ctx, &v, s, c, number); over || err != nil {
			return v, err
		}
	}
	return v, nil
}

// run runs a stage with a mutant on, its fast tests first, and reports whether one found it.
func (j *Judge) run(ctx context.Context, v *Verdict, s Stage, c *clean, number int) (bool, error) {
	type part struct {
		Stage
		took time.Duration
	}
	parts := []part{{s, c.took}}
	if c.fast != "" {
		first, rest := s, s
		first.Run, rest.Skip = c.fast, c.fast
		if s.Skip != "" {
			rest.Skip += "|" + s.Skip
		}
		parts = []part{{first, c.fastTook}, {rest, c.took}}
	}
	for _, p := range parts {
		o, err := j.playUntilSure(ctx, p.Stage, number, j.patience+5*p.took)
		if err != nil {
			return false, err
		}
		v.State, v.Took = Survived, v.Took+o.took
		if !o.passed {
			v.State, v.By = Found, Finder{s.Dir, o.found}
			if o.hang {
				v.State = Hang
			}
			return true, nil
		}
	}
	return false, nil
}

// playUntilSure plays a stage with a mutant on. If it does not end within the limit, it is played a second time, whose
// outcome counts: the machine may have been busy.
func (j *Judge) playUntilSure(ctx context.Context, s Stage, number int, limit time.Duration) (outcome, error) {
	o, err := j.play(ctx, s, number, limit)
	if err != nil || !o.hang {
		return o, err
	}
	before := o.took
	o, err = j.play(ctx, s, number, limit)
	o.took += before
	return o, err
}

// All tries the mutants with these numbers, so many at a time, and gives each verdict to tell. When the context ends it
// leaves out the rest.
func (j *Judge) All(ctx context.Context, numbers []int, workers int, try func(context.Context, int) (Verdict, error),
	tell func(Verdict)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	work := make(chan int)
	var all sync.WaitGroup
	var mu sync.Mutex
	for range workers {
		all.Go(func() {
			for n := range work {
				v, err := try(ctx, n)
				switch {
				case err != nil && ctx.Err() == nil:
					cancel(err)
				case err == nil:
					mu.Lock()
					tell(v)
					mu.Unlock()
				}
			}
		})
	}
	for _, n := range numbers {
		select {
		case work <- n:
		case <-ctx.Done():
		}
	}
	close(work)
	all.Wait()
	if err := context.Cause(ctx); err != nil && err != context.DeadlineExceeded {
		return err
	}
	return nil
}

// finder returns the stage of the test that found a mutant the last time.
func (j *Judge) finder(number int) (Stage, bool) {
	m := j.Mutants[number-1]
	by := j.Known[m.ID]
	for _, s := range j.targets[m.Dir].Stages {
		if s.has(by) {
			return s, true
		}
	}
	return Stage{}, false
}
