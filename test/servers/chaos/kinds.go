package chaos

import (
	"path"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/machines"
)

// kind is a recipe, with a line of its own.
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
)

// latches are the elections whose terms may last, everybody are all recipes with a place.
var (
	latches   = []kind{byLatch, byRider, bySelector}
	everybody = slices.Concat(latches, []kind{byMutex, bySemaphore, byReadWrite, byJob, byQueue})
)

// word returns the kind as a name of files and nodes.
func (k kind) word() string {
	return map[kind]string{byLatch: "latch", byRider: "rider", bySelector: "selector", byMutex: "mutex", bySemaphore: "semaphore",
		byReadWrite: "readwrite", byJob: "job", byQueue: "queue"}[k]
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
