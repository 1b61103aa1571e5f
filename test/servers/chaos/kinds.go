package chaos

import (
	"cmp"
	"fmt"
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
	byShards    kind = "shards"
)

// latches are the elections whose terms may last, everybody are all recipes with a place.
var (
	latches   = []kind{byLatch, byRider, bySelector}
	everybody = slices.Concat(latches, []kind{byMutex, bySemaphore, byReadWrite, byJob, byQueue, byShards})
)

// shardCount is how many shards the members share.
const shardCount = 8

// parts returns how many things a line is for, each of which has its own holder.
func (k kind) parts() int {
	if k == byShards {
		return shardCount
	}
	return 1
}

// part returns the kind by which one of these things is judged.
func (k kind) part(n int) kind {
	if k == byShards {
		return kind(fmt.Sprintf("shard-%d", n))
	}
	return k
}

// word returns the kind as a name of files and nodes.
func (k kind) word() string {
	return cmp.Or(map[kind]string{
		byRider: "rider", byReadWrite: "readwrite", byJob: "job",
	}[k], string(k))
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

// idIn returns the id of the client whose place has these data.
func (k kind) idIn(data []byte) string {
	if k == byShards {
		m, _ := machines.ParseShardMember(data)
		return m.ID
	}
	return string(data)
}

// places returns the directory whose nodes show who holds; the limit of a semaphore is its data.
func (k kind) places() string {
	switch k {
	case bySemaphore:
		return machines.SemaphorePool(k.path(), false)
	case byJob:
		return path.Dir(machines.JobMarker(k.path()))
	case byQueue:
		return machines.LocksOf(k.items())
	case byShards:
		return machines.ShardMembers(k.path())
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
	case byShards:
		return []string{k.places(), machines.ShardWriters(k.path())}
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
