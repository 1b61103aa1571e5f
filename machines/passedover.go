package machines

import (
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// maxPassedOver is how many kinds of names a notice about passed-over children has.
const maxPassedOver = 4

// passedOver has one name of each kind of children that are in no line, as far as a participant in it can tell. They
// may be of somebody who believes to be in the line.
type passedOver []string

// add adds a name, unless one of its kind is there already.
func (p *passedOver) add(name string) {
	kind := NameKind(name)
	if len(*p) < maxPassedOver && !slices.ContainsFunc(*p, func(other string) bool { return NameKind(other) == kind }) {
		*p = append(*p, name)
	}
}

// notify tells the handle what was passed over in a directory, if there is anything.
func (p passedOver) notify(dir string, out *engine.Outbox) {
	if len(p) > 0 {
		out.Notify(events.Notify{What: events.PassedOver, Path: dir, Names: p})
	}
}

// has reports whether a child is a place of the kind.
func (k LineKind) has(name string) bool {
	_, ok := ParsePlace(name, k.labels()...)
	return ok
}

// NameKind returns what the names of one maker's nodes have in common: the name without a GUID and without a number.
func NameKind(name string) string {
	name, _, _ = CutNumber(WithoutGUID(name))
	if len(name) >= hexLength && isHex(name[:hexLength]) {
		return name[hexLength:] // kazoo's
	}
	return name
}

// CutNumber takes the number of a sequential node off its name. Without one it returns the name as it is, and false.
func CutNumber(name string) (before string, number int64, ok bool) {
	for digits := min(11, len(name)); digits >= 10; digits-- {
		before = name[:len(name)-digits]
		if number, ok = parseSequence(name[len(before):]); ok {
			return before, number, true
		}
	}
	return name, 0, false
}
