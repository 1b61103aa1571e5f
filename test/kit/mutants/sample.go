package mutants

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Stage is a set of tests that may find a mutant: those of one package that the expressions select.
type Stage struct {
	Dir       string
	Run, Skip string   // of go test
	Args      []string // after -args
}

// has reports whether a test is of this stage. A binary that does not even start has no test to name.
func (s Stage) has(f Finder) bool {
	skipped := s.Skip != "" && regexp.MustCompile(s.Skip).MatchString(f.Test)
	return f.Test != atStart && s.Dir == f.Dir && regexp.MustCompile(s.Run).MatchString(f.Test) && !skipped
}

// Target is a package with mutants: how many of them are tried, and the tests that may find them, in this order.
type Target struct {
	Dir    string
	Count  int
	Stages []Stage
}

// sample returns as many mutants of each target as it says. The seed and the mutant's id decide, so what is edited
// elsewhere changes nothing.
func sample(ctx context.Context, root string, targets []Target, seed int) (all []*Mutant, codes []*code, err error) {
	var dirs []string
	for _, t := range targets {
		dirs = append(dirs, t.Dir)
	}
	l, err := newLoader(ctx, root, dirs)
	if err != nil {
		return nil, nil, err
	}
	for _, t := range targets {
		c, err := l.load(t.Dir)
		if err != nil {
			return nil, nil, err
		}
		codes = append(codes, c)
		all = append(all, draw(find(c), t.Count, seed)...)
	}
	return all, codes, nil
}

// draw returns n of all mutants, in the order of the source; fewer if there are fewer.
func draw(all []*Mutant, n, seed int) []*Mutant {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b *Mutant) int { return strings.Compare(lot(seed, a), lot(seed, b)) })
	all = all[:min(n, len(all))]
	slices.SortFunc(all, func(a, b *Mutant) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), strings.Compare(a.ID, b.ID))
	})
	return all
}

// lot returns what decides a mutant's place in a draw.
func lot(seed int, m *Mutant) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(fmt.Sprint(seed, m.ID))))
}
