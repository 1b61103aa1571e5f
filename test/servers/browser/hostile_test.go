package browser

import (
	"bytes"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/page"
	"github.com/incumbent-go/incumbent/internal/why"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

const markup = `<img src="http://192.0.2.1/x" ` +
	`onerror="document.title='taken'"><script>document.title='taken'</script></script>`

// recorded returns the log of a client that led a line with an id.
func recorded(t *testing.T, line, id string) []byte {
	t.Helper()
	var log bytes.Buffer
	c, err := incumbent.Open(t.Context(), incumbent.Config{Servers: zkmem.Start(t).Addr(),
		Record: incumbent.RecordTo(&log)})
	if err != nil {
		t.Fatal(err)
	}
	l, err := c.Latch(line, incumbent.LatchOptions{ID: id})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Start(); err != nil {
		t.Fatal(err)
	}
	leadership, err := l.Await(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	leadership.Release()
	if err := c.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	return log.Bytes()
}

// pageOf returns the page of one log with a name.
func pageOf(t *testing.T, name string, log []byte) []byte {
	t.Helper()
	r, err := events.NewReader(bytes.NewReader(log))
	if err != nil {
		t.Fatal(err)
	}
	kept := page.Keep(r.Header, r, page.Whole)
	l, err := why.Read(name, r.Header, kept)
	if err != nil {
		t.Fatal(err)
	}
	return html(t, why.Explain([]*why.Log{l}, nil, why.Options{}), []*page.Rows{kept})
}

// Whatever ids, paths and names of logs say, it is shown as text: nothing of it runs, loads or turns text around.
func TestHostileTexts(t *testing.T) {
	if !shows(t) {
		return
	}
	browser := chromium(t)
	for _, c := range []struct{ what, name, line, id string }{
		{"markup", markup, "/jobs/" + strings.ReplaceAll(markup, "/", "∕"), markup},
		{"placeholders and ends", "{{SCRIPT}}", "/jobs/{{DATA}}]]>-->", "</script></style></title>{{POLICY}}"},
		{"directions", "\u202egol", "/jobs/a", "\u202e\u2066evil\u2069\u200b"},
		{"very long", "log", "/jobs/" + strings.Repeat("p", 10_000), strings.Repeat("i", 900_000)},
		{"names of objects", "__proto__", "/constructor/__proto__", "toString"},
	} {
		t.Run(c.what, func(t *testing.T) {
			b := pageOf(t, c.name, recorded(t, c.line, c.id))
			address := file(t, b)
			p := open(t, browser, address).shown()
			p.does(`document.querySelectorAll('.ref, .move, .step').forEach(b => b.click())`)
			if n := p.text(`document.title + document.querySelectorAll('img, iframe, object, link, body ` +
				`script').length`); n != "incumbent why2" {
				t.Errorf("the page has %s", n)
			}
			seen := p.text(`document.body.innerText + [...document.querySelectorAll('svg text, svg title')].map(e => ` +
				`e.textContent).join()`)
			if strings.ContainsAny(seen, "\u202e\u2066\u2069\u200b") {
				t.Error("text is turned around")
			}
			for _, want := range map[string][]string{"markup": {"<img src="},
				"placeholders and ends": {"{{SCRIPT}}", "{{DATA}}"}, "directions": {`\u202e`}}[c.what] {
				if !strings.Contains(seen, want) {
					t.Errorf("%q is not shown", want)
				}
			}
			if wide := value[int](p,
				`document.documentElement.scrollWidth - document.documentElement.clientWidth`); wide > 0 {
				t.Errorf("the page is %d pixels too wide", wide)
			}
			p.quiet(address)
		})
	}
}
