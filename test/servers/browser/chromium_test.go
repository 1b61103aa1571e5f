package browser

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/incumbent-go/incumbent/test/kit/realzk"
)

// chromium starts a browser, and returns the context of its first tab.
func chromium(t *testing.T, options ...chromedp.ExecAllocatorOption) context.Context {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		realzk.NotRun(t, "pages in a browser (no chromium)")
	}
	options = append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		append(options, chromedp.ExecPath(path), chromedp.NoSandbox,
			chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1280, 1000),
			chromedp.WSURLReadTimeout(2*time.Minute))...)
	if *dark {
		options = append(options, chromedp.Flag("blink-settings", "preferredColorScheme=0"))
	}
	allocator, end := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(end)
	ctx, end := chromedp.NewContext(allocator)
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx) // waits until the browser has ended
		end()
	})
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	return ctx
}

// tab is one page in the browser, and what it complained of or asked for.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	requests []string
	trouble  []string
}

// open opens an address in a new tab. The scripts run in it before those of the page.
func open(t *testing.T, browser context.Context, address string, scripts ...string) *tab {
	t.Helper()
	p := &tab{t: t}
	ctx, end := chromedp.NewContext(browser, chromedp.WithListener(p.hear))
	t.Cleanup(end)
	p.ctx = ctx
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	for _, script := range scripts {
		if _, err := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument,
			page.AddScriptToEvaluateOnNewDocumentParams{Source: script}); err != nil {
			t.Fatal(err)
		}
	}
	if err := chromedp.Do(ctx, chromedp.Navigate(address)); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *tab) hear(ev any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch ev := ev.(type) {
	case *network.EventRequestWillBeSent:
		p.requests = append(p.requests, ev.Request.URL)
	case *runtime.EventExceptionThrown:
		p.trouble = append(p.trouble, fmt.Sprintf("%s %+v", ev.ExceptionDetails.Text, ev.ExceptionDetails.Exception))
	case *log.EventEntryAdded:
		p.trouble = append(p.trouble, ev.Entry.Text)
	}
}

// shown waits until the page has drawn its data.
func (p *tab) shown() *tab {
	p.t.Helper()
	p.waits(`document.body?.dataset.ready !== undefined`)
	return p
}

// waits waits until an expression is true.
func (p *tab) waits(expression string) {
	p.t.Helper()
	ctx, end := context.WithTimeout(p.ctx, 2*time.Minute)
	defer end()
	if _, err := chromedp.Run(ctx, chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(0))); err != nil {
		p.t.Fatalf("%s: %v; %q", expression, err, p.trouble)
	}
}

// text returns what an expression is.
func (p *tab) text(expression string) string {
	p.t.Helper()
	return value[string](p, expression)
}

func value[T any](p *tab, expression string) T {
	p.t.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// does evaluates an expression for what it does.
func (p *tab) does(expression string) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, chromedp.Evaluate[chromedp.Void](expression)); err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
}

func (p *tab) keys(keys string) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, chromedp.KeyEvent(keys)); err != nil {
		p.t.Fatal(err)
	}
}

// quiet checks that the page asked for nothing but addresses that begin like one of these, and complained of nothing.
func (p *tab) quiet(beginnings ...string) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.requests {
		if !slices.ContainsFunc(beginnings, func(b string) bool { return strings.HasPrefix(r, b) }) {
			p.t.Errorf("the page asked for %.300s", r)
		}
	}
	if len(p.trouble) > 0 {
		p.t.Errorf("the page complained: %.1000q", p.trouble)
	}
}

// forgive forgets complaints that say this, and returns how many there were.
func (p *tab) forgive(text string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := len(p.trouble)
	p.trouble = slices.DeleteFunc(p.trouble, func(said string) bool { return strings.Contains(said, text) })
	return before - len(p.trouble)
}

// file writes a page to a file, and returns its address.
func file(t *testing.T, html []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "why.html")
	if err := os.WriteFile(name, html, 0o600); err != nil {
		t.Fatal(err)
	}
	return (&url.URL{Scheme: "file", Path: name}).String()
}

// key is a record's name in addresses.
func key(log string, seq uint64) string { return url.PathEscape(fmt.Sprintf("%s.%d", log, seq)) }
