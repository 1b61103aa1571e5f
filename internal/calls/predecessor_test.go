package calls

import (
	"fmt"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/events"
)

// The predecessor's data and the notice about it may come in either order; data of an earlier predecessor are not taken
// for the present one's.
func TestPredecessorInEitherOrder(t *testing.T) {
	notice := func(request uint64) events.Notify {
		return events.Notify{What: events.Waiting, Behind: fmt.Sprintf("/line/n-%d", request), Ahead: 1, Work: request}
	}
	for name, order := range map[string]func(*Predecessor){
		"the notice first": func(p *Predecessor) { p.Ahead(notice(7)); p.Read(7, []byte("a"), 5) },
		"the data first":   func(p *Predecessor) { p.Read(7, []byte("a"), 5); p.Ahead(notice(7)) },
		"an earlier reply in between": func(p *Predecessor) {
			p.Ahead(notice(7))
			p.Read(7, []byte("a"), 5)
			p.Read(6, []byte("b"), 4)
		},
	} {
		var p Predecessor
		order(&p)
		if got := p.Words(false); got != `waiting behind "a" (token 5)` {
			t.Errorf("%s: %s", name, got)
		}
		p.Ahead(notice(9))
		if got := p.Words(false); got != `waiting behind the node "n-9"` {
			t.Errorf("%s, then another predecessor: %s", name, got)
		}
	}
}

// Who waits learns how many are ahead, and of the data of the one before it no more than a name may have.
func TestPredecessorIsShort(t *testing.T) {
	name := strings.Repeat("x", events.MaxName)
	for ahead, more := range map[int]string{1: "", 2: " and 1 more", 3: " and 2 more"} {
		for data, shown := range map[string]string{
			name: `"` + name + `"`, name + "x": events.Quote(name+"x", events.MaxName)} {
			var p Predecessor
			p.Ahead(events.Notify{Behind: "/line/n-7", Ahead: ahead, Work: 7})
			p.Read(7, []byte(data), 5)
			if got, want := p.Words(false), "waiting behind "+shown+" (token 5)"+more; got != want {
				t.Errorf("%d ahead: %s, want %s", ahead, got, want)
			}
		}
	}
}
