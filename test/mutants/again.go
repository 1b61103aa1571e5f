package mutants

import (
	"context"
	"slices"
	"strings"
	"time"
)

// Again tries mutants that were found before by the tests that found them, and by nothing else: stage by stage in this order. While
// the tests of one stage run, the test binary of the next is compiled. Each stage runs once without a mutant. What a test no longer
// finds, perhaps because the recorded run failed for another reason, is tried by all stages of its package at the end. When the
// context ends, what is left is not tried, and gets no verdict.
func (j *Judge) Again(ctx context.Context, numbers []int, stages []Stage, workers int, tell func(Verdict)) error {
	var left []int
	found, dirs := make([][]int, len(stages)), []string(nil)
	for i, s := range stages {
		for _, n := range numbers {
			if by, ok := j.finder(n); ok && by.Dir == s.Dir && by.Run == s.Run {
				found[i] = append(found[i], n)
			}
		}
		if len(found[i]) > 0 && !slices.Contains(dirs, s.Dir) {
			dirs = append(dirs, s.Dir)
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer j.ahead(ctx, dirs)()
	defer cancel()
	for i, s := range stages {
		missed, err := j.stageAgain(ctx, s, found[i], workers, tell)
		if err != nil || ctx.Err() != nil {
			return err
		}
		left = append(left, missed...)
	}
	return j.All(ctx, left, workers, j.Try, tell)
}

// stageAgain tries mutants by the tests of one stage that found them, and returns those that were missed.
func (j *Judge) stageAgain(ctx context.Context, s Stage, numbers []int, workers int, tell func(Verdict)) (missed []int, err error) {
	if len(numbers) == 0 {
		return nil, nil
	}
	var tests []string
	for _, n := range numbers {
		tests = append(tests, j.Known[j.Mutants[n-1].ID].Test)
	}
	slices.Sort(tests)
	c, err := j.clean(ctx, alone(s, "("+strings.Join(slices.Compact(tests), "|")+")"))
	if ctx.Err() != nil {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	try := func(ctx context.Context, number int) (Verdict, error) {
		v := Verdict{Mutant: j.Mutants[number-1], State: NotCovered}
		test := j.Known[v.ID].Test
		one := &clean{outcome: outcome{took: c.tests[test] + time.Second}} // a second to start the binary
		_, err := j.run(ctx, &v, alone(s, test), one, number)
		return v, err
	}
	number := map[*Mutant]int{}
	for _, n := range numbers {
		number[j.Mutants[n-1]] = n
	}
	return missed, j.All(ctx, numbers, workers, try, func(v Verdict) {
		if v.State == Survived {
			missed = append(missed, number[v.Mutant])
			return
		}
		tell(v)
	})
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
