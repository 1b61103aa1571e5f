package browser

import (
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/incumbent-go/incumbent/internal/why"
)

// clipped is the labels of the lanes that are not whole in their drawing, and what makes the page wider than the
// window.
const clipped = `(() => {
	const lanes = document.querySelector('#lanes'), wide = lanes.clientWidth;
	const cut = [...lanes.querySelectorAll('text')].filter(e => {
		const { x, width } = e.getBBox();
		return e.textContent !== '' && (x < -0.5 || x + width > wide + 0.5);
	}).map(e => e.textContent);
	const layers = [...lanes.querySelectorAll('text.layer-name')];
	const names = [...lanes.querySelectorAll('text.who')].filter(e => layers.some(o => {
		const a = e.getBoundingClientRect(), b = o.getBoundingClientRect();
		return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
	})).map(e => e.textContent + ' lies on the name of a layer');
	const page = document.documentElement;
	const wider = page.scrollWidth > innerWidth ? ['the page is ' + page.scrollWidth + ' wide'] : [];
	return [...cut, ...names, ...wider].join('; ');
})()`

// On a phone, on a laptop and on a wide window no label is cut off, and nothing is scrolled sideways. On the wide ones
// the moves are
// right of the lanes, and what one wants to know first is above them, without scrolling.
func TestWidths(t *testing.T) {
	if !shows(t) {
		return
	}
	_, b := incident(t, "paused")
	p := open(t, chromium(t), file(t, b)).shown()
	for _, size := range [][2]int64{{390, 844}, {768, 1024}, {1024, 768}, {1440, 900}} {
		if err := chromedp.Do(p.ctx, chromedp.EmulateViewport(size[0], size[1])); err != nil {
			t.Fatal(err)
		}
		p.does(`window.at = document.querySelector('#lanes').getAttribute('viewBox')`)
		p.waits(`document.querySelector('#lanes').getAttribute('viewBox').split(' ')[2] == ` +
			`document.querySelector('#lanes').clientWidth`)
		if found := p.text(clipped); found != "" {
			t.Errorf("at %d × %d: %s", size[0], size[1], found)
		}
		where := p.text(`(() => {
			const box = id => document.querySelector(id).getBoundingClientRect();
			const lanes = box('#lanes-box'), moves = box('#moves-box');
			return moves.left >= lanes.right && moves.top < lanes.bottom ? 'right of' : 'below';
		})()`)
		if want := map[bool]string{true: "right of", false: "below"}[size[0] > 1000]; where != want {
			t.Errorf("at %d × %d the moves are %s the lanes, want %s", size[0], size[1], where, want)
		}
		if low := value[float64](p,
			`document.querySelector('#lines').getBoundingClientRect().bottom`); low > float64(size[1])/2 {
			t.Errorf("at %d × %d who leads stands %.0f pixels below the top", size[0], size[1], low)
		}
	}
	if said := p.text(`document.querySelector('#chain .named').textContent`); said != "The cause: its process did "+
		"not run (paused)" {
		t.Errorf("the causes begin with %q", said)
	}
}

// A page without a log says how to get one, and shows no empty lanes.
func TestAPageWithoutALog(t *testing.T) {
	if !shows(t) {
		return
	}
	p := open(t, chromium(t), file(t, html(t, why.Explain(nil, nil, why.Options{}), nil))).shown()
	if said := p.text(`document.body.innerText`); said == "" || value[bool](p,
		`document.querySelector('#no-logs').checkVisibility()`) == false ||
		value[bool](p, `document.querySelector('#lanes').checkVisibility()`) || value[bool](p,
		`document.querySelector('#verdict').checkVisibility()`) {
		t.Errorf("a page without a log says %q", said)
	}
}
