package browser

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/internal/page/live"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// What is recorded while the page is open is drawn, without a load, and the page asks its own server only. A page under
// another name that leads to the same address, as in DNS rebinding, is refused.
func TestLive(t *testing.T) {
	if !shows(t) {
		return
	}
	dir := t.TempDir()
	c, err := incumbent.Open(t.Context(),
		incumbent.Config{Servers: zkmem.Start(t).Addr(), Record: incumbent.RecordIn(dir, incumbent.RecordOptions{})})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.WithoutCancel(t.Context())) })
	token := live.NewToken()
	handler, err := live.Handler(dir, live.Options{Token: token, Poll: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	empty := t.TempDir()
	none, err := live.Handler(empty, live.Options{Token: token})
	if err != nil {
		t.Fatal(err)
	}
	nothing := httptest.NewServer(none)
	t.Cleanup(nothing.Close)
	browser := chromium(t, chromedp.Flag("host-resolver-rules", "MAP evil.test 127.0.0.1"))
	address := server.URL + "/" + token + "/"
	e := open(t, browser, nothing.URL+"/"+token+"/").shown()
	if said := e.text(`document.querySelector('#no-logs').innerText`); !strings.Contains(said,
		"No log in "+empty+" yet") ||
		!strings.Contains(said, "--record "+empty+" -- ./job") {
		t.Errorf("a directory without a log is served as %q", said)
	}
	e.leaves()
	p := open(t, browser, address).shown()
	p.waits(`document.querySelector('#live-state').textContent === '● live'`)

	l, err := c.Latch("/jobs/live", incumbent.LatchOptions{ID: "host-a"})
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
	p.waits(`document.querySelector('#lanes .right') !== null && ` +
		`document.querySelector('#story').textContent.includes('host-a leads')`)
	p.does(`window.same = true`)
	leadership.Release()
	if err := l.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.waits(`document.querySelector('#story').textContent.includes('was closed') && window.same`)
	p.quiet(server.URL)

	evil := strings.Replace(address, "127.0.0.1", "evil.test", 1)
	refused := open(t, browser, evil)
	if said := refused.text(`document.body.textContent`); !strings.Contains(said,
		`is not asked under the name "evil.test`) {
		t.Errorf("%.300s", said)
	}
	p.leaves()
}

// leaves goes to an empty page: the stream ends, so that the server can.
func (p *tab) leaves() {
	p.t.Helper()
	p.does(`document.querySelector('meta[name=live]').remove()`)
	if err := chromedp.Do(p.ctx, chromedp.Navigate("about:blank")); err != nil {
		p.t.Fatal(err)
	}
}
