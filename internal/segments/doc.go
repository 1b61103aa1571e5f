// Package segments keeps the segments of flight logs as files in a directory: it names,
// compresses and drops them, and finds them again. It is internal to the library.
package segments
