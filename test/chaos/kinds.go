package chaos

import "slices"

// kind is whose code a line is in the hands of.
type kind string

const (
	byLatch    kind = "latch"
	byRider    kind = "latch, riding out"
	bySelector kind = "selector"
	byDeaf     kind = "heartbeat off"
	byLock     kind = "zk.Lock"
	byCurator  kind = "Curator 5.4"
)

// ours are this library's own, with everything switched on: what is promised is promised of these.
var ours = []kind{byLatch, byRider, bySelector}

var everybody = append(slices.Clone(ours), byDeaf, byLock, byCurator)

func (k kind) promised() bool { return slices.Contains(ours, k) }

// word returns the kind as a name of files and nodes.
func (k kind) word() string {
	return map[kind]string{byLatch: "latch", byRider: "rider", bySelector: "selector", byDeaf: "deaf", byLock: "lock", byCurator: "curator"}[k]
}

// path returns the directory of the kind's line.
func (k kind) path() string { return root + "/" + k.word() }

// slots is how many clients each line has.
const slots = 4

// root is above all lines.
const root = "/chaos"
