//go:build !linux

package group

// ReapOrphans does nothing on this platform.
func ReapOrphans() (stop func()) { return func() {} }
