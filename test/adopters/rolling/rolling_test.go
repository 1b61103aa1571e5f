package rolling

import (
	"testing"
	"time"
)

// turn is one from a second to another.
func turn(side, id string, from, to int64) Turn {
	return Turn{Side: side, ID: id, From: time.Unix(from, 0), To: time.Unix(to, 0)}
}

func TestOverlaps(t *testing.T) {
	for name, c := range map[string]struct {
		turns []Turn
		want  int
	}{
		"one after the other, in any order": {[]Turn{turn("b", "b-1", 3, 4), turn("a", "a-1", 1, 3)}, 0},
		"one begins too early":              {[]Turn{turn("a", "a-1", 1, 3), turn("b", "b-1", 2, 4)}, 1},
		"a long one, and one within it":     {[]Turn{turn("a", "a-1", 1, 9), turn("b", "b-1", 2, 3)}, 1},
		"three at once": {
			[]Turn{turn("a", "a-1", 1, 9), turn("b", "b-1", 2, 5), turn("b", "b-2", 4, 5)}, 3,
		},
		"the same side": {[]Turn{turn("a", "a-1", 1, 3), turn("a", "a-2", 2, 4)}, 1},
	} {
		if got := overlaps(c.turns); len(got) != c.want {
			t.Errorf("%s: %q, want %d", name, got, c.want)
		}
	}
}

func TestHandOvers(t *testing.T) {
	turns := []Turn{turn("a", "a-1", 5, 6), turn("a", "a-1", 1, 2), turn("b", "b-1", 3, 4), turn("b", "b-1", 7, 8)}
	if there, back := handOvers(turns, "a", "b"), handOvers(turns, "b", "a"); there != 2 || back != 1 {
		t.Errorf("%d there and %d back, want 2 and 1", there, back)
	}
}
