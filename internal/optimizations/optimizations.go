// Package optimizations is the switch with which tests run everything with the library's optimizations off, as
// Config.Disable turns off each. A program outside this module cannot import the package.
package optimizations

import "os"

// Variable is set in the environment of a test binary whose clients are to work without optimizations.
const Variable = "INCUMBENT_PLAIN"

// Off reports whether all optimizations are off.
func Off() bool { return off }

var off bool

// FromEnvironment turns all optimizations off if Variable is set. TestMain calls it.
func FromEnvironment() { off = os.Getenv(Variable) != "" }
