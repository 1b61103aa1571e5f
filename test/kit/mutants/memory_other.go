//go:build !linux

package mutants

// limitMemory does nothing: only Linux can limit the memory of another process.
func limitMemory(int) error { return nil }
