package machines

// office lists the machines that lead or are next in line, with their own
// nodes. Any of the nodes serves for a check; they are asked for in turn, and the
// turn never depends on map order.
type office struct {
	holders []holder
	index   map[string]int
	turn    int
}

type holder struct{ machine, path string }

func (o *office) empty() bool { return len(o.holders) == 0 }
func (o *office) size() int   { return len(o.holders) }

func (o *office) add(machine, path string) {
	if i, ok := o.index[machine]; ok {
		o.holders[i].path = path
		return
	}
	if o.index == nil {
		o.index = map[string]int{}
	}
	o.index[machine] = len(o.holders)
	o.holders = append(o.holders, holder{machine, path})
}

func (o *office) remove(machine string) {
	i, ok := o.index[machine]
	if !ok {
		return
	}
	last := len(o.holders) - 1
	o.swap(i, last)
	o.holders = o.holders[:last]
	delete(o.index, machine)
}

func (o *office) swap(i, j int) {
	o.holders[i], o.holders[j] = o.holders[j], o.holders[i]
	o.index[o.holders[i].machine], o.index[o.holders[j].machine] = i, j
}

func (o *office) clear() { *o = office{} }

// probe is the one whose node the next check asks for.
func (o *office) probe() holder {
	h := o.holders[o.turn%len(o.holders)]
	o.turn++
	return h
}
