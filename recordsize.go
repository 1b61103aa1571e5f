package incumbent

import "github.com/incumbent-go/incumbent/events"

// sizeOf returns about how many bytes a step takes in memory.
func sizeOf(step []events.Record) (n int) {
	const record, stat, word, op = 544, 88, 16, 96
	for i := range step {
		r := &step[i]
		e := &r.Event
		n += record + len(e.Text) + len(e.Path) + len(e.Address) + len(e.Data) + op*len(e.Ops)
		for _, one := range e.Ops {
			n += len(one.Path) + len(one.Data)
		}
		if e.Stat != nil {
			n += stat
		}
		for _, effect := range r.Effects {
			n += effectSize(effect)
		}
		for _, words := range [][]string{r.Tried, e.Children} {
			n += word * len(words)
			for _, w := range words {
				n += len(w)
			}
		}
		for name, value := range e.Options {
			n += 2*word + len(name) + len(value)
		}
	}
	return n
}

// effectSize returns about how many bytes an effect takes in memory: what it shares with
// the machine's model counts, too, because the record keeps it alive.
func effectSize(effect events.Effect) int {
	const fields, op = 120, 96
	n := fields
	switch e := effect.(type) {
	case events.Create:
		n += len(e.Path) + len(e.Data)
	case events.Multi:
		for _, one := range e.Ops {
			n += op + len(one.Path) + len(one.Data)
		}
	case events.Tell:
		n += 300 + len(e.Event.Path) + len(e.Event.Text)
	case events.Notify:
		n += 200 + len(e.Path) + len(e.Text) + len(e.Behind)
		for _, name := range e.Names {
			n += 16 + len(name)
		}
	case events.Answer:
		n += len(e.Text)
	}
	return n
}
