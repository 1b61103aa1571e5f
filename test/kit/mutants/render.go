package mutants

import (
	"cmp"
	"slices"
	"strings"
)

// edit replaces a span of a file. put gets the span's text, in which the edits within it are made already, and a
// function that returns the same for a part of the span.
type edit struct {
	from, to int
	whole    bool // put does without parts: it goes around others of the same span
	put      func(text string, part func(from, to int) string) string
}

// render returns a file's text with all edits made. An edit may lie within another one, or have its span; then at most
// one of them is not whole. No two overlap otherwise.
func render(text []byte, edits []edit) string {
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b edit) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to), cmp.Compare(inner(a), inner(b)))
	})
	return span(text, edits, 0, len(text))
}

func inner(e edit) int {
	if e.whole {
		return 0
	}
	return 1
}

// span renders a part of a file, with the edits of it that lie within the part.
func span(text []byte, edits []edit, from, to int) string {
	var b strings.Builder
	for len(edits) > 0 {
		e := edits[0]
		edits = edits[1:]
		if e.from < from || e.to > to {
			continue
		}
		b.Write(text[from:e.from])
		end := 0
		for end < len(edits) && edits[end].from >= e.from && edits[end].to <= e.to {
			end++
		}
		within := edits[:end]
		edits, from = edits[end:], e.to
		b.WriteString(e.put(span(text, within, e.from, e.to), func(from, to int) string {
			return span(text, within, from, to)
		}))
	}
	b.Write(text[from:to])
	return b.String()
}
