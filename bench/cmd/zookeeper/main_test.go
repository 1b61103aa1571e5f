package main

import (
	"errors"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/bench/peer"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// Both recipes let the second of two wait until the first one's node is deleted.
func TestTheSecondWaitsForTheFirst(t *testing.T) {
	server := zkmem.Start(t)
	stage, err := peer.NewStage(func() (peer.Session, error) { return open([]string{server.Addr()}, 10*time.Second) })
	if err != nil {
		t.Fatal(err)
	}
	defer stage.Close()
	for _, recipe := range []string{"floor", "lock"} {
		for i, scenario := range []string{peer.Cycle, peer.HandOver, peer.Line, peer.LineOwn, peer.Fresh} {
			run, err := stage.Prepare(peer.Command{Do: peer.Prepare, Scenario: scenario, Recipe: recipe,
				Path: "/" + recipe + string(rune('a'+i)), N: 3})
			if err != nil {
				t.Fatalf("%s, %s: %v", recipe, scenario, err)
			}
			samples, err := run.Go()
			if err != nil || len(samples) == 0 {
				t.Errorf("%s, %s: %v, %v", recipe, scenario, samples, err)
			}
			if err := run.Clean(); err != nil {
				t.Errorf("%s, %s: %v", recipe, scenario, err)
			}
		}
	}
	var unsupported *peer.UnsupportedError
	c := peer.Command{Do: peer.Prepare, Scenario: peer.Cycle, Recipe: "latch", Path: "/x", N: 1}
	if _, err := stage.Prepare(c); !errors.As(err, &unsupported) {
		t.Errorf("a recipe that is not there: %v", err)
	}
}

func TestThePredecessorIsTheOneBefore(t *testing.T) {
	line := []string{"n-0000000009", "n-0000000002", "n-0000000010"}
	for own, want := range map[string]string{"n-0000000002": "", "n-0000000009": "n-0000000002",
		"n-0000000010": "n-0000000009"} {
		if got, err := predecessor(line, own); err != nil || got != want {
			t.Errorf("before %s is %q, %v", own, got, err)
		}
	}
	if _, err := predecessor(line, "n-0000000003"); err == nil {
		t.Error("a node that is not in its line has a predecessor")
	}
}
