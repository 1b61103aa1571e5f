package releases

import (
	"slices"
	"strings"
)

// releases are those that are tried, in order. 3.8.0 is Debian's; make servers fetches the others' jars.
var releases = []string{"3.5.10", "3.6.4", "3.7.2", "3.8.0", "3.8.6", "3.9.5"}

// next returns the release to which one is upgraded; the newest one is set back to the one before.
func next(release string) string {
	i := slices.Index(releases, release) + 1
	if i == len(releases) {
		return releases[i-2]
	}
	return releases[i]
}

// part is a package's tests, or some of them.
type part struct {
	name, folder, run string
	args              func(release string) []string
}

// rolled is the part that upgrades an ensemble.
const rolled = "upgrade"

var parts = []part{
	{name: "suite", folder: "test/servers/suite"},
	{name: "zkio", folder: "zkio", run: "^TestRealZooKeeper"},
	{name: "security", folder: "test/servers/security"},
	{name: "otherservers", folder: "test/servers/otherservers", run: "RealServers"},
	{name: "interop", folder: "test/servers/interop"},
	{name: "ensemble", folder: "test/servers/ensemble"},
	{name: "process", folder: "test/servers/process"},
	{name: "reconfig", folder: "test/servers/releases", run: "^TestTheListFollowsReconfig$"},
	{name: rolled, folder: "test/servers/releases", run: "^TestARollingUpgrade$", args: func(release string) []string {
		return []string{"-to", next(release)}
	}},
}

// lacks are tests that a release cannot pass. They are not run, and the table names them with what is lacking.
var lacks = map[string][]lack{
	"3.5.10": {
		{"suite", "TestATreeCacheOfANodeThatIsWatchedInAnotherWay", noRecursive},
		{"zkio", "TestRealZooKeeperRecursiveWatch", noRecursive},
		{"interop", "TestTreeCachesSideBySide", noRecursive}, // Curator's caches set them
		{"interop", "TestAJobIsLedByJavaOrGo", noRecursive},
		{"interop", "TestCuratorAndGoShareAGroup", noRecursive},
		{"security", "TestEveryRefusalHasWords/real/the_servers_demand_a_login", noLogin},
		{"security", "TestEveryRefusalHasWords/real/a_quota_forbids_it", noQuota},
	},
	"3.6.4": {{"security", "TestEveryRefusalHasWords/real/a_quota_forbids_it", noQuota}},
}

const (
	noRecursive = "recursive watches"
	noLogin     = "demand for a login"
	noQuota     = "enforced quotas"
)

type lack struct{ part, test, why string }

// lacking returns the pattern of what a release cannot pass of a part, as go test -skip takes it. It may be empty.
func lacking(release, part string) string {
	var tests []string
	for _, l := range lacks[release] {
		if l.part == part {
			tests = append(tests, "^"+strings.ReplaceAll(l.test, "/", "$/^")+"$")
		}
	}
	return strings.Join(tests, "|")
}
