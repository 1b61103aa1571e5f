package chaos

import (
	"path"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/machines"
)

// kind is whose code a line is in the hands of, and by which recipe.
type kind string

const (
	byLatch     kind = "latch"
	byRider     kind = "latch, riding out"
	bySelector  kind = "selector"
	byMutex     kind = "mutex"
	bySemaphore kind = "semaphore"
	byReadWrite kind = "read-write lock"
	byJob       kind = "job election"
	byQueue     kind = "queue"
	byDeaf      kind = "heartbeat off"
	byLock      kind = "zk.Lock"
	byCurator   kind = "Curator 5.4"
)

// latches are this library's elections that others are compared with, recipes are its other recipes with a place. All of
// them have everything switched on: what is promised is promised of these.
var (
	latches = []kind{byLatch, byRider, bySelector}
	recipes = []kind{byMutex, bySemaphore, byReadWrite, byJob, byQueue}
	ours    = slices.Concat(latches, recipes)
)

var everybody = slices.Concat(ours, []kind{byDeaf, byLock, byCurator})

func (k kind) promised() bool { return slices.Contains(ours, k) }

// alternates reports whether one client at a time holds what the line is for, at least now and then: these write to the
// store, by a token that grows.
func (k kind) alternates() bool { return k != bySemaphore && k != byQueue }

// word returns the kind as a name of files and nodes.
func (k kind) word() string {
	return map[kind]string{byLatch: "latch", byRider: "rider", bySelector: "selector", byMutex: "mutex", bySemaphore: "semaphore",
		byReadWrite: "readwrite", byJob: "job", byQueue: "queue", byDeaf: "deaf", byLock: "lock", byCurator: "curator"}[k]
}

// kindOf returns the kind with this word.
func kindOf(word string) (kind, bool) {
	i := slices.IndexFunc(everybody, func(k kind) bool { return k.word() == word })
	if i < 0 {
		return "", false
	}
	return everybody[i], true
}

// wordsOf returns the words of kinds, as the flag -only takes them.
func wordsOf(kinds []kind) string {
	var all []string
	for _, k := range kinds {
		all = append(all, k.word())
	}
	return strings.Join(all, ",")
}

// path returns the directory of the kind's line, or what is above its directories.
func (k kind) path() string { return root + "/" + k.word() }

// written returns the node to which holders write, each write guarded by the own node.
func (k kind) written() string { return root + "/written-" + k.word() }

// items returns the queue's directory.
func (k kind) items() string { return k.path() + "/items" }

// places returns the directory whose nodes show who holds; the limit of a semaphore is its data.
func (k kind) places() string {
	switch k {
	case bySemaphore:
		return machines.SemaphorePool(k.path(), false)
	case byJob:
		return path.Dir(machines.JobMarker(k.path()))
	case byQueue:
		return machines.LocksOf(k.items())
	}
	return k.path()
}

// dirs returns the directories in which no node is left when all clients have left.
func (k kind) dirs() []string {
	switch k {
	case bySemaphore:
		return []string{k.places(), machines.SemaphoreLocks(k.path(), false)}
	case byJob:
		return []string{k.places(), k.places() + "/latch"}
	case byQueue:
		return []string{k.places(), k.items()}
	}
	return []string{k.path()}
}

// owns reports whether a client that has this node may hold what the line is for.
func (k kind) owns(n node) bool {
	if k == byJob {
		return n.path == machines.JobMarker(k.path())
	}
	return n.line() == k.places()
}

// slots is how many clients each line has.
const slots = 4

// root is above all lines.
const root = "/chaos"
