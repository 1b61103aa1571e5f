package machines

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Curator's layout of queues. An item is "queue-0000000007", with what its queue
// is ordered by, or its id, before the number.
const (
	itemLabel     = "queue-"
	itemSeparator = "|"
)

// LocksOf returns the default directory of the locks of a queue's items.
func LocksOf(queue string) string { return queue + "-locks" }

// DeadLettersOf returns the default directory of the items that were given up.
func DeadLettersOf(queue string) string { return queue + "-dead" }

// ProducersOf returns the default directory of the producers' markers.
func ProducersOf(queue string) string { return queue + "-producers" }

// ItemKind says what the items of a queue are ordered by.
type ItemKind string

// The kinds of Curator's queues. Items of equal rank keep the order of their puts.
const (
	FIFO       ItemKind = "fifo"
	ByPriority ItemKind = "priority" // an int32, lowest first: "queue-180000005" and the number
	ByDue      ItemKind = "delay"    // milliseconds since 1970: "queue-|18BCFE56800|" and the number
	ByID       ItemKind = "id"       // in the order of puts: "queue-|an_id|" and the number
)

// Item is the parsed name of one item.
type Item struct {
	Name       string
	NamePrefix string // what is before the number
	Rank       int64  // the priority, or when it is due
	ID         string
	Sequence   int64
}

// namePrefix returns the name that a create asks for: the sequence flag adds the number.
func (k ItemKind) namePrefix(rank int64, id string) string {
	switch k {
	case ByPriority:
		sign := "1"
		if rank < 0 {
			sign = "0"
		}
		return fmt.Sprintf("%s%s%08X", itemLabel, sign, uint32(rank))
	case ByDue:
		return fmt.Sprintf("%s%s%08X%s", itemLabel, itemSeparator, rank, itemSeparator)
	case ByID:
		return NamePrefixOf(id)
	}
	return itemLabel
}

// NamePrefixOf returns the name that a create of an item with an id asks for.
func NamePrefixOf(id string) string { return itemLabel + itemSeparator + FixID(id) + itemSeparator }

// FixID returns an id as it is in a name: "/" and "|" are replaced by "_".
func FixID(id string) string { return strings.NewReplacer("/", "_", itemSeparator, "_").Replace(id) }

// Parse parses a child's name. It reports false if the name is not that of an item of this kind: such
// children are ignored.
func (k ItemKind) Parse(name string) (Item, bool) {
	i := Item{Name: name}
	rest, ok := strings.CutPrefix(name, itemLabel)
	switch k {
	case ByPriority:
		if len(rest) < 9 {
			return i, false
		}
		bits, err := strconv.ParseUint(rest[1:9], 16, 32)
		i.Rank, ok = int64(int32(uint32(bits))), ok && err == nil
		rest = rest[9:]
	case ByDue, ByID:
		parts := strings.Split(rest, itemSeparator)
		if len(parts) != 3 || parts[0] != "" {
			return i, false
		}
		rest, i.ID = parts[2], parts[1]
		if k == ByDue {
			var err error
			i.Rank, err = strconv.ParseInt(i.ID, 16, 64)
			i.ID, ok = "", ok && err == nil && i.Rank >= 0
		}
	}
	number, valid := parseSequence(rest)
	i.Sequence, i.NamePrefix = number, strings.TrimSuffix(name, rest)
	return i, ok && valid && (k == ByID || name[:len(name)-len(rest)] == k.namePrefix(i.Rank, ""))
}

// ended reports whether the queue's counter has passed its end. The order of items that are put after
// that is not guaranteed.
func (i Item) ended() bool { return i.Sequence < 0 || i.Sequence == 1<<31-1 }

// Backlog returns the items of a listing in the order in which they are to be consumed, and how many
// children are none. Negative numbers come after all others, because the counter wraps to them.
func (k ItemKind) Backlog(children []string) (items []Item, foreign int) {
	for _, name := range children {
		if i, ok := k.Parse(name); ok {
			items = append(items, i)
		}
	}
	slices.SortFunc(items, func(a, b Item) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(uint32(a.Sequence), uint32(b.Sequence)),
			strings.Compare(a.Name, b.Name))
	})
	return items, len(children) - len(items)
}

// FirstPut returns how many items a listing has, and the name of the one that was put first: "" if there
// is none, and for items that wait until they are due. It looks only at the ends of the names.
func (k ItemKind) FirstPut(children []string) (first string, items int) {
	lowest := uint32(0)
	for _, name := range children {
		if !strings.HasPrefix(name, itemLabel) {
			continue
		}
		number, valid := parseSequence(name[max(len(itemLabel), len(name)-len("0000000000")):])
		if !valid {
			continue
		}
		if items++; k != ByDue && (first == "" || uint32(number) < lowest) {
			first, lowest = name, uint32(number)
		}
	}
	return first, items
}
