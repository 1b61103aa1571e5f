package why

import (
	"strconv"

	"github.com/incumbent-go/incumbent/machines"
)

type nameKind struct {
	kind   string
	shares bool
}

// kindOf returns the kind of a node's name, as in "latch-", and whether it shares. Plain names are of one kind with
// and without a GUID.
func kindOf(name string) (kind string, shares bool) {
	all, _ := machines.Places([]string{name})
	if len(all) == 1 {
		return all[0].Kind.Recipe + " " + all[0].Kind.Label, all[0].Shares()
	}
	return machines.NameKind(name), false
}

// orderOf returns the number of a node in its line; less than 0 if it has none, or its counter has wrapped.
func orderOf(path string) int64 {
	name := baseOf(path)
	if _, n, ok := machines.CutNumber(name); ok {
		return n
	}
	i := len(name)
	for i > 0 && name[i-1] >= '0' && name[i-1] <= '9' {
		i--
	}
	n, err := strconv.ParseInt(name[i:], 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// shardRecipe is the recipe of a member.
var shardRecipe = machines.ShardsRecipe.Name()

func (t *Term) machine() *machine { return t.Log.machineOf(t.Machine) }
