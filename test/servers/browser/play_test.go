package browser

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/internal/play"
)

// pressed presses keys on the page itself, not in a field.
func (p *tab) pressed(keys string) {
	p.t.Helper()
	p.does(`document.activeElement.blur()`)
	p.keys(keys)
	p.idle()
}

// link returns the link in the page's address, without what is selected.
func (p *tab) link() string {
	p.t.Helper()
	link, _, _ := strings.Cut(p.text(`decodeURIComponent(location.hash.slice(1))`), "!")
	return link
}

// goes opens another link in the same page.
func (p *tab) goes(link string) {
	p.t.Helper()
	p.does(`location.hash = ` + strconv.Quote("#"+link))
	p.waits(`decodeURIComponent(location.hash).startsWith(` + strconv.Quote("#"+link+"!") + `)`)
}

// scrub moves the cursor to a moment of the world.
func (p *tab) scrub(seconds float64) {
	p.t.Helper()
	p.does(fmt.Sprintf(`{ const s = document.querySelector('#scrub'); s.value = %g; s.dispatchEvent(new `+
		`Event('input')); }`, seconds*1000))
}

// A world says the same natively, over HTTP and in a Worker's WebAssembly; and the page asks nobody else.
func TestBackEndsAgree(t *testing.T) {
	if !shows(t) {
		return
	}
	browser := chromium(t)
	server, static := playServer(t), site(t, siteFiles(t))
	links := []string{
		"1;latch;usual;3+1;7~8.5:freeze:alice:9~14:lose-reply:bob~20:isolate:b:8~31.25:start:dave@60",
		"1;latch;usual;3;7;bug=all-first~8:cut:bob@20",
	}
	for _, address := range []string{server, static} {
		p := open(t, browser, address).shown()
		p.waits(`document.body.dataset.deeds !== undefined`)
		t.Logf("%s: the first world can be read after %s, and deeds are carried out after %s", address,
			p.text(`document.body.dataset.ready`), p.text(`document.body.dataset.deeds`))
		for _, link := range links {
			a, err := new(play.Host).Ask(play.Request{Link: link})
			if err != nil {
				t.Fatal(err)
			}
			p.goes(a.Link)
			if got := p.text(`document.body.dataset.digest`); got != a.Digest {
				t.Errorf("%s has the digest %s at %s, and %s natively", link, got, address, a.Digest)
			}
		}
		p.quiet(address)
	}
}

// Each deed says what it did, or why nothing; it stands in the lanes and in the link, and the link plays it again.
func TestDeeds(t *testing.T) {
	if !shows(t) {
		return
	}
	browser, address := chromium(t), playServer(t)
	p := playing(t, browser, address, "1;latch;usual;3+1;7@10")
	answer := func(how, says string) {
		t.Helper()
		p.idle()
		p.waits(`document.querySelector('#answer').className === '` + how + `'`)
		if said := p.text(`document.querySelector('#answer').textContent`); !strings.Contains(said, says) {
			t.Errorf("the page says %q, want %q", said, says)
		}
	}
	p.scrub(8.5)
	p.pressed("2")
	p.pressed("f")
	answer("done", "8.500 freeze bob: nothing of bob's process runs for 9 s")
	p.pressed("4")
	p.does(`document.querySelector('#verbs [data-verb=cut]').click()`)
	answer("nothing", "nothing: ")
	p.pressed("s")
	answer("done", "start dave")
	p.pressed("i")
	answer("bad", "isolate is done to a server: choose one")
	p.does(`document.querySelector('#servers [data-key="server b"]').dispatchEvent(new MouseEvent('click', { ` +
		`bubbles: true }))`)
	p.does(`document.querySelector('#lasts').value = '4'`)
	p.pressed("i")
	p.waits(`document.querySelectorAll('#deeds li').length === 4`)
	link := "1;latch;usual;3+1;7~8.500001:freeze:bob:9~8.500001:cut:dave~8.500001:start:dave~8.500001:isolate:b:4@18.5"
	if p.link() != link {
		t.Errorf("the address has %s, want %s", p.link(), link)
	}
	p.does(`document.querySelector('#lasts').value = 'long'`)
	p.pressed("i")
	p.waits(`document.querySelector('#trouble').textContent.startsWith('Refused: ')`)
	if said := p.text(`document.querySelector('#trouble').textContent`); !strings.Contains(said, `long`) ||
		p.link() != link {
		t.Errorf("the page says %q, and its address has %s", said, p.link())
	}
	if marks := value[int](p, `document.querySelectorAll('#above circle.deed').length`); marks != 3 {
		t.Errorf("%d deeds stand in lanes, want 3", marks)
	}
	again := playing(t, browser, address, p.link())
	if a, b := p.text(`document.body.dataset.digest`), again.text(`document.body.dataset.digest`); a != b {
		t.Errorf("the world that was played has the digest %s, and its link %s", a, b)
	}
	again.quiet(address)
}

// A deed that is taken out leaves a ghost of the world before, and shows where each participant parts from it.
func TestWhatIf(t *testing.T) {
	if !shows(t) {
		return
	}
	browser, address := chromium(t), playServer(t)
	p := playing(t, browser, address, "1;latch;usual;3;20~10:freeze:alice:9@25")
	counts := func(ghost bool) {
		t.Helper()
		p.idle()
		ghosts, parts := value[int](p, `document.querySelectorAll('#above .ghost').length`),
			value[int](p, `document.querySelectorAll('#above path.parting').length`)
		if (ghosts > 0) != ghost || (parts > 0) != ghost {
			t.Errorf("%d bars of the ghost, %d partings", ghosts, parts)
		}
	}
	before := p.text(`document.body.dataset.digest`)
	counts(false)
	p.does(`document.querySelector('#deeds input').click()`)
	p.waits(`!document.querySelector('#if-box').hidden`)
	counts(true)
	if said := p.text(`document.querySelector('#parts').textContent`); !strings.Contains(said,
		"alice differs from 10.") || !strings.Contains(said, "carol") {
		t.Error(said)
	}
	without := p.text(`document.body.dataset.digest`)
	if want := "1;latch;usual;3;20~-10:freeze:alice:9@25"; p.link() != want || before == without {
		t.Errorf("%s, digests %s and %s", p.link(), before, without)
	}
	p.does(`document.querySelector('#undo').click()`)
	p.waits(`document.querySelector('#if-box').hidden`)
	counts(false)
	if p.text(`document.body.dataset.digest`) != before {
		t.Error("the world is another one when the deed is back")
	}
	p.scrub(12)
	p.pressed("q")
	p.pressed("3")
	p.pressed("k")
	p.waits(`!document.querySelector('#if-box').hidden && document.querySelectorAll('#deeds .added').length === 1`)
	counts(true)
	p.does(`document.querySelector('#keep').click()`)
	p.waits(`document.querySelector('#if-box').hidden`)
	if want := "1;latch;usual;3;20~10:freeze:alice:9~12.000001:kill:carol@25"; p.link() != want {
		t.Errorf("%s, want %s", p.link(), want)
	}
	p.quiet(address)
}

// Whatever a link says, the page answers in words, shows another world, and goes on.
func TestHostileLinks(t *testing.T) {
	if !shows(t) {
		return
	}
	browser, address := chromium(t), playServer(t)
	p := playing(t, browser, address, "1;latch;usual;1000000000;7")
	if refused := p.forgive("status of 400"); refused != 1 {
		t.Errorf("the first link was refused %d times", refused)
	}
	for _, c := range []struct{ link, says string }{
		{strings.Repeat("~1:cut:alice", 90_000), "4000"},
		{"1;latch;usual;1000000000;7", "participants"},
		{"1;latch;usual;3;NaN", "seed"},
		{"1;latch;usual;3;7~NaN:cut:alice", "NaN"},
		{"1;latch;usual;3;7~999999:cut:alice", "999999"},
		{"1;latch;usual;3;7@9e9", "9e9"},
		{"1;latch;usual;3;7~8:cut:" + markup, "img"},
		{"2;latch;usual;3;7", "2"},
		{"__proto__", "__proto__"},
		{"%", "%"},
	} {
		p.does(`document.querySelector('#trouble').textContent = ''; location.hash = '#' + ` + strconv.Quote(c.link))
		p.waits(`document.querySelector('#trouble').textContent !== ''`)
		said := p.text(`document.querySelector('#trouble').textContent`)
		if !strings.HasPrefix(said, "Refused: ") || !strings.Contains(said, c.says) || len(said) > 1000 {
			t.Errorf("%.60s: %q, want %q", c.link, said, c.says)
		}
		if n := p.text(`document.title + document.querySelectorAll('img, iframe, object, link, body ` +
			`script').length`); n != "incumbent play1" {
			t.Errorf("the page has %s", n)
		}
		if refused := p.forgive("status of 400"); refused != 1 {
			t.Errorf("%.60s was refused %d times", c.link, refused)
		}
	}
	p.goes("1;latch;usual;3;9@20")
	p.pressed("f")
	p.waits(`document.querySelectorAll('#deeds li').length === 1`)
	p.quiet(address)
}

// The world runs by a key, step by step and by its slider. Times are noted only.
func TestRunning(t *testing.T) {
	if !shows(t) {
		return
	}
	browser, address := chromium(t), playServer(t)
	p := playing(t, browser, address, "1;latch;usual;3;7~8.5:freeze:alice:9@20")
	const now = `Number(document.querySelector('#scrub').value)`
	p.does(`document.querySelector('#speed').value = '20'`)
	p.scrub(19)
	p.pressed(" ")
	p.waits(now + ` > 40000`)
	p.pressed(" ")
	p.waits(`document.querySelector('#run').textContent === '▶'`)
	if ahead := value[float64](p, `Number(document.querySelector('#scrub').max)`); ahead < 40000 || ahead > 600000 {
		t.Errorf("the world has been run to %g ms", ahead)
	}
	sameAsFromItsLink(t, browser, address, p)
	p.goes("1;latch;usual;3;7~8.5:freeze:alice:9@20")
	for _, key := range []string{"\u0303", "\u0303", "\u0303"} { // right
		before := value[float64](p, `Number(document.querySelector('#count').textContent)`)
		p.pressed(key)
		if after := value[float64](p, `Number(document.querySelector('#count').textContent)`); after < before+1 {
			t.Errorf("a step behind the end makes %g records of %g", after, before)
		}
	}
	p.scrub(8.5)
	p.pressed("\u0303")
	if at := value[float64](p, now); at <= 8500 || at > 10000 {
		t.Errorf("a step from 8.5 s leads to %g ms", at)
	}
	if frozen := p.text(`document.querySelector('#where').textContent`); frozen == "" {
		t.Error("nothing is selected")
	}
	took := value[[]float64](p, `Array.from({ length: 60 }, (_, i) => {
		const began = performance.now(), s = document.querySelector('#scrub');
		s.value = 20000 * i / 60;
		s.dispatchEvent(new Event('input'));
		return performance.now() - began;
	}).sort((a, b) => a - b)`)
	t.Logf("usable after %s; moving the cursor takes %.1f ms, %.1f ms at p95", p.text(`document.body.dataset.ready`),
		took[30], took[56])
	p.quiet(address)
}

// sameAsFromItsLink checks that a page that got its world in parts shows what another gets at once from the link.
func sameAsFromItsLink(t *testing.T, browser context.Context, address string, p *tab) {
	t.Helper()
	p.pressed("0") // everything
	again := playing(t, browser, address, p.link())
	for _, shown := range []string{`document.querySelector('#count').textContent`,
		`document.querySelector('#below').outerHTML`, `document.querySelector('#story').textContent`} {
		if a, b := p.text(shown), again.text(shown); a != b || a == "" {
			t.Errorf("%s is another one when %s is opened: %d and %d bytes", shown, p.link(), len(a), len(b))
		}
	}
	again.quiet(address)
}
