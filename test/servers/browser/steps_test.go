package browser

import (
	"fmt"
	"strconv"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
)

// framed gives a page a promise of its next frame: it has the time in milliseconds at which the page's part of the
// frame was done.
const framed = `window.framed = () => new Promise(done => requestAnimationFrame(() => {
	const after = new MessageChannel();
	after.port1.onmessage = () => done(performance.now());
	after.port2.postMessage(0);
}));`

// probe uses a page as soon as it can be used. When the verdict, a lane, a chart and the list of records are there, it
// clicks a record. The page is usable when the frame is done in which this record is selected: window.usable is the
// time in milliseconds from the beginning of the navigation until then, or -1 if the click did nothing.
const probe = framed + `
(async () => {
	const find = what => document.querySelector(what);
	let row = null;
	while (!row || !find('#verdict[class]') || !find('#lanes .lane') || !find('#chart svg')) {
		await framed();
		row = find('#list .row:not(.fold):not(.selected)');
	}
	const clicked = row.textContent;
	row.click();
	const at = await framed();
	window.usable = find('#list .row.selected')?.textContent === clicked && find('#chart g.lit') &&
		find('#lanes .cursor') ? at : -1;
})();`

// pace is how long steps take in milliseconds, those of 60 in their order: until the key is handled, and until the
// frame after it is done, for which the page may have to wait a sixtieth of a second.
type pace struct {
	Handled []float64 `json:"handled"`
	Framed  []float64 `json:"framed"`
}

func (p pace) String() string {
	return fmt.Sprintf("%.1f ms, %.1f ms at p95 (with its frame %.1f and %.1f)", p.Handled[30], p.Handled[56],
		p.Framed[30], p.Framed[56])
}

// paceOf presses a key 60 times, each time when the frame before is done.
func paceOf(p *tab, key string) pace {
	p.t.Helper()
	return value[pace](p, `(async key => {
		const handled = [], all = [], inOrder = times => times.sort((a, b) => a - b);
		for (let i = 0; i < 60; i++) {
			const began = await framed();
			document.dispatchEvent(new KeyboardEvent('keydown', { key }));
			handled.push(performance.now() - began);
			all.push(await framed() - began);
		}
		return { handled: inOrder(handled), framed: inOrder(all) };
	})(`+strconv.Quote(key)+`)`)
}

// changesOf presses a key so many times, and returns how many nodes each step adds, removes or changes, with its frame.
func changesOf(p *tab, key string, times int) []int {
	p.t.Helper()
	return value[[]int](p, `(async (key, times) => {
		const all = [], size = node => 1 + (node.querySelectorAll?.('*').length ?? 0),
			sum = (nodes, of) => [...nodes].reduce((n, node) => n + of(node), 0);
		const watch = new MutationObserver(() => {}),
			changed = m => m.type === 'childList' ? sum(m.addedNodes, size) + sum(m.removedNodes, size) : 1;
		for (let i = 0; i < times; i++) {
			watch.observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
			let n = 0;
			const count = () => { n += sum(watch.takeRecords(), changed); };
			document.dispatchEvent(new KeyboardEvent('keydown', { key }));
			count();
			await framed();
			count();
			watch.disconnect();
			all.push(n);
		}
		return all;
	})(`+strconv.Quote(key)+`, `+strconv.Itoa(times)+`)`)
}

// layoutsOf presses a key so many times without a frame between, and returns how often the browser laid out the page.
func layoutsOf(p *tab, key string, times int) int {
	p.t.Helper()
	before := layouts(p)
	p.does(`for (let i = 0; i < ` + strconv.Itoa(times) + `; i++) document.dispatchEvent(new ` +
		`KeyboardEvent('keydown', { key: ` + strconv.Quote(key) + ` }))`)
	return layouts(p) - before
}

func layouts(p *tab) int {
	p.t.Helper()
	if _, err := chromedp.Call(p.ctx, performance.Enable, performance.EnableParams{}); err != nil {
		p.t.Fatal(err)
	}
	all, err := chromedp.Call(p.ctx, performance.GetMetrics, cdp.Empty{})
	if err != nil {
		p.t.Fatal(err)
	}
	for _, m := range all.Metrics {
		if m.Name == "LayoutCount" {
			return int(m.Value)
		}
	}
	p.t.Fatal("the browser does not count layouts")
	return 0
}
