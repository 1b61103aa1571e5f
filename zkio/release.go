package zkio

import (
	"fmt"
	"slices"
)

// Release is the number of a release of ZooKeeper, as 3.9.5; zero if it is not known.
type Release [3]int

// OldestRelease is the oldest one that the library supports.
var OldestRelease = Release{3, 6, 0}

// ParseRelease reads the number at the beginning of what a server says of its version.
func ParseRelease(text string) (r Release) {
	if n, _ := fmt.Sscanf(text, "%d.%d.%d", &r[0], &r[1], &r[2]); n < len(r) {
		return Release{}
	}
	return r
}

// Known reports whether it is known.
func (r Release) Known() bool { return r != Release{} }

// Before reports whether it is older than another one.
func (r Release) Before(o Release) bool { return slices.Compare(r[:], o[:]) < 0 }

func (r Release) String() string { return fmt.Sprintf("%d.%d.%d", r[0], r[1], r[2]) }
