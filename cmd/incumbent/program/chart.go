package program

import (
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/drawing"
	"github.com/incumbent-go/incumbent/machines"
)

func (a *app) chart() *cobra.Command {
	var format, file string
	c := &cobra.Command{
		Use:   "chart [NAME]",
		Short: "draw a state machine from the table that runs",
		Long: `Draw a state machine from the table that runs. Without a name, the charts are
listed. The format table has all of it as text, 120 columns wide: what each state
does, rows in the order in which they are tried, and what it ignores. The format
xstate is JSON for createMachine of XState v5. In an SVG, groups have the
attributes data-state, or data-from, data-to and data-rows.

Exit codes:
   0  drawn
  64  there is no such chart or format
  73  the file of -o cannot be written`,
		Example: "  incumbent chart latch --format table | less\n  incumbent chart latch --format svg -o latch.svg\n" +
			"  incumbent chart session --format dot | dot -Tpdf > session.pdf",
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			switch len(args) {
			case 0:
				a.listCharts()
				return nil
			case 1:
				return a.draw(args[0], format, file)
			}
			return cli.Usage("chart draws one chart at a time, not %q", args)
		},
	}
	c.Flags().StringVar(&format, "format", "md", strings.Join(formats(), ", "))
	c.Flags().StringVarP(&file, "output", "o", "", "write to this file instead of stdout")
	a.JSONFlag(c)
	c.Flags().Lookup("json").Usage = "list the charts as JSON, one object per line"
	return c
}

// formats returns the formats of package drawing, with "md" for Markdown.
func formats() []string {
	all := slices.Clone(drawing.Formats())
	for i, f := range all {
		if f == "markdown" {
			all[i] = "md"
		}
	}
	return all
}

func chartNames() []string {
	var all []string
	for _, r := range machines.Recipes() {
		all = append(all, r.Name())
	}
	return all
}

func (a *app) listCharts() {
	rows := [][]string{{"CHART", "STATES", "ROWS", "DIGEST", ""}}
	for _, r := range machines.Recipes() {
		d := r.Describe()
		if a.JSON {
			a.Out.Object(map[string]any{"chart": r.Name(), "states": len(d.States), "rows": len(d.Rows),
				"digest": r.Digest(), "doc": d.Doc})
			continue
		}
		rows = append(rows,
			[]string{r.Name(), cli.Plural(len(d.States), "state"), cli.Plural(len(d.Rows), "row"), r.Digest(),
				firstSentence(d.Doc)})
	}
	if !a.JSON {
		a.Out.Table(rows)
	}
}

func firstSentence(doc string) string {
	s, _, _ := strings.Cut(strings.ReplaceAll(doc, "\n", " "), ". ")
	return strings.TrimSuffix(s, ".")
}

func (a *app) draw(name, format, file string) error {
	if !slices.Contains(formats(), format) && format != "markdown" {
		return cli.Usage("no format %q: there are %s", format, strings.Join(formats(), ", "))
	}
	i := slices.IndexFunc(machines.Recipes(), func(r engine.Recipe) bool { return r.Name() == name })
	if i < 0 {
		return cli.Usage("no chart %q: there are %s", name, strings.Join(chartNames(), ", "))
	}
	if format == "md" {
		format = "markdown"
	}
	picture, err := drawing.Draw(machines.Recipes()[i].Describe(), format)
	if err != nil {
		return err
	}
	picture = strings.TrimRight(picture, "\n") + "\n"
	if file == "" {
		_, err := a.Out.Write([]byte(picture))
		return cli.Exit(cli.ExitNoOutput, err)
	}
	if err := os.WriteFile(file, []byte(picture), 0o644); err != nil {
		return cli.Exit(cli.ExitNoOutput, err)
	}
	a.Note("%s drawn to %s", name, events.Quote(file, events.MaxText))
	return nil
}
