package machines

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// Curator's layout: "_c_<uuid>-latch-0000000007". The uuid is the GUID by which a node is found after a
// lost reply, the label is the recipe's, and the number is the parent's int32 counter when the node
// was created.
const (
	GUIDPrefix    = "_c_"
	guidLength    = 36
	LatchLabel    = "latch-"
	LockLabel     = "lock-"
	SelectorLabel = LockLabel  // a LeaderSelector's lock is an InterProcessMutex
	ReadyNode     = "ready"    // of a double barrier, in the directory of its members
	ReadLabel     = "__READ__" // of a read-write lock; the places of both sides are in one line
	WriteLabel    = "__WRIT__"
	LeaseLabel    = "lease-" // a permit of an InterProcessSemaphoreV2
)

// Elastic-Job's layout, below a job's node.
const (
	jobDir      = "leader/election"
	jobLatch    = "latch"    // the line for the right to write the marker
	jobInstance = "instance" // the marker
	sealPrefix  = "seal-"    // ours: in the marker's directory, under a name that no other term has
)

// JobMarker returns the path of the node that says which instance leads a job.
func JobMarker(job string) string { return job + "/" + jobDir + "/" + jobInstance }

// seals returns the seals among the nodes in a marker's directory.
func seals(children []string) (found []string) {
	for _, name := range children {
		if strings.HasPrefix(name, sealPrefix) {
			found = append(found, name)
		}
	}
	return found
}

// Curator's layout of a semaphore, and kazoo's: the line for the right to take permits, and the
// directory of the permits, whose data are the agreed limit.
const (
	semaphoreLocks  = "/locks"
	semaphoreLeases = "/leases"
	kazooLocks      = "-__lock__" // kazoo's permits are in the semaphore's own directory
)

// SemaphorePool returns the directory of a semaphore's permits.
func SemaphorePool(path string, kazoo bool) string {
	if kazoo {
		return path
	}
	return path + semaphoreLeases
}

// SemaphoreLocks returns the directory of the line for the right to take permits.
func SemaphoreLocks(path string, kazoo bool) string {
	if kazoo {
		return path + kazooLocks
	}
	return path + semaphoreLocks
}

// ParseLimit returns a semaphore's agreed limit; zero for a directory without data, and false for data
// that are no limit.
func ParseLimit(data []byte) (limit int, ok bool) {
	if len(data) == 0 {
		return 0, true
	}
	n, err := strconv.Atoi(string(data))
	return n, err == nil && n > 0
}

// FormatLimit returns the data that hold a limit, as kazoo writes them.
func FormatLimit(limit int) []byte { return []byte(strconv.Itoa(limit)) }

// leases is the kind of permits: all of them hold together.
var leases = LineKind{Recipe: LeaseLine, Shared: LeaseLabel}

// Permits returns a semaphore's permits in a listing: on Curator's names the oldest first, on kazoo's,
// which have no numbers, by name. The others are foreign, and still count as permits.
func Permits(children []string, kazoo bool) (permits []Place, foreign int) {
	if !kazoo {
		permits, foreign = Line(children, LeaseLabel)
	} else {
		for _, name := range slices.Sorted(slices.Values(children)) {
			permits = append(permits, Place{Name: name})
		}
	}
	for i := range permits {
		permits[i].Label, permits[i].Kind = LeaseLabel, leases
	}
	return permits, foreign
}

// KazooLabel is the label of kazoo's Lock. In kazoo's layout the uuid comes first, in 32 digits, then
// the label, then the number: "<uuid>__lock__0000000007".
const KazooLabel = "__lock__"

// KazooReadLabel is the label of kazoo's ReadLock. A WriteLock's is KazooLabel.
const KazooReadLabel = "__rlock__"

func isKazoo(label string) bool { return label == KazooLabel || label == KazooReadLabel }

// ownPrefix returns the name that a create asks for: the sequence flag adds the number. A plain name
// has no GUID.
func ownPrefix(guid, label string) string {
	if guid == "" {
		return label
	}
	if isKazoo(label) {
		return strings.ReplaceAll(guid, "-", "") + label
	}
	return GUIDPrefix + guid + "-" + label
}

// relabel returns a place's name with another label, and the same GUID and number.
func relabel(name, from, to string) string {
	i := strings.LastIndex(name, from)
	if i < 0 {
		return name
	}
	return name[:i] + to + name[i+len(from):]
}

// lastSequence is the number from which a counter counts as ended: a million before int32 ends. A
// 3.8.0 server was seen to hand out the same number again and again there.
const lastSequence = 1<<31 - 1_000_000

// Place is the parsed name of one node of a line.
type Place struct {
	Name     string
	GUID     string // "" if the name has none
	Sequence int64
	Label    string   // what is before the number
	Kind     LineKind // of the line; set by Places
}

// Shares reports whether the place holds together with others that share.
func (p Place) Shares() bool { return p.Label == p.Kind.Shared }

// ParsePlace parses a child's name. It reports false if the name has none of the recipe's labels: such
// children are ignored.
func ParsePlace(name string, labels ...string) (Place, bool) {
	for _, label := range labels {
		if p, ok := parsePlace(name, label); ok {
			return p, true
		}
	}
	return Place{Name: name}, false
}

func parsePlace(name, label string) (Place, bool) {
	p := Place{Name: name, Label: label}
	if isKazoo(label) {
		return parseKazoo(p)
	}
	guid, rest, ok := cutGUID(name)
	if !ok || !strings.HasPrefix(rest, label) {
		return p, false
	}
	p.GUID = guid
	n, ok := parseSequence(rest[len(label):])
	p.Sequence = n
	return p, ok
}

// cutGUID takes the GUID of Curator's layout off a name; a name without one is left as it is. It reports false if what
// stands there is no GUID.
func cutGUID(name string) (guid, rest string, ok bool) {
	rest, found := strings.CutPrefix(name, GUIDPrefix)
	if !found {
		return "", name, true
	}
	if len(rest) < guidLength+1 || rest[guidLength] != '-' || !isGUID(rest[:guidLength]) {
		return "", "", false
	}
	return rest[:guidLength], rest[guidLength+1:], true
}

// WithoutGUID returns a name without the GUID of Curator's layout, for people; another name as it is.
func WithoutGUID(name string) string {
	if _, rest, ok := cutGUID(name); ok {
		return rest
	}
	return name
}

// withGUID returns the name of a protected create with this GUID, or "" if it is not among the
// children.
func withGUID(children []string, guid string) string {
	for _, name := range children {
		if strings.HasPrefix(name, GUIDPrefix+guid+"-") {
			return name
		}
	}
	return ""
}

// parseKazoo is parsePlace for kazoo, which treats every name with this ending as one of its own.
func parseKazoo(p Place) (Place, bool) {
	i := strings.LastIndex(p.Name, p.Label)
	if i < 0 {
		return p, false
	}
	if s := p.Name[:i]; len(s) == guidLength-4 {
		s = s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
		if isGUID(s) {
			p.GUID = s
		}
	}
	n, ok := parseSequence(p.Name[i+len(p.Label):])
	p.Sequence = n
	return p, ok
}

// parseSequence parses what ZooKeeper writes with %010d for an int32.
func parseSequence(s string) (int64, bool) {
	if len(s) < 10 || len(s) > 11 || len(s) == 11 && s[0] != '-' {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 32)
	written := s[0] != '+' && (n != 0 || s[0] != '-') && (len(s) == 10 || n <= -1_000_000_000)
	return n, err == nil && written
}

// hexDigits has what a GUID consists of. A table is quicker than comparisons, because the processor cannot predict these.
var hexDigits = func() (is [256]bool) {
	for _, c := range []byte("0123456789abcdefABCDEF") {
		is[c] = true
	}
	return is
}()

func isGUID(s string) bool {
	for i := range len(s) {
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash != (s[i] == '-') || !dash && !hexDigits[s[i]] {
			return false
		}
	}
	return true
}

// places returns the places of a listing, in the listing's order.
func places(children []string, labels ...string) iter.Seq[Place] {
	return func(yield func(Place) bool) {
		for _, name := range children {
			if p, ok := ParsePlace(name, labels...); ok && !yield(p) {
				return
			}
		}
	}
}

// inOrder compares two places of a line. Equal numbers (a broken counter) are ordered by name.
func inOrder(a, b Place) int {
	return cmp.Or(cmp.Compare(a.Sequence, b.Sequence), strings.Compare(a.Name, b.Name))
}

// ofGUID returns the places of one enrolment, lowest first.
func ofGUID(children []string, guid string, labels ...string) []Place {
	start := guid[:min(8, len(guid))] // in kazoo's names, too
	var own []Place
	for _, name := range children {
		if !strings.Contains(name, start) {
			continue // quicker than parsing it
		}
		if place, ok := ParsePlace(name, labels...); ok && place.GUID == guid {
			own = append(own, place)
		}
	}
	slices.SortFunc(own, inOrder)
	return own
}

// Line returns the places of a listing in queue order, and how many children are none of the recipe's.
func Line(children []string, labels ...string) (line []Place, foreign int) {
	line = slices.SortedFunc(places(children, labels...), inOrder)
	return line, len(children) - len(line)
}

// ended reports whether the counter that made this place is about to wrap, or has.
func (p Place) ended() bool { return p.Sequence >= lastSequence || p.Sequence < 0 }

// maybeEnded reports whether a name can be that of a place whose counter ended. Most cannot: the last
// ten characters of a number from 0 to 999,999,999 begin with 0.
func maybeEnded(name string) bool { return len(name) < 10 || name[len(name)-10] != '0' }

// join returns a child's full path.
func join(dir, name string) string {
	if dir == "/" {
		return "/" + name
	}
	return dir + "/" + name
}

func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// ancestors returns a path's parents and the path itself, from the top.
func ancestors(path string) []string {
	var all []string
	for i := 1; i < len(path); i++ {
		if path[i] == '/' {
			all = append(all, path[:i])
		}
	}
	if path == "/" {
		return nil
	}
	return append(all, path)
}

// guid derives the n-th name from a seed. It has the form of a version 4 UUID, and is the same in
// every replay of the log that holds the seed.
func guid(seed string, n uint64) string {
	h := sha256.Sum256(fmt.Appendf(nil, "%s/guid/%d", seed, n))
	h[6] = h[6]&0x0f | 0x40
	h[8] = h[8]&0x3f | 0x80
	s := hex.EncodeToString(h[:16])
	return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
}

// Kinds of line in a directory that can be told apart from outside. Selectors and mutexes create the
// same names, in Curator too: they are in one line, and nothing there says which is which.
const (
	LatchLine     = "latch"
	LockLine      = "lock"
	ReadWriteLine = "readwrite"
	KazooLine     = "kazoo"
	ElectionLine  = "election"
	LeaseLine     = "lease" // permits that are held: their order means nothing
)

// LineKind is a kind of line, with what is before the number of its places. Shared is "", or the label
// of places that hold together.
type LineKind struct{ Recipe, Label, Shared string }

// labels returns one label or two. The one of a plain election may be empty.
func (k LineKind) labels() []string {
	if k.Recipe == ElectionLine {
		return []string{k.Label}
	}
	return slices.DeleteFunc([]string{k.Label, k.Shared}, func(l string) bool { return l == "" })
}

// LabelOf returns what is before the number in the node's name.
func (k LineKind) LabelOf(path string) string {
	place, _ := ParsePlace(base(path), k.labels()...)
	return place.Label
}

// Lines returns the kinds of line that are known by their names, and those of the plain elections with
// these prefixes. Each prefix counts once.
func Lines(prefixes ...string) []LineKind {
	kinds := []LineKind{{LatchLine, LatchLabel, ""}, {LockLine, LockLabel, ""}, {ReadWriteLine, WriteLabel, ReadLabel}, {KazooLine, KazooLabel, KazooReadLabel}, leases}
	for _, prefix := range prefixes {
		if !slices.ContainsFunc(kinds, func(k LineKind) bool { return slices.Contains(k.labels(), prefix) }) {
			kinds = append(kinds, LineKind{ElectionLine, prefix, ""})
		}
	}
	return kinds
}

// Places returns the places of every line in a listing: latches first, then locks of all kinds, then
// the plain elections with these prefixes, each line in queue order. It also returns how many children
// are in no line.
func Places(children []string, prefixes ...string) (all []Place, foreign int) {
	foreign = len(children)
	for _, kind := range Lines(prefixes...) {
		line, _ := Line(children, kind.labels()...)
		for _, p := range line {
			p.Kind = kind
			all = append(all, p)
			foreign--
		}
	}
	return all, foreign
}

// parent returns the directory of a path.
func parent(path string) string {
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		return path[:i]
	}
	return "/"
}
