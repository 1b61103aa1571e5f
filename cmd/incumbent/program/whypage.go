package program

import (
	"fmt"
	"os"
	"runtime/debug"

	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/page"
	"github.com/incumbent-go/incumbent/internal/why"
)

// mostOnPage is how many records a page has at most: it has 3 MB then, and opens in a second or two.
const mostOnPage = 100_000

// keep returns a reader that keeps the records of a log for the page.
func (e *explainer) keep(h events.Header, r why.Reader) *page.Rows {
	e.budget.Most = mostOnPage
	return page.Keep(h, r, e.detail()).Within(&e.budget)
}

// collectMore has the garbage collector run more often from now on, for a page: what is kept is large, and little is
// added to it.
func (e *explainer) collectMore() {
	if e.html != "" && os.Getenv("GOGC") == "" {
		debug.SetGCPercent(15)
	}
}

func (e *explainer) detail() page.Detail {
	if e.redacted {
		return page.Unnamed
	}
	return page.Whole
}

// narrow has the page show a part of the logs, if they have too many records. It reads again what is not kept.
func (e *explainer) narrow(r *why.Report) {
	w := r.Narrow(mostOnPage)
	if w == nil {
		return
	}
	for i, l := range e.logs {
		if !e.kept[i].Only(w.Parts[i]) { // of another time than the last, or its host's clock is wrong
			e.kept[i] = e.readPart(e.files[l], l.Header, w.Parts[i])
		}
	}
}

// readPart reads the records of a part of a log again. One that cannot be opened any more has none.
func (e *explainer) readPart(f citedLog, h events.Header, part why.Part) *page.Rows {
	s, end, err := f.open()
	if err != nil || part.To < part.From {
		if err == nil {
			end()
		}
		return page.Keep(h, why.NoRecords{}, e.detail())
	}
	defer end()
	return page.KeepPart(s.Header(), s, e.detail(), part)
}

// document returns what the page of --html shows, nil without one. Behind it the rows and the logs are not needed.
func (e *explainer) document(r *why.Report) (*page.Document, error) {
	if e.html == "" {
		return nil, nil
	}
	e.narrow(r)
	d, err := page.New(r, e.kept, nil)
	e.kept, e.logs, e.files = nil, nil, nil
	for _, s := range r.LeftOut() {
		e.Note("%s", s.Text)
	}
	return d, err
}

// writePage writes the page of --html, if there is a document.
func (e *explainer) writePage(d *page.Document) error {
	if d == nil {
		return nil
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
