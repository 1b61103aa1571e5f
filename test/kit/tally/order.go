package main

import (
	"cmp"
	"slices"

	"github.com/incumbent-go/incumbent/test/kit/selection"
)

// order sorts packages of the module here: those that take longest come first, the others stay as they are. go test
// begins them in this order, and a long one waits for its servers while the others compute, and not after them.
func order(packages []string) []string {
	longest := selection.Longest()
	rank := func(pkg string) int {
		if i := slices.Index(longest, folder(pkg)); i >= 0 {
			return i
		}
		return len(longest)
	}
	sorted := slices.Clone(packages)
	slices.SortStableFunc(sorted, func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
	return sorted
}

// inPlaceOfAll returns the arguments with these packages in place of ./...
func inPlaceOfAll(args, packages []string) (rest []string) {
	for _, a := range args {
		if a == "./..." {
			rest = append(rest, packages...)
		} else {
			rest = append(rest, a)
		}
	}
	return rest
}
