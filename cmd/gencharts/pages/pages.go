// Package pages has the files of docs/statecharts: for every chart a page and its picture.
package pages

import (
	"fmt"
	"strings"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/internal/drawing"
)

const generated = "<!-- Made by go run ./cmd/gencharts from the charts in machines/. Do not edit: change " +
	"the chart. -->\n\n"

// All returns the files of docs/statecharts: for every chart a page and its
// picture, and an index. Dir is the folder with the charts' guards and actions.
func All(dir string, charts ...engine.Description) (map[string]string, error) {
	decls, err := read(dir)
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	var index strings.Builder
	index.WriteString(generated + `# Statecharts

Every recipe is a table of rows, and the table is the code: the rows on its page are
the ones that run, in the order in which they are tried. Of the rows for a state and
an event, the first whose guard holds is taken; a row without a guard always is, if
no row before it was.

A choice, drawn as a diamond, is a state in which no machine rests. "at once" is no
event: it stands before the rows of a choice, which are tried in the same step that
leads to the choice. In a picture, a guard stands in brackets, and "… 2 more" counts
rows that only the table has.

| chart | | states | rows |
|---|---|--:|--:|
`)
	for _, d := range charts {
		words, err := decls.glossary(d)
		if err != nil {
			return nil, err
		}
		if files[d.Name+".svg"], err = drawing.SVG(d); err != nil {
			return nil, err
		}
		files[d.Name+".md"] = page(d, words)
		fmt.Fprintf(&index, "| [%s](%s.md) | %s | %d | %d |\n", d.Name, d.Name, d.Summary(), len(d.States), len(d.Rows))
	}
	for _, d := range charts {
		fmt.Fprintf(&index, "\n[![%s](%s.svg)](%s.md)\n", d.Name, d.Name, d.Name)
	}
	files["README.md"] = index.String()
	return files, nil
}

func page(d engine.Description, words map[string]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s# %s\n\n%s\n\n![%s](%s.svg)\n\n%s\n", generated, d.Name, d.Doc, d.Name, d.Name,
		drawing.SharedList(d))
	fmt.Fprintf(&b, "<details><summary>The same picture in Mermaid</summary>\n\n```mermaid\n%s```\n\n</details>\n\n",
		drawing.Mermaid(d))
	b.WriteString(playground(d.Name))
	b.WriteString(drawing.MarkdownTables(d, words))
	fmt.Fprintf(&b, "\n## State by state\n\n%s `incumbent chart %s --format table` prints the same.\n\n",
		drawing.HowToRead, d.Name)
	fmt.Fprintf(&b, "<details><summary>What each state does</summary>\n\n```text\n%s```\n\n</details>\n",
		drawing.StateByState(d))
	return b.String()
}
