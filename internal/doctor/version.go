package doctor

import (
	"cmp"
	"slices"

	"github.com/incumbent-go/incumbent/zkio"
)

type release = zkio.Release

// span are releases from the first to the one before to.
type span struct{ from, to release }

func (s span) has(r release) bool { return !r.Before(s.from) && r.Before(s.to) }

// fault is a known fault of releases of ZooKeeper that touches a client of this library.
type fault struct {
	number   string
	in       []span
	severity Severity
	is, do   string
}

// faults are the known ones. What a distribution's package has mended, a release's number does not say.
var faults = []fault{
	{"ZOOKEEPER-4466", []span{{release{3, 6, 0}, release{3, 9, 0}}}, Note,
		"of two kinds of watches that a session sets at one node it keeps one, so clients with tree caches " +
			"set watches again and send more requests",
		"nothing has to be done for elections; 3.9 and later keep both"},
	{"CVE-2024-23944", []span{{release{3, 6, 0}, release{3, 8, 4}}, {release{3, 9, 0}, release{3, 9, 2}}}, Note,
		"a client gets events of nodes below a watch that it may not read",
		"upgrade to 3.8.4, 3.9.2 or later if names of nodes are secret"},
	{"ZOOKEEPER-2590", []span{{release{3, 4, 0}, release{3, 8, 4}}, {release{3, 9, 0}, release{3, 9, 2}}}, Note,
		"it tells everybody whether a node exists, also those who may not read it",
		"upgrade to 3.8.4, 3.9.2 or later if names of nodes are secret"},
	{"CVE-2023-44981", []span{{release{3, 4, 0}, release{3, 7, 2}}, {release{3, 8, 0}, release{3, 8, 3}},
		{release{3, 9, 0}, release{3, 9, 1}}}, Note,
		"with quorum.auth.enableSasl, a stranger can join the ensemble as a server",
		"upgrade to 3.7.2, 3.8.3, 3.9.1 or later, or let only the servers reach the ports of the quorum"},
	{"CVE-2024-51504", []span{{release{3, 9, 0}, release{3, 9, 3}}}, Note,
		"a stranger can pass for any address at the admin server if that admits by address",
		"upgrade to 3.9.3 or later, or let only operators reach the admin server"},
	{"CVE-2025-58457", []span{{release{3, 9, 0}, release{3, 9, 4}}}, Note,
		"a client that may read at the admin server can take a snapshot and restore one, and a restore voids all " +
			"tokens",
		"upgrade to 3.9.4 or later, or let only operators reach the admin server"},
}

// touching returns the faults of a release.
func touching(r release) (all []fault) {
	for _, f := range faults {
		if slices.ContainsFunc(f.in, func(s span) bool { return s.has(r) }) {
			all = append(all, f)
		}
	}
	slices.SortStableFunc(all, func(a, b fault) int { return cmp.Compare(rank(b.severity), rank(a.severity)) })
	return all
}
