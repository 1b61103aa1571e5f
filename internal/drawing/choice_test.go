package drawing

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/machines"
)

var (
	diamondOf = regexp.MustCompile(`<path class="state[^"]*" d="M(\d+) (\d+)L(\d+) (\d+)L(\d+) (\d+)L(\d+) (\d+)Z">`)
	arrowOf   = regexp.MustCompile(`<path class="arrow[^"]*" d="M(\d+) (\d+)[^"]*L(\d+) (\d+)" marker-end`)
)

// numbers are what a pattern's groups matched.
func numbers(t *testing.T, groups []string) (n [8]int) {
	t.Helper()
	for i, g := range groups[1:] {
		if _, err := fmt.Sscan(g, &n[i]); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// A choice is a diamond, and its arrows begin and end on the diamond's sides. All
// that it leads to is drawn.
func TestChoicesAreDiamonds(t *testing.T) {
	for _, r := range machines.Recipes() {
		d := r.Describe()
		var choices []engine.State
		for _, s := range d.States {
			if d.Choice(s.Name) {
				choices = append(choices, s.Name)
			}
		}
		picture := drawn(t, d)
		diamonds := diamondOf.FindAllStringSubmatch(picture, -1)
		if len(diamonds) != len(choices) {
			t.Errorf("%s: %d diamonds for the choices %v", d.Name, len(diamonds), choices)
		}
		m := size(laidOut(t, d), 88)
		for i, s := range choices {
			b, touching := m.boxes[s], 0
			n := numbers(t, diamonds[i])
			if n != [8]int{b.center(), b.y, b.right(), b.y + b.h/2, b.center(), b.bottom(), b.x, b.y + b.h/2} {
				t.Errorf("%s: the diamond %v is not in the box %v", d.Name, n, b)
			}
			for _, a := range arrowOf.FindAllStringSubmatch(picture, -1) {
				n := numbers(t, a)
				for _, end := range []point{{n[0], n[1]}, {n[2], n[3]}} {
					if end.x < b.x || end.x > b.right() || end.y < b.y || end.y > b.bottom() {
						continue
					}
					touching++
					if off := abs(end.x-b.center())*b.h + abs(end.y-b.y-b.h/2)*b.w - b.w*b.h/2; abs(off) > 2*(b.w+b.h) {
						t.Errorf("%s: an arrow ends at %v, which is not on the sides of the diamond in %v", d.Name, end,
							b)
					}
				}
			}
			if ways := waysOf(d, s); touching < ways {
				t.Errorf("%s: %d arrows touch the diamond, want the %d that leave it and more", d.Name, touching, ways)
			}
		}
	}
}

// waysOf is how many states a choice leads to.
func waysOf(d engine.Description, s engine.State) int {
	to := map[engine.State]bool{}
	for _, e := range d.Edges() {
		if e.From == s {
			to[e.To] = true
		}
	}
	return len(to)
}

func abs(n int) int { return max(n, -n) }
