// Package optimizations is the switch with which tests run everything with some of the library's optimizations off, as
// Config.Disable turns off each. A program outside this module cannot import the package.
package optimizations

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// Variable is set in the environment of a test binary whose clients are to work without these optimizations: "all", or
// their names, separated by commas.
const Variable = "INCUMBENT_PLAIN"

// Name is an optimization: a field of Config.Disable.
type Name string

// The optimizations.
const (
	IdleSyncs Name = "IdleSyncs"
	OneFlight Name = "OneFlight"

	RecursiveWatches Name = "RecursiveWatches"
)

var off []Name

// All returns all optimizations, in the order of Config.Disable's fields.
func All() []Name { return []Name{IdleSyncs, OneFlight, RecursiveWatches} }

// Off reports whether an optimization is off.
func Off(n Name) bool { return slices.Contains(off, n) }

// FromEnvironment turns off what Variable names. TestMain calls it. It panics if there is no such optimization: a test
// run with a wrong name would check nothing.
func FromEnvironment() { off = parse(os.Getenv(Variable)) }

func parse(text string) (names []Name) {
	switch text {
	case "":
		return nil
	case "all":
		return All()
	}
	for one := range strings.SplitSeq(text, ",") {
		n := Name(one)
		if !slices.Contains(All(), n) {
			panic(fmt.Sprintf("%s: no optimization %q: want all, or some of %q", Variable, one, All()))
		}
		names = append(names, n)
	}
	return names
}
