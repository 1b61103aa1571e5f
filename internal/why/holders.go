package why

import "slices"

// lineAt returns a line with a path, nil for none. One of permits or shared locks comes first.
func (r *Report) lineAt(path string) (found *line) {
	for _, n := range r.lines {
		if n.path == path && (found == nil || n.permits || n.shared) {
			found = n
		}
	}
	return found
}

// holders says of a line in which several may hold at once who holds where its log ends; mostHolders at most.
func (r *Report) holders(n *line) (all []string) {
	for _, t := range n.terms {
		if !t.Open() {
			continue
		}
		what := t.who() + " " + t.holds() + " with token " + itoa(t.Token) + ", as of " + r.time(t.Log, t.Log.last)
		switch r.h.endingOf(t, nil).Cause {
		case CauseLeads:
			all = append(all, what)
		case CauseGap:
			all = append(all, "cannot tell whether "+t.who()+" still "+t.holds()+": its log does not have the end")
		}
	}
	slices.Sort(all)
	if more := len(all) - mostHolders; more > 0 {
		all = append(all[:mostHolders], plural(more, "other")+" (--facts has them)")
	}
	return all
}

// mostHolders is how many a summary names that hold at once.
const mostHolders = 8
