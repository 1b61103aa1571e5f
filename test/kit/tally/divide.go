package main

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/test/kit/selection"
)

// divide returns the arguments that test these packages of the module here. If they are proved under the race detector,
// those that run once have arguments of their own.
func (t *tally) divide(args, packages []string) [][]string {
	if !t.proves || !slices.Contains(args, "-race") {
		return [][]string{inPlaceOfAll(args, packages)}
	}
	once := func(pkg string) bool { return selection.Once(folder(pkg)) }
	isRaced := func(pkg string) bool { return !once(pkg) }
	args = append(slices.Clone(args), "-p", "4")
	raced := inPlaceOfAll(args, slices.DeleteFunc(slices.Clone(packages), once))
	return append([][]string{raced}, t.left(args, slices.DeleteFunc(slices.Clone(packages), isRaced))...)
}

// ofNested returns the arguments for a module in a folder below root, which has these packages.
func (t *tally) ofNested(root, dir string, args, packages []string) [][]string {
	args = append(slices.Clone(args), "-p", "1")
	below, err := filepath.Rel(root, dir)
	if t.proves && err == nil && selection.Once(filepath.ToSlash(below)) {
		return t.left(args, packages)
	}
	return [][]string{args}
}

// unraced returns the arguments without the race detector.
func unraced(args []string) []string {
	return slices.DeleteFunc(slices.Clone(args), func(a string) bool { return a == "-race" })
}

// folder returns where a package of the module here, or of one below it, stands.
func folder(pkg string) string {
	if pkg == module {
		return "."
	}
	return strings.TrimPrefix(pkg, module+"/")
}
