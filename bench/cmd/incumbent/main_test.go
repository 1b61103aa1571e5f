package main

import (
	"errors"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/bench/peer"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

func TestEveryRecipePlays(t *testing.T) {
	server := zkmem.Start(t)
	stage, err := peer.NewStage(func() (peer.Session, error) { return open([]string{server.Addr()}, 10*time.Second) })
	if err != nil {
		t.Fatal(err)
	}
	defer stage.Close()
	play := func(scenario, recipe string) {
		t.Helper()
		run, err := stage.Prepare(peer.Command{Do: peer.Prepare, Scenario: scenario, Recipe: recipe,
			Path: "/" + scenario + "-" + recipe, N: 3})
		if err != nil {
			t.Fatalf("%s, %s: %v", scenario, recipe, err)
		}
		samples, err := run.Go()
		if err != nil || len(samples) == 0 {
			t.Errorf("%s, %s: %v, %v", scenario, recipe, samples, err)
		}
		if err := run.Clean(); err != nil {
			t.Errorf("%s, %s: %v", scenario, recipe, err)
		}
	}
	for _, recipe := range []string{"latch", "selector", "mutex", "semaphore", "read", "write", "barrier"} {
		play(peer.Cycle, recipe)
	}
	for _, scenario := range []string{peer.HandOver, peer.Line, peer.LineOwn, peer.Fresh, peer.Existing, peer.Release,
		peer.Clients} {
		play(scenario, "latch")
		play(scenario, "mutex")
	}
	var unsupported *peer.UnsupportedError
	c := peer.Command{Do: peer.Prepare, Scenario: peer.Cycle, Recipe: "lock", Path: "/x", N: 1}
	if _, err := stage.Prepare(c); !errors.As(err, &unsupported) {
		t.Errorf("a recipe that is not there: %v", err)
	}
}
