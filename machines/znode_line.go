package machines

import (
	"slices"
	"sort"
	"strconv"
)

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

// LineKind is a kind of line, with what is before the number of its places: perhaps nothing, in a plain election.
// Shared is "", or the label of places that hold together: all, if it is the label.
type LineKind struct{ Recipe, Label, Shared string }

// labels returns one label or two.
func (k LineKind) labels() []string {
	if k.Shared == "" || k.Shared == k.Label {
		return []string{k.Label}
	}
	return []string{k.Label, k.Shared}
}

// leases is the kind of permits: all of them hold together.
var leases = LineKind{LeaseLine, LeaseLabel, LeaseLabel}

// LabelOf returns what is before the number in the node's name.
func (k LineKind) LabelOf(path string) string {
	place, _ := ParsePlace(base(path), k.labels()...)
	return place.Label
}

// Lines returns the kinds of line that are known by their names, and those of the plain elections with
// these prefixes. Each prefix counts once.
func Lines(prefixes ...string) []LineKind {
	kinds := []LineKind{{LatchLine, LatchLabel, ""}, {LockLine, LockLabel, ""}, {ReadWriteLine, WriteLabel, ReadLabel},
		{KazooLine, KazooLabel, KazooReadLabel}, leases}
	for _, prefix := range prefixes {
		if !slices.ContainsFunc(kinds, func(k LineKind) bool { return slices.Contains(k.labels(), prefix) }) {
			kinds = append(kinds, LineKind{ElectionLine, prefix, ""})
		}
	}
	return kinds
}

// Places returns the places of every line in a listing: latches first, then locks of all kinds, then
// the plain elections with these prefixes, each line in queue order. A child that ends in the labels of
// several lines is in that of the longest. It also returns how many children are in no line.
func Places(children []string, prefixes ...string) (all []Place, foreign int) {
	foreign = len(children)
	kinds := Lines(prefixes...)
	for _, kind := range kinds {
		line, _ := Line(children, kind.labels()...)
		for _, p := range line {
			if isOfLonger(p, kinds) {
				continue
			}
			p.Kind = kind
			all = append(all, p)
			foreign--
		}
	}
	return all, foreign
}

// isOfLonger reports whether a place is in another line as well, whose label is longer.
func isOfLonger(p Place, kinds []LineKind) bool {
	return slices.ContainsFunc(kinds, func(k LineKind) bool {
		return slices.ContainsFunc(k.labels(), func(label string) bool {
			if len(label) <= len(p.Label) {
				return false
			}
			_, ok := parsePlace(p.Name, label)
			return ok
		})
	})
}

// addresses returns the directory with the addresses of a line, which is a sibling of the line's own. Curator reads the
// whole data of a place as its id, so an address has a node of its own.
func addresses(dir string) string { return dir + "-addresses" }

// AddressPath returns the path of the node with the address of a place, which the session owner owns: by the GUID in
// the place's name, or by the owner and the prefix where names have none. A client is in such a line once.
func AddressPath(place, prefix string, owner int64) string {
	dir, name := addresses(parent(place)), base(place)
	for _, id := range []int{guidLength, guidLength - len("----")} {
		if before := len(GUIDPrefix) + id; len(name) > before && isProtection(name[:before+1]) {
			return join(dir, name[:before])
		}
	}
	return join(dir, "0x"+strconv.FormatUint(uint64(owner), 16)+"-"+prefix)
}

// sortPlaces sorts places in queue order. A sort of package slices would take 20 KB of every program with a latch.
func sortPlaces(all []Place) {
	if len(all) > 1 {
		sort.Slice(all, func(i, j int) bool { return inOrder(all[i], all[j]) < 0 })
	}
}
