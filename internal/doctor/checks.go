package doctor

import (
	"strconv"
)

// check is one check: a function of the facts.
type check struct {
	name  string
	finds func(*Facts) []Finding
}

// checks are all of them, in the order in which findings of one severity are printed.
var checks = []check{
	{"reachable", checkReachable},
	{"silence", checkSilence},
	{"credentials", checkCredentials},
	{"ensemble", checkEnsemble},
	{"leader", checkLeader},
	{"list", checkList},
	{"chroot", checkChroot},
	{"tick", checkTick},
	{"sync-limit", checkSyncLimit},
	{"grants", checkGrants},
	{"belief", checkBelief},
	{"observer-masters", checkObserverMasters},
	{"lines", checkLineReadable},
	{"rights", checkRights},
	{"owned", checkOwned},
	{"nodes", checkNodes},
	{"numbers", checkNumbers},
	{"size", checkSize},
	{"quotas", checkQuotas},
	{"strangers", checkStranger},
	{"ids", checkSharing},
	{"logs", checkLogs},
	{"foreign", checkForeign},
	{"lag", checkLag},
	{"answers", checkAnswers},
	{"words", checkWords},
	{"certificates", checkCertificates},
	{"names", checkNames},
	{"clocks", checkClocks},
	{"scratch", checkScratch},
	{"latency", checkLatency},
	{"sizes", checkSizes},
	{"disks", checkDisks},
	{"kinds", checkKinds},
	{"version", checkVersion},
}

const ensemble = "ensemble"

func itoa(n int) string { return strconv.Itoa(n) }
