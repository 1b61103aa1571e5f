package browser

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/incumbent-go/incumbent/internal/page"
	"github.com/incumbent-go/incumbent/internal/why"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/test/kit/group"
)

// groupPage returns the page of a group's logs.
func groupPage(t *testing.T, members, shards int, until time.Duration, deaf bool, actions ...world.Action) []byte {
	t.Helper()
	logs, err := group.Play(members, shards, until, deaf, actions...)
	if err != nil {
		t.Fatal(err)
	}
	var all []*why.Log
	var rows []*page.Rows
	for _, l := range logs {
		rows = append(rows, page.Keep(l.Header, l, page.Whole))
		one, err := why.Read(l.Name, l.Header, rows[len(rows)-1])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	return html(t, why.Explain(all, nil, why.Options{OwnClocks: true}), rows)
}

// rowNames are those of the rows of shards.
const rowNames = `[...document.querySelectorAll('#lanes text.row-name')].map(e => e.firstChild.textContent).join(' ')`

// A page of 1,000 shards of ten members has rows for those with most to see. Keys show the others, and go from change
// to change; a click on an owner selects the record by which it owns the shard. No label is cut off, wide and narrow.
// Times are noted only.
func TestAThousandShards(t *testing.T) {
	if !shows(t) {
		return
	}
	b := groupPage(t, 10, 1000, 2*time.Minute, false,
		world.Action{At: int64(20 * time.Second), Do: world.Kill, Who: 3},
		world.Action{At: int64(50 * time.Second), Do: world.Start, Who: 9},
		world.Action{At: int64(80 * time.Second), Do: world.Freeze, Who: 1, For: 9 * time.Second})
	address := file(t, b)
	p := open(t, chromium(t), address, probe).shown()
	t.Logf("%d bytes, drawn after %s; a step to the change before takes %s", len(b),
		p.text(`document.body.dataset.ready`), paceOf(p, "["))
	if n := value[int](p, `document.querySelectorAll('#below *').length`); n > 3000 {
		t.Errorf("there are %d shapes, want 3000 at most", n)
	}
	if now := p.text(`document.querySelector('#lines .now').textContent`); now != "1000 of 1000 shards have an owner" {
		t.Errorf("the summary says %q", now)
	}
	most := strings.Fields(p.text(rowNames))
	if len(most) != 2*33 || most[0] != "1000" {
		t.Errorf("the rows are %q", most)
	}
	p.keys(".")
	if names := p.text(rowNames); !strings.HasPrefix(names, "1000 shards shard 0 shard 1 ") ||
		!strings.HasSuffix(names, " shard 31") {
		t.Errorf("after a step the rows are %q", names)
	}
	p.keys(",")
	if names := strings.Fields(p.text(rowNames)); !slices.Equal(names, most) {
		t.Errorf("after a step back the rows are %q", names)
	}
	p.does(`{ const e = document.querySelector('#shards'); e.value = '992'; e.dispatchEvent(new Event('change')); }`)
	if names := p.text(rowNames); !strings.HasSuffix(names, " shard 998 shard 999") {
		t.Errorf("of the last block the rows are %q", names)
	}
	p.does(`window.owner = [...document.querySelectorAll('#lanes rect.owner')].at(-1).dataset.key; ` +
		`document.querySelector('#lanes rect.owner[data-key="' + owner + '"]')` +
		`.dispatchEvent(new MouseEvent('click', { bubbles: true }))`)
	if got := p.text(selected); got != p.text(`window.owner`) {
		t.Errorf("a click on %s selects %s", p.text(`window.owner`), got)
	}
	before := p.text(selected)
	if p.keys("["); p.text(selected) == before {
		t.Error("the change before is not selected")
	}
	for _, wide := range []int64{390, 768, 1440} {
		if err := chromedp.Do(p.ctx, chromedp.EmulateViewport(wide, 900)); err != nil {
			t.Fatal(err)
		}
		p.waits(`document.querySelector('#lanes').getAttribute('viewBox').split(' ')[2] == ` +
			`document.querySelector('#lanes').clientWidth`)
		if found := p.text(clipped); found != "" {
			t.Errorf("%d pixels wide: %s", wide, found)
		}
		if *shots != "" {
			shot(t, p, "shards-"+strconv.FormatInt(wide, 10))
		}
	}
	p.quiet(address)
}

// Two owners of a shard are marked in its row and named in the headline, and the page opens there.
func TestTwoOwnersAreMarked(t *testing.T) {
	if !shows(t) {
		return
	}
	for _, deaf := range []bool{true, false} {
		b := groupPage(t, 4, 12, 40*time.Second, deaf, world.Action{At: int64(5 * time.Second), Do: world.Kill},
			world.Action{At: int64(20 * time.Second), Do: world.Start, Who: 3})
		address := file(t, b)
		p := open(t, chromium(t), address).shown()
		faults := value[[]string](p, `[...document.querySelectorAll('#lanes rect.fault')].map(e => e.textContent)`)
		if (len(faults) > 0) != deaf || deaf && !strings.Contains(faults[0], "had TWO OWNERS, ") {
			t.Errorf("with the bug %t the faults are %q", deaf, faults)
		}
		bad := value[bool](p, `document.querySelector('#verdict.bad') !== null && `+
			`document.querySelector('#lines .bad') !== null`)
		if bad != deaf {
			t.Errorf("with the bug %t the headline is a bad one: %t", deaf, bad)
		}
		if deaf && p.text(selected) != p.text(`document.querySelector('#lanes rect.fault').dataset.key`) {
			t.Errorf("%s is selected", p.text(selected))
		}
		p.quiet(address)
	}
}
