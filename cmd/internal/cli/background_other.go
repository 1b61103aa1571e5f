//go:build !linux

package cli

// writeInBackground does nothing on this platform.
func writeInBackground() (end func()) { return func() {} }
