package why

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/machines"
)

// descriptions say what recipes without terms are, where the name of the recipe does not.
var descriptions = map[string]string{
	"consumer": "a queue", "producer": "a queue", "doublebarrier": "a double barrier", "membership": "a group",
	"number": "a shared number", "persistent": "a persistent node", "treecache": "a tree cache",
	"nodewatch": "a node that is watched", "leaderwatch": "a line that is only watched here",
	"request": "a node of single requests", "deletion": "a node of single requests",
	"jobdealer": "a job's items", "jobworker": "a job's items", "leftover": "a search for nodes that were left",
}

// outside returns what a recipe without terms is, in words, and whether it is one: nobody leads or holds anything
// there. Of a recipe that another version has written, it is not known.
func outside(recipe string) (what string, without bool) {
	grants := machines.TraitsOf(recipe).Grants
	return cmp.Or(descriptions[recipe], "a "+recipe), grants != "" && !grants.HasTerms()
}

// noTerm says why there is no term with a move that was asked for.
func (r *Report) noTerm(o Options) string {
	var at []string // what the logs have at the path
	taken := map[string]bool{}
	for _, l := range r.logs {
		for _, m := range l.machines {
			if m.path == o.Path && o.Path != "" {
				taken[m.recipe] = true
			}
		}
	}
	for _, recipe := range slices.Sorted(maps.Keys(taken)) {
		what, without := outside(recipe)
		switch {
		case !without:
			return fmt.Sprintf("there is no term of %s in the logs that was asked for: a %s was opened, and did not "+
				"lead or hold anything then", quotePath(o.Path), recipe)
		case !slices.Contains(at, what):
			at = append(at, what)
		}
	}
	if len(at) > 0 {
		return fmt.Sprintf("%s is the path of %s: nobody leads there or holds a lock, so there is nothing to explain "+
			"(incumbent replay --print shows the records)", quotePath(o.Path), strings.Join(at, " and of "))
	}
	paths := map[string]bool{}
	for _, n := range r.lines {
		paths[n.path] = true
	}
	truncated := r.truncatedAt(o.Path)
	switch known := slices.Sorted(maps.Keys(paths)); {
	case truncated != "":
		return truncated
	case len(known) == 0 && slices.ContainsFunc(r.logs, func(l *Log) bool { return len(l.gaps) > 0 }):
		return "there is no term in the logs, and records are missing from them: a term may be among those"
	case len(known) == 0:
		return "there is no term in the logs: nobody led and nobody held a lock"
	case o.Path != "" && !paths[o.Path] &&
		!slices.ContainsFunc(r.lines, func(n *line) bool { return under(o.Path, n) }):
		more := ""
		if len(known) > 5 {
			known, more = known[:5], ", …"
		}
		return fmt.Sprintf("there is no term of %s in the logs; they have terms of %s", quotePath(o.Path),
			strings.Join(known, ", ")+more)
	}
	return "there is no term in the logs that was asked for; they have " + plural(r.Earlier, "move") +
		" at other times or with other tokens"
}

// quotePath returns a path as it is, or quoted if it has what a terminal would obey.
func quotePath(path string) string { return oneLine(path) }
