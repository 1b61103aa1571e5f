//go:build !linux

package machine

import (
	"errors"
	"time"
)

var errLinux = errors.New("machine: the comparison reads /proc and runs on Linux only")

func Take() (Snapshot, error)             { return Snapshot{}, errLinux }
func CPU(int) (time.Duration, error)      { return 0, errLinux }
func CPUOfAll(int) (time.Duration, error) { return 0, errLinux }
func RSS(int) (int64, error)              { return 0, errLinux }
func RSSOfAll(int) (int64, error)         { return 0, errLinux }
