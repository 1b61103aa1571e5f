package chaos

import (
	"cmp"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/machines"
)

// alone reports whether a client that holds by this node excludes all others.
func (k kind) alone(n node) bool {
	switch k {
	case bySemaphore, byQueue:
		return false
	case byReadWrite:
		return strings.Contains(n.path, machines.WriteLabel)
	}
	return true
}

// claims are what one client believed: alone, and together with others.
type claims struct{ alone, joint []span }

func (k kind) claims(id string, beliefs []belief, places []node) (c claims) {
	for _, b := range beliefs {
		if mine, _ := own(id, b, places); k.alone(mine) {
			c.alone = append(c.alone, b.span)
		} else {
			c.joint = append(c.joint, b.span)
		}
	}
	return c
}

// exclusions returns when two clients believed at once what one may have at a time: neither of them stopped, or one of
// them; and how many holds have a token below that of one before.
func exclusions(k kind, clients []client, places []node) (together, asleep []span, shrunk int) {
	var awake, dreams []claims
	var alone [][]span
	for _, c := range clients {
		own := k.claims(c.id, c.awake(), places)
		awake, alone = append(awake, own), append(alone, own.alone)
		dreams = append(dreams, k.claims(c.id, c.asleep(), places))
	}
	together = shared(alone...)
	for i, a := range awake {
		for j, b := range awake {
			if i != j {
				together = append(together, shared(a.alone, b.joint)...)
				asleep = append(asleep, shared(dreams[i].alone, b.alone)...)
				asleep = append(asleep, shared(dreams[i].alone, b.joint)...)
				asleep = append(asleep, shared(dreams[i].joint, b.alone)...)
			}
		}
	}
	return together, asleep, shrunken(k, clients, places)
}

// shrunken counts the holds whose token is below that of one before: of the same client, or of any that was alone.
func shrunken(k kind, clients []client, places []node) (count int) {
	type held struct {
		node
		from int64
	}
	var all []held
	for _, c := range clients {
		last := int64(0)
		for _, b := range c.awake() {
			mine, ok := own(c.id, b, places)
			if !ok {
				continue
			}
			if mine.czxid < last {
				count++
			}
			last = mine.czxid
			if k.alone(mine) {
				all = append(all, held{mine, b.from})
			}
		}
	}
	slices.SortFunc(all, func(a, b held) int { return cmp.Compare(a.from, b.from) })
	for i := 1; i < len(all); i++ {
		if all[i].czxid < all[i-1].czxid && all[i].id != all[i-1].id {
			count++
		}
	}
	return count
}
