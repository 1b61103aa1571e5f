package browser

import (
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/play"
	"github.com/incumbent-go/incumbent/test/selection"
)

// Each lesson opens from its link, says its two sentences, and shows what it is about: what breaks is lit with a planted bug,
// and nothing is without one.
func TestLessons(t *testing.T) {
	browser, address := chromium(t), playServer(t)
	all := *shots != "" || selection.Full(t, "those with a planted bug, and their counterparts, of the lessons")
	for _, l := range play.Lessons() {
		if !all && l.Counterpart == "" {
			continue
		}
		p := playing(t, browser, address, l.Link)
		if said := p.text(`document.querySelector('#lesson-title').textContent + ': ' + document.querySelector('#lesson-says').textContent`); said != l.Title+": "+strings.Join(l.Says, " ") {
			t.Errorf("%s says %q", l.ID, said)
		}
		if listed := value[int](p, `document.querySelectorAll('#lessons li').length`); listed != len(play.Lessons()) {
			t.Errorf("%d lessons are listed", listed)
		}
		bug := strings.Contains(l.Link, "bug=")
		broken, marks := value[int](p, `document.querySelectorAll('#promises .broken').length`), value[int](p, `document.querySelectorAll('#above path.breach').length`)
		if (broken > 0) != bug || (marks > 0) != bug {
			t.Errorf("%s: %d promises are lit as broken, %d marks", l.ID, broken, marks)
		}
		if ghosts := value[int](p, `document.querySelectorAll('#above .ghost').length`); (ghosts > 0) != (l.Counterpart != "") {
			t.Errorf("%s has %d bars of its counterpart, %q", l.ID, ghosts, l.Counterpart)
		}
		if *shots != "" {
			shot(t, p, "lesson-"+l.ID)
		}
		p.quiet(address)
	}
}
