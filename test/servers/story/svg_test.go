package story

import (
	"strings"
	"testing"
	"time"
)

// The picture says which lane is good: never two, and for how long nobody led; and which is bad.
func TestThePictureNamesTheGoodLane(t *testing.T) {
	s := func(from, to float64) []span {
		at := func(v float64) time.Duration { return time.Duration(v * float64(time.Second)) }
		return []span{{from: at(from), fromBy: at(from), to: at(to), toBy: at(to)}}
	}
	all := []outcome{
		{scenario: "cut-off follower", kind: "incumbent", timeout: 4 * time.Second, a: s(0, 1), b: s(4, 10)},
		{scenario: "cut-off follower", kind: "zk.Lock", timeout: 4 * time.Second, a: s(0, 9), b: s(4, 10)},
	}
	picture := svg(all, "incumbent", "zk.Lock")
	for _, want := range []string{">Cut-off follower, session timeout 4 s<",
		`class="good" text-anchor="end">✓ incumbent<`,
		`class="bad" text-anchor="end">✕ zk.Lock<`, ">nobody for 3.0 s<", ">5.0 s<", "prefers-color-scheme:dark"} {
		if !strings.Contains(picture, want) {
			t.Errorf("the picture does not have %s", want)
		}
	}
	if n := strings.Count(picture, "nobody for"); n != 1 {
		t.Errorf("the picture says %d times that nobody led, want 1", n)
	}
}
