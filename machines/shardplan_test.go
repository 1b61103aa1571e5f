package machines

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/repeat"
)

// plannedShares returns the members' shares by another way than the plan's: what a member cannot take is spread until
// nothing is left to spread.
func plannedShares(shards int, members []shardMember) []float64 {
	shares := make([]float64, len(members))
	for rest := float64(shards); rest > 1e-9; {
		weights := 0.0
		for i, m := range members {
			if shares[i] < float64(m.most)-1e-9 {
				weights += float64(m.weight)
			}
		}
		if weights == 0 {
			return shares
		}
		spread := rest
		for i, m := range members {
			if room := float64(m.most) - shares[i]; room > 1e-9 {
				part := min(room, spread*float64(m.weight)/weights)
				shares[i] += part
				rest -= part
			}
		}
	}
	return shares
}

// shardCounts returns how many shards each member owns.
func shardCounts(owners []shardOwner, members []shardMember) []int {
	counts := make([]int, len(members))
	for _, o := range owners {
		if i := slices.IndexFunc(members, func(m shardMember) bool { return m.node == o.node }); i >= 0 {
			counts[i]++
		}
	}
	return counts
}

func balanced(counts []int, shares []float64, members []shardMember) bool {
	for i, n := range counts {
		if math.Abs(float64(n)-shares[i]) > 1+1e-6 || n > members[i].most {
			return false
		}
	}
	return true
}

// liveMoves returns how many shards of members have another owner, or none.
func liveMoves(before, after []shardOwner, members []shardMember) (moves int) {
	for shard, o := range before {
		alive := slices.ContainsFunc(members, func(m shardMember) bool { return m.node == o.node })
		if alive && after[shard].node != o.node {
			moves++
		}
	}
	return moves
}

func shardIDs(members []shardMember) (ids []string) {
	for _, m := range members {
		ids = append(ids, m.id)
	}
	return ids
}

// randomMembers draws members: some with other weights, some that take few shards.
func randomMembers(random *rand.Rand, n, shards int) (members []shardMember) {
	for i := range n {
		m := shardMember{node: fmt.Sprintf("n%d", i), id: string('a' + rune(i)), weight: 1, most: shards}
		if random.IntN(3) == 0 {
			m.weight = 1 + random.IntN(5)
		}
		if random.IntN(4) == 0 {
			m.most = random.IntN(shards + 1)
		}
		members = append(members, m)
	}
	return members
}

func checkPlan(t *testing.T, before, after []shardOwner, members []shardMember, settled bool) {
	t.Helper()
	room, placed := 0, 0
	for _, m := range members {
		room += m.most
	}
	counts, shares := shardCounts(after, members), plannedShares(len(before), members)
	for i, n := range counts {
		placed += n
		if was := shardCounts(before, members)[i]; n > members[i].most && (settled || n > was) {
			t.Fatalf("%+v owns %d shards", members[i], n)
		}
	}
	if want := min(room, len(before)); placed < want && settled || placed > len(before) {
		t.Fatalf("%d of %d shards have an owner, and members take %d", placed, len(before), room)
	}
	if settled && !balanced(counts, shares, members) {
		t.Fatalf("members %+v have %d of %v shares", members, counts, shares)
	}
	for shard, o := range after {
		if o.node == "" && placed < min(room, len(before)) {
			t.Fatalf("shard %d waits although somebody may take it: %v of %+v", shard, counts, members)
		}
	}
	if moves := liveMoves(before, after, members); moves > 0 && !settled {
		t.Fatalf("%d shards move before the members have settled", moves)
	}
}

// A settled plan moves as few shards as any plan does that is balanced: all of them are tried.
func TestAPlanMovesAsFewShardsAsCanBe(t *testing.T) {
	random := rand.New(rand.NewPCG(repeat.Seed(t, 1), 45))
	for range 3000 {
		shards := 1 + random.IntN(5)
		members := randomMembers(random, 1+random.IntN(4), shards)
		before := make([]shardOwner, shards)
		for i := range before {
			if n := random.IntN(len(members) + 2); n < len(members) {
				before[i] = shardOwner{node: members[n].node, home: members[random.IntN(len(members))].id}
			}
		}
		after := planShards(before, members, shardIDs(members), true)
		checkPlan(t, before, after, members, true)
		if got, want := liveMoves(before, after, members), fewestMoves(before, members); got != want {
			t.Fatalf("%d moves, want %d: %v of %+v became %v", got, want, before, members, after)
		}
		if again := planShards(after, members, shardIDs(members), true); !slices.Equal(again, after) {
			t.Fatalf("a plan that is made again says something else: %v, %v", after, again)
		}
	}
}

// fewestMoves tries every plan.
func fewestMoves(before []shardOwner, members []shardMember) int {
	shares := plannedShares(len(before), members)
	room := 0
	for _, m := range members {
		room += m.most
	}
	fewest, after := math.MaxInt, make([]shardOwner, len(before))
	var try func(shard, unplaced int)
	try = func(shard, unplaced int) {
		if shard < len(before) {
			for _, m := range members {
				after[shard] = shardOwner{node: m.node}
				try(shard+1, unplaced)
			}
			if unplaced > 0 {
				after[shard] = shardOwner{}
				try(shard+1, unplaced-1)
			}
			return
		}
		if unplaced == 0 && balanced(shardCounts(after, members), shares, members) {
			fewest = min(fewest, liveMoves(before, after, members))
		}
	}
	try(0, max(0, len(before)-room))
	return fewest
}

// Members come, go, and settle at random: each plan keeps what a plan promises.
func TestRandomHistoriesOfMembers(t *testing.T) {
	random := rand.New(rand.NewPCG(repeat.Seed(t, 1), 46))
	for range 2000 {
		shards := 1 + random.IntN(64)
		all := randomMembers(random, 1+random.IntN(8), shards)
		owners := make([]shardOwner, shards)
		up := map[string]bool{}
		for range 12 {
			one := &all[random.IntN(len(all))]
			up[one.id] = !up[one.id]
			one.node += "'" // it is another session's
			members := slices.DeleteFunc(slices.Clone(all), func(m shardMember) bool { return !up[m.id] })
			for _, settled := range []bool{false, random.IntN(2) == 0} {
				next := planShards(owners, members, shardIDs(members), settled)
				checkPlan(t, owners, next, members, settled)
				owners = next
			}
		}
	}
}

// Members are restarted one after the other, in any order. Whatever their weights, each shard moves twice at most, if
// no restart lasts until the members have settled. Whether they settle between two restarts does not matter.
func TestARollingRestartMovesEachShardTwice(t *testing.T) {
	random := rand.New(rand.NewPCG(repeat.Seed(t, 1), 47))
	for round := range 2000 {
		shards := 1 + random.IntN(200)
		members := randomMembers(random, 2+random.IntN(9), shards)
		for i := range members {
			members[i].most = shards
		}
		ids := shardIDs(members)
		owners := planShards(make([]shardOwner, shards), members, ids, true)
		moves := make([]int, shards)
		step := func(members []shardMember, settled bool) {
			next := planShards(owners, members, shardIDs(members), settled)
			for shard := range next {
				if next[shard].node != owners[shard].node {
					moves[shard]++
				}
			}
			owners = next
		}
		for _, i := range random.Perm(len(members)) {
			rest := slices.Delete(slices.Clone(members), i, i+1)
			step(rest, false)
			members[i].node += "'"
			step(members, false)
			step(members, round%3 == 0 || round%3 == 1 && random.IntN(2) == 0)
		}
		step(members, true)
		if most := slices.Max(moves); most > 2 {
			t.Fatalf("round %d: a shard of %d moved %d times among %+v", round, shards, most, members)
		}
	}
}

// A member that comes and goes without settling has no shards to lose after it has gone once.
func TestAMemberThatFlapsGetsNothingBack(t *testing.T) {
	members := []shardMember{{"n0", "a", 1, 90}, {"n1", "b", 1, 90}, {"n2", "c", 1, 90}}
	owners := planShards(make([]shardOwner, 90), members, shardIDs(members), true)
	for i := range 20 {
		without := planShards(owners, members[:2], []string{"a", "b"}, false)
		if i > 0 && !slices.Equal(without, owners) {
			t.Fatalf("round %d: shards moved", i)
		}
		members[2].node += "'"
		if owners = planShards(without, members, shardIDs(members), false); !slices.Equal(without, owners) {
			t.Fatalf("round %d: shards moved back", i)
		}
	}
	owners = planShards(owners, members, shardIDs(members), true)
	if counts := shardCounts(owners, members); !slices.Equal(counts, []int{30, 30, 30}) && counts[2] < 29 {
		t.Errorf("when it has settled, the counts are %v", counts)
	}
}

// What nobody may take has no owner, and gets one as soon as somebody may take it.
func TestWhatNobodyMayTakeWaits(t *testing.T) {
	few := []shardMember{{"n0", "a", 1, 2}, {"n1", "b", 1, 1}}
	owners := planShards(make([]shardOwner, 5), few, shardIDs(few), false)
	if counts := shardCounts(owners, few); !slices.Equal(counts, []int{2, 1}) {
		t.Fatalf("of five shards %v have an owner", counts)
	}
	few[1].most = 9
	for shard, o := range planShards(owners, few, shardIDs(few), false) {
		if o.node == "" {
			t.Errorf("shard %d waits", shard)
		}
	}
}

// An assignment that somebody else has written counts only if its number of shards is possible.
func TestPlansThatAreRefused(t *testing.T) {
	for text, ok := range map[string]bool{
		`{"shards":1}`: true, fmt.Sprintf(`{"shards":%d}`, MaxShards): true,
		`{"shards":0}`: false, `{"shards":-1}`: false,
		fmt.Sprintf(`{"shards":%d}`, MaxShards+1): false, `{}`: false, ``: false,
	} {
		if p, err := ParseShardPlan([]byte(text)); (err == nil) != ok {
			t.Errorf("%s: %+v, %v", text, p, err)
		}
	}
}

// After a write that came too late, everything that it depended on is read again.
func TestAPlanThatCameTooLateIsMadeAgain(t *testing.T) {
	w := &shards{}
	w.path, w.own = "/s", "/s/members/a"
	other := shardMemberName(someGUID)
	seen := map[jobLook]viewedNode{
		{ShardMembers(w.path), jobNames}: {names: []string{other}}, {w.member(other), jobData}: {},
		{ShardAssignment(w.path), jobData}: {}, {w.own, jobData}: {},
	}
	see(&w.view, seen)
	w.noteOutrun(events.Event{}, nil)
	for look := range seen {
		if w.view.at(look.path, look.of).valid {
			t.Errorf("%s still counts", look.path)
		}
	}
}
