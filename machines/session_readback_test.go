package machines

import (
	"fmt"
	"testing"
)

// A path that was removed takes no room: another one fits in its place, and nothing older goes for it.
func TestAPathThatIsRemovedTakesNoRoom(t *testing.T) {
	var d pathSet
	for i := range maxReadBack {
		d.add(fmt.Sprint("/", i))
	}
	d.remove("/1")
	d.add("/1") // it is the newest now
	d.remove("/2")
	d.add("/new")
	d.add("/new")
	if got, want := d.String(), "/0 true, /1 true, /2 false, /3 true, 1024 known, 1024 with an age"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	d.add("/newer")
	if got, want := d.String(), "/0 false, /1 true, /2 false, /3 true, 1024 known, 1024 with an age"; got != want {
		t.Errorf("%s, want %s: the oldest goes", got, want)
	}
}

func (d *pathSet) String() (text string) {
	for i := range 4 {
		text += fmt.Sprintf("/%d %t, ", i, d.known[fmt.Sprint("/", i)])
	}
	return text + fmt.Sprintf("%d known, %d with an age", len(d.known), len(d.oldest))
}
