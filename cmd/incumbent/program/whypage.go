package program

import (
	"fmt"
	"os"

	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/page"
	"github.com/incumbent-go/incumbent/internal/why"
)

// keep returns a reader that keeps the records of a log for the page.
func (e *explainer) keep(h events.Header, r why.Reader) *page.Rows {
	detail := page.Whole
	if e.redacted {
		detail = page.Unnamed
	}
	return page.Keep(h, r, detail)
}

// writePage writes the page of --html.
func (e *explainer) writePage(r *why.Report) error {
	if e.html == "" {
		return nil
	}
	d, err := page.New(r, e.kept, nil)
	if err != nil {
		return err
	}
	b, err := page.HTML(d, page.File)
	if err != nil {
		return err
	}
	if err := os.WriteFile(e.html, b, 0o600); err != nil {
		return cli.Exit(cli.ExitNoOutput, fmt.Errorf("--html: %w", err))
	}
	e.Note("the page is %s", events.Quote(e.html, events.MaxText))
	return nil
}
