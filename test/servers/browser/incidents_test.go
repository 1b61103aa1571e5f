package browser

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/page"
	"github.com/incumbent-go/incumbent/internal/why"
	"github.com/incumbent-go/incumbent/test/servers/incidents"
)

var (
	shots = flag.String("shots", "", "the folder for a picture of each incident's page")
	dark  = flag.Bool("dark", false, "show all pages in dark colours")
)

// incident returns what why says of an incident, and its page.
func incident(t *testing.T, name string) (*why.Report, []byte) {
	t.Helper()
	var rows []*page.Rows
	logs, txns, err := incidents.ReadThrough(filepath.Join("..", "incidents", "testdata", name),
		func(h events.Header, r why.Reader) why.Reader {
			rows = append(rows, page.Keep(h, r, page.Whole))
			return rows[len(rows)-1]
		})
	if err != nil {
		t.Fatal(err)
	}
	report := why.Explain(logs, txns, why.Options{})
	return report, html(t, report, rows)
}

func html(t *testing.T, report *why.Report, rows []*page.Rows) []byte {
	t.Helper()
	d, err := page.New(report, rows, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := page.HTML(d, page.File)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Each incident's page has the verdict, every move with its sentences, and a click on each record that is cited selects
// it. It asks for nothing, and nothing in it fails.
func TestIncidents(t *testing.T) {
	if !shows(t) {
		return
	}
	all := incidents.All()
	if *shots == "" { // the pages of the others differ in their data alone
		all = []incidents.Incident{all[0], all[1], all[6], all[12]}
	}
	browser := chromium(t)
	for _, i := range all {
		t.Run(i.Name, func(t *testing.T) {
			report, b := incident(t, i.Name)
			address := file(t, b)
			p := open(t, browser, address).shown()
			if got := p.text(`document.querySelector('#verdict').textContent`); got != report.Lines(false)[0] {
				t.Errorf("the verdict is %q, want %q", got, report.Lines(false)[0])
			}
			if n := value[int](p, `document.querySelectorAll('#story li[data-move]').length`); n != len(report.Moves) {
				t.Errorf("%d moves, want %d", n, len(report.Moves))
			}
			clicked := value[[]string](p,
				`[...document.querySelectorAll('.ref')].map(b => (b.click(), b.textContent.replace(/:(\d+)$/, `+
					`'.$1') + ' ' + `+selected+`))`)
			p.waits(`decodeURIComponent(location.hash.slice(1)) === ` + selected)
			for _, c := range clicked {
				want, got, _ := strings.Cut(c, " ")
				if want != got && i.Name != "hung-writer" { // its gap is cited by records that are missing
					t.Errorf("a click on %s selects %s", want, got)
				}
			}
			if n := value[int](p, `document.querySelectorAll('#lanes .right, #lanes .txn').length`); n < 2 ||
				len(clicked) == 0 {
				t.Errorf("%d bars and transactions, %d records are cited", n, len(clicked))
			}
			p.quiet(address)
			if *shots != "" {
				p.does(`document.querySelectorAll('#story .move')[1]?.click()`)
				shot(t, p, i.Name)
			}
		})
	}
}

// selected is what the page has selected, as addresses name it.
const selected = `(text => text.startsWith('0x') ? '@' + text : text.replace(/:(\d+)$/, ` +
	`'.$1'))(document.querySelector('#detail dd').textContent)`

// shot keeps a picture of a page.
func shot(t *testing.T, p *tab, name string) {
	t.Helper()
	png, err := chromedp.Run(p.ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(filepath.Join(*shots, name+".png"), png, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// What keys, filters and links do.
func TestKeys(t *testing.T) {
	if !shows(t) {
		return
	}
	_, b := incident(t, "paused")
	address := file(t, b)
	p := open(t, chromium(t), address+"#bob.23").shown()
	at := func() string { return p.text(selected) }
	press := func(keys, want string) {
		t.Helper()
		p.keys(keys)
		if got := at(); got != want {
			t.Errorf("after %q %s is selected, want %s", keys, got, want)
		}
	}
	const left, up, right, down = "\u0302", "\u0304", "\u0303", "\u0301"
	press("", "bob.23")
	press(down, "@0xd")     // the transaction that ended the node
	press(down, "alice.14") // the last answer that its owner got
	press(up, "@0xd")
	press(up, "bob.23")
	press(right, "bob.24")
	press(left, "bob.23")
	press("[", "alice.14")
	press("]", "bob.23")
	press("]", "bob.26")
	p.waits(`location.hash === '#bob.26'`)

	p.keys("/")
	if id := p.text(`document.activeElement.id`); id != "filter" {
		t.Errorf("the focus is on %q", id)
	}
	filter := func(text string) {
		p.does(`document.querySelector('#filter').value = ` + strconv.Quote(text) +
			`; document.querySelector('#filter').dispatchEvent(new Event('input'))`)
	}
	filter("who:alice row:made")
	if n := p.text(`document.querySelector('#count').textContent`); n != "1 of 93" || at() != "bob.26" {
		t.Errorf("the filter shows %s, at %s", n, at())
	}
	filter("zxid>x")
	if said := p.text(`document.querySelector('#filter-error').textContent`); !strings.Contains(said, "want a number") {
		t.Error(said)
	}
	filter("")
	p.does(`document.querySelector('#list').scrollTop = 800`)
	p.waits(`document.querySelectorAll('#list .fold').length > 0`)
	p.does(`document.querySelector('#list .fold').click()`)
	p.does(`location.hash = '#alice.19'`)
	p.waits(`document.querySelector('#detail').textContent.includes('alice:19')`)
	if lit := p.text(`document.querySelector('#chart g.lit[data-state]').dataset.state`); lit != "draining" {
		t.Errorf("lit is %s", lit)
	}
	for _, odd := range []string{"#%", "#<img>", "#alice.99999", "#@0xffff", "#.1"} {
		open(t, p.ctx, address+odd).shown().quiet(address)
	}
	p.quiet(address)
}

// Browsers complain of a page that writes its address at each step, and no longer let it. So while a key is held few
// are written, and in the end the address names what is selected.
func TestAHeldKey(t *testing.T) {
	if !shows(t) {
		return
	}
	_, b := incident(t, "paused")
	address := file(t, b)
	p := open(t, chromium(t), address).shown()
	p.does(`for (let i = 0; i < 300; i++) document.dispatchEvent(new KeyboardEvent('keydown', { key: i % 100 < 70 ? ` +
		`'ArrowRight' : 'ArrowLeft' }))`)
	p.waits(`decodeURIComponent(location.hash.slice(1)) === ` + selected)
	p.quiet(address)
}
