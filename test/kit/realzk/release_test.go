package realzk

import (
	"strings"
	"testing"
)

// A server of another release than the one that was asked for, or that says none, is an error.
func TestTheReleaseIsTheOneThatWasAskedFor(t *testing.T) {
	const answer = "Zookeeper version: 3.6.4-d65253dcf68e90, built on 12/18/2022\nMode: standalone\n"
	for _, c := range []struct {
		release         Release
		expected, fails string
		answer          string
	}{
		{Usual, "", "", answer},
		{Usual, "3.6.4", "", answer},
		{"3.6.4", "3.9.5", "", answer},
		{Usual, "3.9.5", "is ZooKeeper 3.6.4, want 3.9.5", answer},
		{Newest, "", "is ZooKeeper 3.6.4, want " + string(Newest), answer},
		{Usual, "", "does not say its release", "This ZooKeeper instance is not currently serving requests\n"},
	} {
		t.Setenv(Variable, c.expected)
		v, err := c.release.confirmed(c.answer)
		switch {
		case c.fails == "" && (err != nil || v != Version{3, 6, 4}):
			t.Errorf("%s, want %q: %s, %v", c.release, c.expected, v, err)
		case c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)):
			t.Errorf("%s, want %q: %v does not say %q", c.release, c.expected, err, c.fails)
		}
	}
	if v := (Version{3, 10, 0}); v.Before(Version{3, 9, 5}) || !v.Before(Version{3, 10, 1}) || v.Before(v) {
		t.Error("the order is wrong")
	}
}

// Each meets what it names, and the test's output says so.
func TestEachReleaseIsMet(t *testing.T) {
	var seen []string
	Each(t, func(t *testing.T, r Release) {
		addr, path := r.Shared(t)
		if path == "" || r == Newest && r.At(t, addr).String() != string(Newest) {
			t.Error(addr, path)
		}
		seen = append(seen, addr)
	})
	if len(seen) == 2 && seen[0] == seen[1] {
		t.Error("they are one server")
	}
	if got := Met("    release.go:1: " + met + "3.9.5\n"); got != "3.9.5" || Met("    x.go:1: other") != "" {
		t.Errorf("met %q", got)
	}
}
