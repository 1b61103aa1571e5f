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
	hexLength     = 32 // of a GUID without dashes: kazoo's, and go-zookeeper's
	LatchLabel    = "latch-"
	LockLabel     = "lock-"
	SelectorLabel = LockLabel  // a LeaderSelector's lock is an InterProcessMutex
	ReadyNode     = "ready"    // of a double barrier, in the directory of its members
	ReadLabel     = "__READ__" // of a read-write lock; the places of both sides are in one line
	WriteLabel    = "__WRIT__"
	LeaseLabel    = "lease-" // a permit of an InterProcessSemaphoreV2
)

// EnsembleConfig is the node whose data name the ensemble's servers.
const EnsembleConfig = "/zookeeper/config"

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

// kazooPermits returns the names of an attempt's permits in kazoo's layout: 32 digits, without a number.
func kazooPermits(attempt string, permits int) []string {
	names := make([]string, permits)
	for i := range names {
		names[i] = strings.ReplaceAll(guid(attempt+"/permit", uint64(i)), "-", "")
	}
	return names
}

// ofAttempt returns the children that an attempt with this GUID has created, in any recipe's layout. So many of them
// are kazoo's permits at most.
func ofAttempt(children []string, guid string, permits int) (names []string) {
	digits, permitNames := strings.ReplaceAll(guid, "-", ""), kazooPermits(guid, permits)
	for _, name := range children {
		switch {
		case guid == "":
		case strings.HasPrefix(name, GUIDPrefix+guid+"-"), strings.HasPrefix(name, digits+KazooLabel),
			strings.HasPrefix(name, digits+KazooReadLabel),
			slices.Contains(permitNames, name):
			names = append(names, name)
		}
	}
	return names
}

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

// Shares reports whether the place holds together with others that share. In a line without shared places none does,
// also if its label is empty.
func (p Place) Shares() bool { return p.Kind.Shared != "" && p.Label == p.Kind.Shared }

// ParsePlace parses a child's name. It reports false if the name does not end in one of the recipe's labels and
// a number: such children are passed over.
func ParsePlace(name string, labels ...string) (Place, bool) {
	for _, label := range labels {
		if p, ok := parsePlace(name, label); ok {
			return p, true
		}
	}
	return Place{Name: name}, false
}

// parsePlace parses a name as those read it who share the line: what ends in the label and a number is a
// place, whatever precedes it. Curator takes what follows the last label, kazoo and go-zookeeper the end.
// Only its owner needs the GUID. Without a label, a place is a number alone, or behind a GUID.
func parsePlace(name, label string) (Place, bool) {
	before, n, ok := cutNumber(name, label)
	if !ok {
		return Place{Name: name}, false
	}
	return Place{Name: name, GUID: guidIn(before, label), Sequence: n, Label: label}, true
}

// cutNumber takes the label and the number off the end of a name. The number has ten digits, and is one longer if it is
// low and negative.
func cutNumber(name, label string) (before string, number int64, ok bool) {
	if rest, found := strings.CutPrefix(name, label); found {
		if n, ok := parseSequence(rest); ok {
			return "", n, true // also if the label ends like a number
		}
	}
	for digits := 10; digits <= 11 && digits < len(name); digits++ {
		rest, found := strings.CutSuffix(name[:len(name)-digits], label)
		if !found || label == "" && !isProtection(rest) {
			continue
		}
		if n, ok := parseSequence(name[len(name)-digits:]); ok {
			return rest, n, true
		}
	}
	return "", 0, false
}

// isProtection reports whether this is what precedes the label in the layouts of Curator and of go-zookeeper, whose
// GUID has no dashes.
func isProtection(s string) bool {
	rest, found := strings.CutPrefix(s, GUIDPrefix)
	if !found || !strings.HasSuffix(rest, "-") {
		return false
	}
	id := rest[:len(rest)-1]
	return len(id) == guidLength && isGUID(id) || isHex(id)
}

// guidIn returns the GUID in what precedes the label, if it is in the form in which this library writes it.
func guidIn(before, label string) string {
	switch {
	case isKazoo(label) && isHex(before):
		return before[:8] + "-" + before[8:12] + "-" + before[12:16] + "-" + before[16:20] + "-" + before[20:]
	case !isKazoo(label) && len(before) == len(GUIDPrefix)+guidLength+1 && isProtection(before):
		return before[len(GUIDPrefix):][:guidLength]
	}
	return ""
}

// plain reports whether nothing precedes the label in the place's name.
func (p Place) plain() bool {
	rest, found := strings.CutPrefix(p.Name, p.Label)
	_, number := parseSequence(rest)
	return found && number
}

// WithoutGUID returns a name without the GUID of Curator's layout or go-zookeeper's, for people; another name as it is.
func WithoutGUID(name string) string {
	for _, length := range []int{guidLength, hexLength} {
		if cut := len(GUIDPrefix) + length + 1; len(name) >= cut && isProtection(name[:cut]) {
			return name[cut:]
		}
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

// parseSequence parses what ZooKeeper writes with %010d for an int32.
func parseSequence(s string) (int64, bool) {
	if len(s) < 10 || len(s) > 11 || len(s) == 11 && s[0] != '-' {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 32)
	written := s[0] != '+' && (n != 0 || s[0] != '-') && (len(s) == 10 || n <= -1_000_000_000)
	return n, err == nil && written
}

// hexDigits has what a GUID consists of. A table is quicker than comparisons, because the processor cannot predict
// these.
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

// isHex reports whether s is a GUID without dashes.
func isHex(s string) bool {
	for i := range len(s) {
		if !hexDigits[s[i]] {
			return false
		}
	}
	return len(s) == hexLength
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

// ofGUID returns the places of one enrolment, lowest first: without a GUID, those whose names have nothing but the
// label and the number.
func ofGUID(children []string, guid string, labels ...string) []Place {
	start := guid[:min(8, len(guid))] // in kazoo's names, too
	var own []Place
	for _, name := range children {
		if !strings.Contains(name, start) {
			continue // quicker than parsing it
		}
		if place, ok := ParsePlace(name, labels...); ok && place.GUID == guid && (guid != "" || place.plain()) {
			own = append(own, place)
		}
	}
	sortPlaces(own)
	return own
}

// Line returns the places of a listing in queue order, and how many children are none of the recipe's.
func Line(children []string, labels ...string) (line []Place, foreign int) {
	line = slices.Collect(places(children, labels...))
	sortPlaces(line)
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

// parent returns the directory of a path.
func parent(path string) string {
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		return path[:i]
	}
	return "/"
}
