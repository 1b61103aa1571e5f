package sim

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/test/worlds/restored"
)

// TestCheckpoints takes checkpoints at random places of each client's log in many worlds:
// the engine that is restored from what was written of them goes on in the same way.
func TestCheckpoints(t *testing.T) {
	n := howMany(t, "worlds", 20, 30, 160)
	var next, taken, records atomic.Int64
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for i := next.Add(1) - 1; i < n; i = next.Add(1) - 1 {
				seed := *first + i
				for client, log := range Run(seed, Options{Keep: true}).Logs {
					d := rand.New(rand.NewPCG(uint64(seed), uint64(client)))
					places := []uint64{}
					for range min(3, len(log)) {
						places = append(places, 1+d.Uint64N(uint64(len(log))))
					}
					slices.Sort(places)
					of, err := restored.Play(log, places, machines.Recipes()...)
					if err != nil {
						t.Errorf("seed %d, client %d, checkpoints after %d: %v", seed, client, places, err)
					}
					taken.Add(int64(of))
					records.Add(int64(len(log)))
				}
			}
		})
	}
	all.Wait()
	t.Logf("%d worlds, %d records, %d checkpoints", n, records.Load(), taken.Load())
	if taken.Load() < n {
		t.Error("there are more worlds than checkpoints")
	}
}
