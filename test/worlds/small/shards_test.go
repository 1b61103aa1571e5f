package small

import (
	"io"
	"os"
	"testing"

	"github.com/incumbent-go/incumbent/test/kit/selection"
)

// shardsEveryTime are the worlds of members that own shards that make prove does; every test run does the first two: a
// shard moves to a member that joins, and the assignment is deleted. In the last one an owner's session ends.
var shardsEveryTime = []Config{
	{Participants: 2, Shards: 2, Settled: true},
	{Participants: 2, Shards: 2, Settled: true, Faults: 1, Kinds: []string{unassign}, Depth: 55},
	{Participants: 2, Shards: 1, Settled: true, Faults: 1, Kinds: []string{"kill"}},
}

// shardsAtLeisure are those of make small.
var shardsAtLeisure = []Config{
	{Participants: 1, Shards: 2, Settled: true, Faults: 1},
	{Participants: 2, Shards: 1, Settled: true, Faults: 1},
	{Participants: 2, Shards: 1, Settled: true, Faults: 1, RideOut: true},
	{Participants: 2, Shards: 2, Settled: true, Faults: 1, Kinds: []string{"kill"}},
	{Participants: 2, Shards: 2, Settled: true, Faults: 1, Kinds: []string{"delete", unassign}},
	{Participants: 2, Shards: 2, Settled: true, Faults: 1, Kinds: []string{"cut"}},
	{Participants: 3, Shards: 2, Settled: true},
}

// TestWorldsOfShards: no shard has two owners, none moves under its work, and every fair run without faults reaches a
// state in which each has an owner.
func TestWorldsOfShards(t *testing.T) {
	worlds, progress := shardsAtLeisure, io.Writer(os.Stderr)
	if !*full {
		worlds, progress = shardsEveryTime[:selection.Of(t, "small worlds of shards", 1, 1, len(shardsEveryTime))], nil
	}
	searchAll(t, worlds, progress)
}

// TestShardPlants: every bug planted in members that own shards is found.
func TestShardPlants(t *testing.T) {
	for _, p := range ShardPlants {
		mustFind(t, Config{Participants: 2, Shards: 2, Settled: true, Plant: &p, Kinds: p.Kinds})
	}
}
