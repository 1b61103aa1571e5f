package browser

import (
	"slices"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/internal/play"
	"github.com/incumbent-go/incumbent/test/kit/selection"
)

// Each lesson opens from its link, says its two sentences, and shows what it is about: what breaks is lit with a
// planted bug, and nothing is without one.
func TestLessons(t *testing.T) {
	if !shows(t) {
		return
	}
	browser, address := chromium(t), playServer(t)
	all := *shots != "" || selection.Full(t, "those with a planted bug, and their counterparts, of the lessons")
	for _, l := range play.Lessons() {
		if !all && l.Counterpart == "" {
			continue
		}
		p := playing(t, browser, address, l.Link)
		if said := p.text(`document.querySelector('#lesson-title').textContent + ': ' + ` +
			`document.querySelector('#lesson-says').textContent`); said != l.Title+": "+strings.Join(l.Says, " ") {
			t.Errorf("%s says %q", l.ID, said)
		}
		if listed := value[int](p, `document.querySelectorAll('#lessons li').length`); listed != len(play.Lessons()) {
			t.Errorf("%d lessons are listed", listed)
		}
		if wide := value[int](p, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); wide >
			0 {
			t.Errorf("%s is %d pixels too wide", l.ID, wide)
		}
		bug := strings.Contains(l.Link, "bug=")
		broken, marks := value[int](p, `document.querySelectorAll('#promises .broken').length`),
			value[int](p, `document.querySelectorAll('#above path.breach').length`)
		if (broken > 0) != bug || (marks > 0) != bug {
			t.Errorf("%s: %d promises are lit as broken, %d marks", l.ID, broken, marks)
		}
		if ghosts := value[int](p, `document.querySelectorAll('#above .ghost').length`); (ghosts > 0) !=
			(l.Counterpart != "") {
			t.Errorf("%s has %d bars of its counterpart, %q", l.ID, ghosts, l.Counterpart)
		}
		if states := value[[]string](p, `[...document.querySelectorAll('#above text.state')].map(e => `+
			`e.textContent)`); l.ID == "herd" && (states[0] != "process gone" || states[1] != "has the right") {
			t.Errorf("at the end of the herd the states are %q", states)
		}
		if work := value[int](p, `document.querySelectorAll('#below rect.work').length`); l.ID == "forgotten-release" &&
			work == 0 {
			t.Error("work that is not released does not run on")
		}
		if *shots != "" {
			shot(t, p, "lesson-"+l.ID)
		}
		p.quiet(address)
	}
}

// A click on a lesson opens it, closes the list, and leads to the one with or without the bug.
func TestALessonIsChosen(t *testing.T) {
	if !shows(t) {
		return
	}
	address := playServer(t)
	p := open(t, chromium(t), address).shown()
	if open := value[bool](p, `document.querySelector('#lessons-box').open`); !open {
		t.Error("the list of lessons is closed, and no world was asked for")
	}
	if states := value[[]string](p, `[...document.querySelectorAll('#above text.state')].map(e => `+
		`e.textContent)`); !slices.Equal(states, []string{"has the right", "no right", "no right"}) {
		t.Errorf("at the end the states are %q", states)
	}
	p.does(`document.querySelector('[data-lesson=cut-off-follower] button').click()`)
	p.waits(`document.querySelector('#lesson-title').textContent === 'The cut-off follower'`)
	if open := value[bool](p, `document.querySelector('#lessons-box').open`); open {
		t.Error("the list of lessons is still open")
	}
	p.idle()
	p.does(`document.querySelector('#counterpart').click()`)
	p.waits(`document.querySelectorAll('#promises .broken').length > 0 && ` +
		`document.querySelector('#bug-note').textContent !== ''`)
	p.does(`history.back()`)
	p.waits(`document.querySelector('#lesson-title').textContent === 'The cut-off follower'`)
	p.quiet(address)
}

// A link that is opened is shown, also if the page writes its address before it hears of the link.
func TestAClickIsNotLost(t *testing.T) {
	if !shows(t) {
		return
	}
	address := playServer(t)
	p := playing(t, chromium(t), address, "1;latch;usual;3;20~10:isolate:b:15@30")
	p.does(`{ const before = location.hash; document.querySelector('#counterpart').click(); ` +
		`history.replaceState(null, '', before); }`)
	p.waits(`document.querySelectorAll('#promises .broken').length > 0 && ` +
		`document.querySelector('#bug-note').textContent !== ''`)
	p.quiet(address)
}
