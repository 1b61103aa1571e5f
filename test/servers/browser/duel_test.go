package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// below is how far an element ends below the window, in pixels.
func below(p *tab, id string) float64 {
	p.t.Helper()
	return value[float64](p, `document.querySelector('`+id+`').getBoundingClientRect().bottom - innerHeight`)
}

// The playground opens running, with one large button. Two worlds get the same cut, and stop with one sentence when
// the second has two
// leaders. What one can do needs no scrolling.
func TestThePlaygroundOpensRunning(t *testing.T) {
	if !shows(t) {
		return
	}
	address := playServer(t)
	p := open(t, chromium(t), address).shown()
	p.waits(`document.body.dataset.duel === 'runs'`)
	drawn := p.text(`document.querySelector('#duel-ours').innerHTML`)
	p.waits(`document.querySelector('#duel-ours').innerHTML !== ` + "`" + drawn + "`")
	for _, size := range [][2]int64{{390, 844}, {1024, 768}, {1440, 900}} {
		if err := chromedp.Do(p.ctx, chromedp.EmulateViewport(size[0], size[1])); err != nil {
			t.Fatal(err)
		}
		wide := size[0] >= 1000
		if n := below(p, "#duel-cut"); n > 0 {
			t.Errorf("at %d × %d the button is %.0f pixels too low", size[0], size[1], n)
		}
		if n := below(p, "#duel-lanes"); wide && n > 0 {
			t.Errorf("at %d × %d the lanes are %.0f pixels too low", size[0], size[1], n)
		}
		if over := value[bool](p, `document.documentElement.scrollWidth > innerWidth`); over {
			t.Errorf("at %d × %d the page is scrolled sideways", size[0], size[1])
		}
	}
	if *shots != "" {
		shot(t, p, "duel-before")
	}
	p.does(`document.querySelector('#duel-cut').click()`)
	p.waits(`document.querySelector('#duel-says.bad') !== null`)
	said := p.text(`document.querySelector('#duel-says').textContent`)
	if !strings.HasPrefix(said, "Two leaders: with the usual lock alice and bob both lead; with incumbent alice "+
		"had stopped ") {
		t.Errorf("it says %q", said)
	}
	two := func(id string) int { return value[int](p, `document.querySelectorAll('`+id+` rect.two').length`) }
	if two("#duel-ours") != 0 || two("#duel-usual") != 1 {
		t.Errorf("two lead %d times with this library, and %d times with the usual lock", two("#duel-ours"),
			two("#duel-usual"))
	}
	if *shots != "" { // docs/playground.png
		if err := chromedp.Do(p.ctx, chromedp.EmulateViewport(1280, 545)); err != nil {
			t.Fatal(err)
		}
		shot(t, p, "duel-after")
	}
	p.does(`document.querySelector('#duel-again').click()`)
	p.waits(`document.querySelector('#duel-says').textContent === '' && !document.querySelector('#duel-cut').hidden`)
	p.does(`document.querySelector('#duel-cut').click()`)
	p.waits(`document.querySelector('#duel-says.bad') !== null`)
	p.does(`document.querySelector('#duel-open').click()`)
	p.waits(`location.hash.includes('isolate:b:15') && document.querySelector('#lanes').checkVisibility()`)
	for _, size := range [][2]int64{{1024, 768}, {1440, 900}} {
		if err := chromedp.Do(p.ctx, chromedp.EmulateViewport(size[0], size[1])); err != nil {
			t.Fatal(err)
		}
		if n := below(p, "#verbs"); n > 0 {
			t.Errorf("at %d × %d what one can do is %.0f pixels too low", size[0], size[1], n)
		}
		if *shots != "" {
			shot(t, p, "play-world")
		}
	}
	p.quiet(address)
}
