package wire

import (
	"flag"
	"strconv"
	"testing"

	"github.com/incumbent-go/incumbent/test/kit/selection"
)

var (
	seed   = flag.Int64("seed", 0, "play this world alone, from 1 on, and print its story")
	first  = flag.Int64("first", 1, "the seed of the first world")
	login  = flag.Bool("login", false, "play the world of -seed where the server demands a login")
	worlds = flag.Int64("worlds", 0, "how many worlds to play, if not as many as test/kit/selection says")
)

// TestWorlds plays seeded worlds with real clients.
func TestWorlds(t *testing.T) {
	switch alone := given("seed"); {
	case alone && *seed < 1:
		t.Fatalf("-seed %d: the first world is 1", *seed)
	case *first < 1 || *worlds < 0:
		t.Fatalf("-first %d -worlds %d: the first world is 1, and none is before it", *first, *worlds)
	case alone && *login:
		playPlan(t, newPlan(uint64(*seed)).loggingIn(), true)
		return
	case alone:
		play(t, uint64(*seed), true)
		return
	}
	n := *worlds
	if n == 0 {
		n = selection.Of(t, "worlds", int64(8), 12, 60)
	}
	for seed := *first; seed < *first+n; seed++ {
		t.Run(strconv.FormatInt(seed, 10), func(t *testing.T) {
			t.Parallel()
			play(t, uint64(seed), false)
		})
	}
}

// TestWorldsThatLogIn plays the same worlds where the server demands a login, which the storm cuts, delays and refuses.
func TestWorldsThatLogIn(t *testing.T) {
	for seed := range selection.Of(t, "worlds", int64(3), 4, 20) {
		t.Run(strconv.FormatInt(seed+1, 10), func(t *testing.T) {
			t.Parallel()
			playPlan(t, newPlan(uint64(seed+1)).loggingIn(), false)
		})
	}
}

// given reports whether the command line has a flag.
func given(name string) (is bool) {
	flag.Visit(func(f *flag.Flag) { is = is || f.Name == name })
	return is
}
